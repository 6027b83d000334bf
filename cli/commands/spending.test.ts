import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('prices and the daily cap of an organisation are changed and shown', async (t) => {
  const { json, cli } = await createDeployment(t)
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const before = await json('spending', 'show', org_id)
  assert.deepEqual([before.mode, before.is_default, before.daily_cap, before.spent_today], ['live', true, null, 0])
  const prices = [{ channel: 'sms', calling_code: '91', category: null, price: 0.145 }]
  const table = { currency: 'INR', prices, exchange_rates: [] }
  const after = await json('spending', 'prices', org_id, '--data', JSON.stringify(table))
  assert.deepEqual([after.is_default, after.price_table], [false, table])
  assert.equal((await json('spending', 'daily-cap', org_id, '99.5')).daily_cap, 99.5)
  const shown = await cli('spending', 'show', org_id)
  assert.match(shown.stdout, /Daily cap +99\.5 INR/)
  assert.match(shown.stdout, /sms +\+91 +others +0\.145/)
  assert.equal((await json('spending', 'daily-cap', org_id, 'none')).daily_cap, null)
  assert.equal((await json('spending', 'prices', org_id, '--default')).is_default, true)
  const invalid = await cli('spending', 'prices', org_id, '--data', '{"currency":"INR"}')
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /prices/)
  assert.match((await cli('spending', 'prices', org_id, '--data', '{"currency":')).stderr, /--data is not valid JSON/)
  for (const options of [[], ['--default', '--data', JSON.stringify(table)]])
    assert.match((await cli('spending', 'prices', org_id, ...options)).stderr, /Use either --data JSON/)
  assert.match((await cli('spending', 'daily-cap', org_id, '-5')).stderr, /Expected an amount|unknown option/)
})
