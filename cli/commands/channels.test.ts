import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TWILIO, WHATSAPP } from '../../test/support/provider.ts'
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
})
