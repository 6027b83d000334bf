import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { balanceOf, grantCredits, grantInitialCredits, listCreditEntries, refundCredit } from './credits.ts'

test('a hundred concurrent enrolments never overdraw the balance', async (t) => {
  const app = await startApp(t)
  const { get, enrol, createCampaign, createMandate, scope } = await createCampaignPartner(app, {
    credits: 60,
    peoplePerDay: 1000,
  })
  const { mandate_id } = await createMandate()
  const campaigns = await Promise.all(Array.from({ length: 4 }, () => createCampaign(mandate_id)))
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      enrol(campaigns[index % 4].campaign.campaign_id, [aCandidate(2 * index), aCandidate(2 * index + 1)]),
    ),
  )
  const acceptedResponses = responses.filter(({ status }) => status === 202)
  assert.equal(acceptedResponses.length, 30)
  assert.ok(responses.every(({ status }) => status === 202 || status === 402))
  assert.equal((await get('/credits')).body.data.balance, 0)
  const entries = await listCreditEntries(app.context.db.queries, scope, { before: undefined, limit: 100 })
  assert.equal(entries.length, 31)
  let balance = 0
  for (const { amount, balance_after } of entries.reverse()) {
    balance += amount
    assert.equal(balance_after, balance)
  }
  const { rows } = await sql`select 1 from candidates where org_id = ${scope.orgId}`.execute(app.context.db.queries)
  assert.equal(rows.length, 60)
})

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const { context, clock, fixtures } = await startSharedApp()
  const { orgId } = await fixtures.createOrg()
  const { db } = context
  return { clock, orgId, db }
}

test('TEST and LIVE balances are separate', async () => {
  const { clock, orgId, db } = await setUp()
  await db.transaction((tx) => grantCredits(tx, { orgId, mode: 'live' }, clock, 5))
  assert.equal(await balanceOf(db.queries, { orgId, mode: 'live' }), 5)
  assert.equal(await balanceOf(db.queries, { orgId, mode: 'test' }), 0)
})

test('granting credits to an unknown organisation fails', async () => {
  const { clock, db } = await setUp()
  await assert.rejects(
    db.transaction((tx) => grantCredits(tx, { orgId: 'ORG_X', mode: 'live' }, clock, 5)),
    { code: 'NOT_FOUND' },
  )
})

test('entries are listed in the order of their times, even if the clocks of two processes differ', async () => {
  const { clock, orgId, db } = await setUp()
  const scope = { orgId, mode: 'live' } as const
  for (const difference of [0, -30, 10, -30]) {
    const processClock = { now: () => clock.now() + difference }
    await db.transaction((tx) => grantCredits(tx, scope, processClock, 5))
  }
  const entries = await listCreditEntries(db.queries, scope, { before: undefined, limit: 10 })
  const times = entries.map(({ created_at }) => created_at.getTime())
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
})

test('a candidate is refunded once', async () => {
  const { clock, orgId, db } = await setUp()
  await db.transaction((tx) => grantCredits(tx, { orgId, mode: 'live' }, clock, 5))
  const refund = () => db.transaction((tx) => refundCredit(tx, { orgId, mode: 'live' }, clock, 'CP_1', 'CD_1'))
  await refund()
  await assert.rejects(refund())
  assert.equal(await balanceOf(db.queries, { orgId, mode: 'live' }), 6)
  const { rows } = await db.pool.query(
    `select amount, balance_after, campaign_id, candidate_id from credit_entries where org_id = $1 and reason = 'refund'`,
    [orgId],
  )
  assert.deepEqual(rows, [{ amount: 1, balance_after: 6, campaign_id: 'CP_1', candidate_id: 'CD_1' }])
})

test('the initial credits are granted once', async () => {
  const { clock, orgId, db } = await setUp()
  await Promise.all([1, 2].map(() => db.transaction((tx) => grantInitialCredits(tx, orgId, clock))))
  await db.transaction((tx) => grantInitialCredits(tx, orgId, clock))
  assert.equal(await balanceOf(db.queries, { orgId, mode: 'test' }), 10_000)
})
