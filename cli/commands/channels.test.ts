import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXOTEL, EXOTEL_VOICE, TWILIO, WHATSAPP } from '../../test/support/provider.ts'
import { createDeployment } from '../../test/support/server.ts'

test('channels can be set up, listed without secrets, and removed', async (t) => {
  const { cli, json, serve } = await createDeployment(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme')
  const setChannel = (channel: string, data: object) =>
    cli('--json', 'channels', 'set', '--org', org.org_id, '--channel', channel, '--data', JSON.stringify(data))
  const setUp = await setChannel('whatsapp', { ...WHATSAPP, per_second: 2.5 })
  assert.equal(setUp.code, 0, setUp.stderr)
  const { channel_id, webhooks } = JSON.parse(setUp.stdout)
  assert.match(channel_id, /^CH_[0-9A-Z]{26}$/)
  assert.match(webhooks[0], new RegExp(`/hooks/whatsapp/${channel_id}$`))
  const challenge = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.challenge': '42',
    'hub.verify_token': WHATSAPP.verify_token,
  })
  const response = await fetch(`${server.url}/hooks/whatsapp/${channel_id}?${challenge}`)
  assert.equal(await response.text(), '42', 'takes effect immediately')

  const rejected = await setChannel('voice', { ...TWILIO, from: '+14155550100', base_url: 'http://169.254.169.254' })
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /base_url: must be an https URL/)

  const channelList = await cli('--json', 'channels', 'list')
  const [account] = JSON.parse(channelList.stdout)
  assert.deepEqual([account.channel, account.per_second, account.settings.access_token], ['whatsapp', 2.5, '(set)'])
  const output = [setUp, rejected, channelList].map(({ stdout, stderr }) => stdout + stderr).join()
  for (const secret of [WHATSAPP.access_token, WHATSAPP.app_secret, WHATSAPP.verify_token, TWILIO.auth_token])
    assert.ok(!output.includes(secret), secret)

  assert.equal((await cli('channels', 'remove', '--org', org.org_id, '--channel', 'whatsapp')).code, 0)
  assert.equal((await fetch(`${server.url}/hooks/whatsapp/${channel_id}?${challenge}`)).status, 404)
  const repeated = await cli('channels', 'remove', '--org', org.org_id, '--channel', 'whatsapp')
  assert.match(repeated.stderr, /ORG_\w+ has no whatsapp channel\./)
})

test('the DND check is set up, replaced and removed, and each change is recorded', async (t) => {
  const { cli, json } = await createDeployment(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme')
  const dndCheck = (...args: string[]) => cli('channels', 'dnd-check', ...args, '--org', org_id)
  const rejected = await dndCheck('set', '--url', 'http://dnd.example.com/check')
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /https/)
  const secrets: string[] = []
  for (const url of ['https://8.8.8.8/check', 'https://8.8.8.8/other']) {
    const { stdout, stderr } = await dndCheck('set', '--url', url)
    assert.match(stdout, new RegExp(`^URL +${url}$`, 'm'), stderr)
    secrets.push(/^Secret +(\S+) \(shown only once\)$/m.exec(stdout)![1]!)
  }
  assert.notEqual(secrets[0], secrets[1])
  assert.equal((await dndCheck('remove')).stdout, `Removed the DND check of ${org_id}.\n`)
  assert.match((await dndCheck('remove')).stderr, new RegExp(`${org_id} has no DND check`))
  const { stdout: auditLog } = await cli('audit', 'export')
  assert.deepEqual(auditLog.match(/"dnd-check\.\w+"/g), ['"dnd-check.set"', '"dnd-check.set"', '"dnd-check.remove"'])
  for (const secret of secrets) assert.ok(!auditLog.includes(secret))
})

test('channels check lists what would be refused in India, with the reason and what to do', async (t) => {
  const { cli, json } = await createDeployment(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme')
  const setUp = (channel: string, data: object) =>
    json('channels', 'set', '--org', org_id, '--channel', channel, '--data', JSON.stringify(data))
  const check = () => json('channels', 'check', '--org', org_id)
  assert.deepEqual(await check(), { org_id, contact_basis: null, channels: [], findings: [] })
  await setUp('sms', { ...TWILIO, from: '+14155550100' })
  await setUp('voice', { ...TWILIO, from: '+14155550100' })
  await setUp('whatsapp', WHATSAPP)
  const problems = (await check()).findings.map((finding: { channel: string; severity: string; problem: string }) => [
    finding.channel,
    finding.severity,
    finding.problem.slice(0, 40),
  ])
  assert.deepEqual(new Set(problems.map(([channel]: string[]) => channel)), new Set(['sms', 'voice', 'whatsapp']))
  assert.deepEqual(
    problems.filter(([channel]: string[]) => channel === 'sms'),
    [['sms', 'warning', 'SMS to India through Twilio are refused,']],
  )
  const { webhooks } = await setUp('sms', { ...EXOTEL, listed_hosts: ['example.org'] })
  assert.deepEqual(webhooks, [], 'Exotel gets the callback URL with each message')
  const calls = await setUp('voice', { ...EXOTEL_VOICE, from: '08012345678' })
  assert.deepEqual(
    calls.webhooks.map((url: string) => url.split('/').at(-2)),
    ['gather', 'passthru'],
  )
  const refusedCalls = (await check()).findings.find((finding: { channel: string }) => finding.channel === 'voice')
  assert.deepEqual(
    [refusedCalls.severity, refusedCalls.remedy],
    ['refused', 'Ask Exotel for a number of such a series and enter it as from.'],
  )
  await setUp('voice', { ...EXOTEL_VOICE, from: '+911600123456' })
  const warnings = (await check()).findings.filter((finding: { channel: string }) => finding.channel === 'voice')
  assert.ok(warnings.every(({ problem }: { problem: string }) => !problem.includes('numbering rules')))
  const text = await cli('channels', 'check', '--org', org_id)
  assert.equal(text.code, 0)
  assert.match(text.stdout, /No contact basis is declared/)
  assert.match(text.stdout, /sms +refused +(The host|PUBLIC_URL is not set)/)
  const list = await cli('--json', 'channels', 'list')
  assert.ok(!list.stdout.includes(EXOTEL.api_token) && !list.stdout.includes(EXOTEL.api_key))
  assert.equal((await cli('channels', 'check', '--org', 'ORG_unknown')).code, 1)
})
