import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { FastClock, reportWithKills } from '../support/ats/kill-run.ts'

// `npm run bench -- ats` does the same with 600 orders.
const ORDERS_PER_ATS = 4

test('every result is reported in order and charged once although the worker is killed and the systems misbehave', {
  timeout: 230_000,
}, async (t) => {
  const clock = new FastClock()
  const app = await startApp(t, { clock })
  const { setups, orders, kills, faults, replays, creditDifference } = await reportWithKills(t, app, {
    clock,
    ordersPerAts: ORDERS_PER_ATS,
    timeoutMs: 220_000,
  })
  for (const { ats, partner } of setups) {
    assert.deepEqual(ats.violations, [])
    assert.equal((await partner.get('/results')).body.data.items.length, ORDERS_PER_ATS)
  }
  assert.equal(creditDifference, 0)
  assert.ok(
    Object.values(faults).every((count) => count > 0),
    JSON.stringify(faults),
  )
  const reports = orders.reduce((sum, order) => sum + order.reports, 0)
  t.diagnostic(
    `${orders.length} orders, ${reports} accepted reports, ${kills} kills, ${replays} replays, faults ${JSON.stringify(faults)}`,
  )
})
