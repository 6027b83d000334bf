import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('keys can be limited per organisation, by address and by age, and have the preset ci', async (t) => {
  const { json, cli, env } = await createDeployment(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme')
  const create = (...options: string[]) => cli('key', 'create', '--org', org_id, ...options)

  const key = await json('key', 'create', '--org', org_id, '--mode', 'test', '--limits', 'ci')
  const { limits, overrides } = await json('key', 'limits', key.key_id)
  assert.deepEqual(limits.classes.campaignWrites, { per_second: 2, burst: 5, per_minute: 30, per_day: 500 })
  assert.equal(limits.skills_per_day, 15_000)
  assert.deepEqual(overrides, { preset: 'ci' })
  assert.equal((await json('key', 'limits', key.key_id, '--reset')).limits.skills_per_day, 1500)
  assert.equal((await json('key', 'limits', key.key_id, '--preset', 'ci')).limits.skills_per_day, 15_000)
  assert.match((await create('--mode', 'live', '--limits', 'ci')).stderr, /The preset ci is for TEST keys/)

  const ranges = ['203.0.113.7/32', '2001:db8::/48']
  const allowed = await json('key', 'allow', key.key_id, '203.0.113.7', '2001:db8::/48')
  assert.deepEqual(allowed.allowed_addresses, ranges)
  const rejected = await cli('key', 'allow', key.key_id, '10.1.2.3/8')
  assert.equal(rejected.code, 1)
  assert.match(
    rejected.stderr,
    /Invalid address range: 10\.1\.2\.3\/8 has bits after its prefix; did you mean 10\.0\.0\.0\/8/,
  )
  const [listed] = await json('key', 'list', '--org', org_id)
  assert.deepEqual([listed.allowed_addresses, listed.last_used_at], [ranges, null])
  assert.equal((await json('key', 'allow', key.key_id, '--any')).allowed_addresses, null)

  const named = await json('key', 'create', '--org', org_id, '--mode', 'live', '--name', ' Greenhouse production')
  assert.equal(named.name, 'Greenhouse production')
  assert.deepEqual(await json('key', 'rename', named.key_id, 'Ashby'), { key_id: named.key_id, name: 'Ashby' })
  const listedNames = (await json('key', 'list', '--org', org_id)).map(({ name }: any) => name)
  assert.deepEqual(listedNames, [null, 'Ashby'])
  assert.equal((await json('key', 'rename', named.key_id, '--remove')).name, null)
  assert.match((await cli('key', 'rename', named.key_id)).stderr, /Give either a name or --remove/)
  assert.match(
    (await cli('key', 'rename', named.key_id, 'x'.repeat(81))).stderr,
    /must have 1 to 80 visible characters/,
  )
  assert.match((await cli('key', 'rename', 'VFN_LIVE_NONE', 'Ashby')).stderr, /Key VFN_LIVE_NONE not found/)

  assert.deepEqual(await json('org', 'limits', org_id), { org_id, max_keys: 100, limit_factor: 10 })
  assert.equal((await json('org', 'limits', org_id, '--max-keys', '1')).max_keys, 1)
  assert.match((await create('--mode', 'test')).stderr, /has 1 active TEST partner keys; the limit is 1/)
  env.KEY_MAX_DAYS = '30'
  assert.match((await create('--mode', 'live')).stderr, /expires_at must be set, and be at most 30 days ahead/)
})
