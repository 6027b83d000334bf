import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { findCandidacy } from '../../server/campaigns/candidacy.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import { SendError } from '../../server/channels/channel.ts'
import type { Config } from '../../server/config.ts'
import { DAY, HOUR, MINUTE } from '../../server/platform/clock.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { indianDate } from '../../server/platform/india-time.ts'
import { startApp } from '../support/app.ts'
import { createPartnerCalls } from '../support/call.ts'
import { TestClock } from '../support/clock.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner } from '../support/partners.ts'
import { countsInOverview, recountOverview } from '../support/recount.ts'
import { until } from '../support/until.ts'
import { type KillableServer, startServerProcess } from './server-process.ts'

// For a longer run, set CRASH_CANDIDATES=2000 CRASH_ROUNDS=8.
const CANDIDATE_COUNT = Number(process.env.CRASH_CANDIDATES ?? 200)
const ROUND_COUNT = Number(process.env.CRASH_ROUNDS ?? 3)
const CREDITS = 10_000

/** The expected result of each test number of the campaigns. */
const expectedResultByNumber: Record<string, string> = {
  '+919990000001': 'completed',
  '+919990000002': 'completed',
  '+919990000003': 'completed',
  '+919990000004': 'completed',
  '+919990000005': 'declined refused',
  '+919990000006': 'failed no_response',
  '+919990000007': 'failed expired',
  '+919990000008': 'failed unreachable',
  '+919990000009': 'completed',
  '+919990000010': 'declined stopped',
}

test('after server and worker are killed during campaigns, every candidate has one result and all counts match', {
  timeout: 290_000,
}, async (t) => {
  const clock = new TestClock(Date.now())
  const app = await startApp(t, { clock })
  const { context } = app
  const { db, config } = context
  const { key, scope, createMandate, get } = await createCampaignPartner(app, { credits: CREDITS })
  const { mandate_id } = await createMandate({
    channels: ['whatsapp', 'sms'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  let processes = await startProcesses(t, config)
  let stopEnrolling = false
  const enrolment = enrolAll()
  let killedDuringCampaigns = 0
  for (let round = 0; round < ROUND_COUNT; round++) {
    await pause(1500 + Math.random() * 1500)
    if ((await countPending(db)) > 0) killedDuringCampaigns++
    for (const { child } of processes) child.kill('SIGKILL')
    processes = await startProcesses(t, config)
  }
  await enrolment
  stopEnrolling = true
  await until(async () => (await countPending(db)) === 0, 120_000)
  for (const { child } of processes) child.kill('SIGKILL')
  assert.ok(killedDuringCampaigns > 0)

  await checkResults(db)
  await checkMessages(db)
  await checkEvents(db)
  await checkCredits(db)
  clock.set(Date.now())
  const [today, yesterday] = [indianDate(Date.now()), indianDate(Date.now() - DAY)]
  const { data } = (await get(`/analytics/overview?from=${yesterday}&to=${today}`)).body
  assert.deepEqual(countsInOverview(data), await recountOverview(db, scope, { from: yesterday, to: today }))
  assert.equal(data.funnel.enrolled, CANDIDATE_COUNT)
  t.diagnostic(
    `${CANDIDATE_COUNT} candidates, killed during campaigns in ${killedDuringCampaigns} of ${ROUND_COUNT} rounds`,
  )

  /** Enrols ten candidates per campaign. A call whose response was lost is retried with the same idempotency key. */
  async function enrolAll() {
    for (let created = 0; created < CANDIDATE_COUNT / 10; created++) {
      const idempotencyKey = randomBytes(12).toString('hex')
      const candidates = Array.from({ length: 10 }, (_, index) => aTestNumberCandidate(index + 1))
      for (let accepted = false; !accepted && !stopEnrolling; ) {
        clock.set(Date.now())
        const api = createPartnerCalls(processes[0]!.url, key, clock)
        const response = await api
          .post('/campaigns', { mandate_id, candidates }, { idempotencyKey })
          .catch(() => undefined)
        accepted = response?.status === 202
        // 409: the interrupted call may still hold its lock.
        if (response && !accepted && response.status !== 409) assert.fail(JSON.stringify(response.body))
        if (!accepted) await pause(100)
      }
    }
  }
})

async function countPending(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from candidate_progress where status = 'pending'`.execute(db.queries)
  return rows[0]!.count
}

async function checkResults(db: Database) {
  const { rows } = await sql<{ candidate_id: string }>`select candidate_id from candidates`.execute(db.queries)
  const countsByResult: Record<string, number> = {}
  for (const { candidate_id } of rows) {
    const { phone, status, reason } = (await findCandidacy(db.queries, candidate_id))!
    const result = `${phone} ${status}${reason ? ` ${reason}` : ''}`
    countsByResult[result] = (countsByResult[result] ?? 0) + 1
  }
  const expectedCounts = Object.entries(expectedResultByNumber).map(([phone, result]) => [
    `${phone} ${result}`,
    CANDIDATE_COUNT / 10,
  ])
  assert.deepEqual(countsByResult, Object.fromEntries(expectedCounts), 'each test number has its expected result')
  const { rows: wrong } = await sql`
    select campaign_id from campaigns g join candidate_progress p using (campaign_id) group by campaign_id
    having g.pending <> 0 or g.completed <> count(*) filter (where p.status = 'completed')
      or g.declined <> count(*) filter (where p.status = 'declined') or g.failed <> count(*) filter (where p.status = 'failed')
      or g.completed_at is null`.execute(db.queries)
  assert.deepEqual(wrong, [], 'the counts of the campaigns match the results')
}

async function checkMessages(db: Database) {
  const { rows: repeatedContacts } = await sql`
    select candidate_id, contact_step, channel, count(*) from messages where direction = 'out' and contact_step is not null
    group by 1, 2, 3 having count(*) > 1`.execute(db.queries)
  assert.deepEqual(repeatedContacts, [], 'no contact is sent twice')
  const { rows: repeatedQuestions } = await sql`
    select candidate_id, conversation_step, count(*) from messages where direction = 'out' and contact_step is null
    group by 1, 2 having count(*) > 1`.execute(db.queries)
  assert.deepEqual(repeatedQuestions, [], 'no question is sent twice')
  const { rows: repeatedAnswers } = await sql`
    select candidate_id, conversation_step, count(*) from messages where direction = 'in' group by 1, 2 having count(*) > 1`.execute(
    db.queries,
  )
  assert.deepEqual(repeatedAnswers, [], 'no answer is recorded twice')
}

async function checkEvents(db: Database) {
  const { rows } = await sql<{ type: string; data: string }>`
    select type, data from events union all select type, data from event_outbox`.execute(db.queries)
  const eventSubjects = (types: RegExp, id: 'result_id' | 'campaign_id') =>
    rows.filter(({ type }) => types.test(type)).map(({ data }) => JSON.parse(data)[id] as string)
  const { rows: results } = await sql<{ result_id: string }>`select result_id from candidate_progress`.execute(
    db.queries,
  )
  assert.deepEqual(eventSubjects(/^result\./, 'result_id').sort(), results.map(({ result_id }) => result_id).sort())
  const { rows: campaigns } = await sql<{ campaign_id: string }>`select campaign_id from campaigns`.execute(db.queries)
  assert.deepEqual(
    eventSubjects(/^campaign\./, 'campaign_id').sort(),
    campaigns.map(({ campaign_id }) => campaign_id).sort(),
  )
}

async function checkCredits(db: Database) {
  const { rows } = await sql<{ balance: number; sum: number; refunds: number; spent: number; neverContacted: number }>`
    select (select balance from credit_balances) as balance, sum(amount)::int as sum,
      count(*) filter (where reason = 'refund')::int as refunds, -sum(amount) filter (where reason = 'enrolment')::int as spent,
      (select count(*) from candidate_progress where stages = 0)::int as "neverContacted"
    from credit_entries`.execute(db.queries)
  const { balance, sum, refunds, spent, neverContacted } = rows[0]!
  assert.equal(spent, CANDIDATE_COUNT)
  assert.equal(refunds, neverContacted, 'one refund for each candidate who was never reached')
  assert.equal(balance, CREDITS - spent + refunds)
  assert.equal(sum, balance)
}

/** Starts the API and the jobs as separate processes. */
function startProcesses(t: TestContext, config: Config): Promise<KillableServer[]> {
  return Promise.all(['api', 'worker'].map((roles) => startServerProcess(t, config, { ROLES: roles })))
}

test('if a messaging provider is down for an hour, no message is lost or sent twice, and follow-ups are delayed', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { createCampaign, createMandate, get, scope } = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await createMandate({ follow_ups: [{ after_hours: 2, channel: 'whatsapp' }] })
  let down = true
  const acceptedMessages: { to: string; step: number | undefined; at: number }[] = []
  context.channels.whatsapp = {
    name: 'whatsapp',
    async send({ to, followUpNumber, message_id }) {
      if (down) throw new SendError('busy', 'down')
      acceptedMessages.push({ to, step: followUpNumber, at: clock.now() })
      return { providerId: message_id }
    },
  }
  const startedAt = clock.now()
  await createCampaign(
    mandate_id,
    Array.from({ length: 30 }, (_, number) => aCandidate(number)),
  )
  for (; clock.now() < startedAt + HOUR; clock.advance(MINUTE)) await contactNow(context)
  assert.equal((await get('/analytics/overview')).body.data.funnel.contacted, 0)
  down = false
  const providerUpAt = clock.now()
  for (; clock.now() < providerUpAt + 3 * HOUR; clock.advance(MINUTE)) await contactNow(context)

  assert.equal(new Set(acceptedMessages.map(({ to, step }) => `${to} ${step}`)).size, 60)
  assert.equal(acceptedMessages.length, 60, 'each message once')
  const firstContactAt = new Map(acceptedMessages.filter(({ step }) => step === 0).map(({ to, at }) => [to, at]))
  for (const at of firstContactAt.values())
    assert.ok(at >= providerUpAt && at <= providerUpAt + 11 * MINUTE, 'within the longest retry delay')
  for (const { to, at } of acceptedMessages.filter(({ step }) => step === 1)) {
    const waitMs = at - firstContactAt.get(to)!
    assert.ok(waitMs >= 2 * HOUR && waitMs <= 2 * HOUR + MINUTE, 'two hours after the successful message')
  }
  const { data } = (await get('/analytics/overview')).body
  assert.deepEqual(data.channels, [{ channel: 'whatsapp', sent: 60, delivered: 0, read: 0, replied: 0, failed: 0 }])
  const today = data.daily.at(-1).date
  assert.deepEqual(countsInOverview(data), await recountOverview(context.db, scope, { from: today, to: today }))
})
