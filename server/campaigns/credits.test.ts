import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { aCandidate, campaigner } from '../../test/support/campaigns.ts'
import { balanceOf, giveFirstCredits, grantCredits, listEntries, refundCredit } from './credits.ts'

test('a hundred enrolments at once never spend more than there is', async (t) => {
  const app = await startApp(t)
  const { get, enrol, campaign, mandate, scope } = await campaigner(app, { credits: 60, peoplePerDay: 1000 })
  const { mandate_id } = await mandate()
  const campaigns = await Promise.all(Array.from({ length: 4 }, () => campaign(mandate_id)))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      enrol(campaigns[at % 4].campaign.campaign_id, [aCandidate(2 * at), aCandidate(2 * at + 1)]),
    ),
  )
  const accepted = answers.filter(({ status }) => status === 202)
  assert.equal(accepted.length, 30)
  assert.ok(answers.every(({ status }) => status === 202 || status === 402))
  assert.equal((await get('/credits')).body.data.balance, 0)
  const entries = await listEntries(app.context.db.queries, scope, { before: undefined, limit: 100 })
  assert.equal(entries.length, 31)
  let balance = 0
  for (const { amount, balance_after } of entries.reverse()) {
    balance += amount
    assert.equal(balance_after, balance)
  }
  const { rows } = await sql`select 1 from candidates where org_id = ${scope.orgId}`.execute(app.context.db.queries)
  assert.equal(rows.length, 60)
})

test('the ledger', async (t) => {
  const { context, clock, given } = await startApp(t)
  const { orgId } = await given.org()
  const { db } = context

  await t.test('test and live are apart', async () => {
    await db.transaction((tx) => grantCredits(tx, { orgId, mode: 'live' }, clock, 5))
    assert.equal(await balanceOf(db.queries, { orgId, mode: 'live' }), 5)
    assert.equal(await balanceOf(db.queries, { orgId, mode: 'test' }), 0)
  })

  await t.test('an organisation that nobody knows gets nothing', async () => {
    await assert.rejects(
      db.transaction((tx) => grantCredits(tx, { orgId: 'ORG_X', mode: 'live' }, clock, 5)),
      { code: 'NOT_FOUND' },
    )
  })

  await t.test('a candidate is refunded once', async () => {
    const refund = () => db.transaction((tx) => refundCredit(tx, { orgId, mode: 'live' }, clock, 'CP_1', 'CD_1'))
    await refund()
    await assert.rejects(refund())
    assert.equal(await balanceOf(db.queries, { orgId, mode: 'live' }), 6)
  })

  await t.test('the first credits are given once', async () => {
    await Promise.all([1, 2].map(() => db.transaction((tx) => giveFirstCredits(tx, orgId, clock))))
    await db.transaction((tx) => giveFirstCredits(tx, orgId, clock))
    assert.equal(await balanceOf(db.queries, { orgId, mode: 'test' }), 10_000)
  })
})
