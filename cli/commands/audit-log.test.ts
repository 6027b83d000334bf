import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { ADMIN_KEY, cloneDatabase } from '../../test/support/app.ts'
import { WHATSAPP } from '../../test/support/provider.ts'
import { createDeployment } from '../../test/support/server.ts'

test('every changing command is audited with account and host, and audit verify names the first broken entry', async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  const { cli, json, env } = await createDeployment(t)
  Object.assign(env, {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    const { org_id } = await json('org', 'create', '--name', 'Acme')
    const data = JSON.stringify(WHATSAPP)
    const channel = ['--org', org_id, '--channel', 'whatsapp']
    assert.equal((await cli('channels', 'set', ...channel, '--data', data)).code, 0)
    assert.equal((await cli('channels', 'remove', ...channel)).code, 0)
    assert.equal((await cli('master-key', 'rotate')).code, 0)
    assert.equal((await cli('master-key', 'finish')).code, 0)
    assert.equal(
      (await cli('member', 'add', '--org', org_id, '--email', 'asha@example.com', '--role', 'owner')).code,
      0,
    )
    await cli('mail', 'list')
    const { key_id } = await json('key', 'create', '--org', org_id, '--mode', 'live')
    const changes = [
      ['key', 'limits', key_id, '--people-per-day', '5'],
      ['key', 'allow', key_id, '203.0.113.7'],
      ['key', 'rotate', key_id],
      ['org', 'limits', org_id, '--max-keys', '7'],
      ['credits', 'grant', '--org', org_id, '--mode', 'live', '--amount', '5'],
      ['operator', 'add', 'meera@example.com'],
    ]
    await Promise.all(changes.map(async (change) => assert.equal((await cli(...change)).code, 0, change.join(' '))))
    assert.equal((await cli('key', 'revoke', key_id)).code, 0)
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const exported = (await cli('audit', 'export', '--since', since)).stdout.trim().split('\n')
    const entries = exported.map((line) => JSON.parse(line))
    const actions = entries.map(({ action }) => action)
    assert.deepEqual(
      [...actions.slice(0, 8), ...actions.slice(8, 14).sort(), ...actions.slice(14)],
      [
        'org.create',
        'channel.set',
        'channel.remove',
        'master_key.rotate',
        'master_key.finish',
        'member.add',
        'email.list',
        'key.create',
        'credits.grant',
        'key.allow',
        'key.limits',
        'key.rotate',
        'operator.add',
        'org.limits',
        'key.revoke',
        'audit.export',
      ],
    )
    const allowEntry = entries.find(({ action }) => action === 'key.allow')
    assert.deepEqual([allowEntry.subject, allowEntry.details], [key_id, { allowed_addresses: ['203.0.113.7/32'] }])
    assert.ok(entries.every(({ personal }) => /^cli:.+@.+$/.test(personal.who.value)))

    assert.deepEqual(await json('audit', 'erase', 'asha@example.com'), { entries: 1 })
    const { head, entries: count, erased_values } = await json('audit', 'verify')
    assert.deepEqual([count, head.position, erased_values], [17, 17, 1])
    const wrongHead = await cli('audit', 'verify', '--head', `17:${'0'.repeat(64)}`)
    assert.equal(wrongHead.code, 1)
    assert.equal((await cli('audit', 'verify', '--head', `17:${head.hash}`)).code, 0)

    await client.query('alter table audit_log disable trigger all')
    await client.query(`update audit_log set action = 'channel.list' where audit_id = $1`, [entries[1].audit_id])
    const { code, stdout } = await cli('audit', 'verify')
    assert.equal(code, 1)
    assert.match(
      stdout,
      new RegExp(`First broken entry: position 2, ${entries[1].audit_id}: the entry or its hash was changed`),
    )
  } finally {
    await client.end()
    await drop()
  }
})

test('commands for privacy, spending, mail and the service are in the audit log with what they changed', async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  t.after(drop)
  const { cli, json, env } = await createDeployment(t)
  Object.assign(env, {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: ownerUrl,
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const { org_id } = await json('org', 'create', '--name', 'Acme')
  const { key_id } = await json('key', 'create', '--org', org_id, '--mode', 'live')
  const changes = [
    ['key', 'rename', key_id, 'Ashby'],
    ['privacy', 'settings', org_id, '--link-days', '7'],
    ['privacy', 'hold', org_id, '--reason', 'Lawsuit 12/2026'],
    ['privacy', 'retention', 'set', '--org', org_id, 'mails=90'],
    ['privacy', 'retention', 'bounds', '--class', 'contact_data', '--min-days', '60', '--max-days', '400'],
    ['spending', 'daily-cap', org_id, '99.5'],
    ['mail', 'suppress', 'gone@example.com'],
    ['service', 'off', '--org', org_id, '--reason', 'Unpaid invoice'],
  ]
  await Promise.all(
    changes.map(async (change) => {
      const { code, stderr } = await cli(...change)
      assert.equal(code, 0, `${change.join(' ')}: ${stderr}`)
    }),
  )
  const exported = (await cli('audit', 'export')).stdout.trim().split('\n')
  const entries = exported.map((line) => JSON.parse(line))
  const subjects = new Map(entries.map(({ action, subject }) => [action, subject]))
  for (const [action, subject] of [
    ['key.rename', key_id],
    ['privacy.settings', org_id],
    ['privacy.hold', org_id],
    ['privacy.retention', org_id],
    ['retention.bounds', 'contact_data'],
    ['spending.change', org_id],
    ['service.off', org_id],
  ])
    assert.equal(subjects.get(action), subject, action)
  assert.ok(subjects.has('mail.suppress'))
})
