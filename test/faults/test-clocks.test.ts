import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { runTestClocks } from '../../server/test-clocks/runner.ts'
import { timedWorks } from '../../server/worker.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { verificationCalls } from '../support/verification.ts'
import { startServerProcess } from './server-process.ts'

const START = '2030-01-15T16:00:00.000Z' // in the evening in India
const CANDIDATE_COUNT = 50
// Each kill costs the start of a server.
const KILL_COUNT = Number(process.env.CRASH_ROUNDS ?? 1)

interface Outcome {
  /** Status, reason and time of the end of each candidate. Completed conversations have a random number of questions. */
  results: string[]
  sessions: string[]
  resultEvents: number
  duplicateEvents: number
  duplicateMessages: number
}

test('an advance of 30 days that is killed has the same outcome as one without interruption', {
  timeout: 170_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const undisturbed = await setUp(app)
  await advance(undisturbed)
  const startedAt = performance.now()
  await runTestClocks(app.context, timedWorks)
  const seconds = (performance.now() - startedAt) / 1000
  const expected = await readOutcome(app, undisturbed)
  assert.equal(expected.resultEvents, CANDIDATE_COUNT)
  assert.ok(expected.results.every((result) => !result.startsWith('pending')))
  assert.ok(expected.sessions.includes('completed') && expected.sessions.includes('expired'))

  const killed = await setUp(app)
  let { child } = await startServerProcess(t, app.context.config)
  await advance(killed)
  let lastTime = Date.parse(START)
  let killsDuringAdvance = 0
  for (let round = 0; round < KILL_COUNT; round++) {
    const { now_at, isAdvancing } = await until(async () => {
      const clock = await readClock(app, killed)
      return (clock.now_at.getTime() > lastTime || !clock.isAdvancing) && clock
    })
    child.kill('SIGKILL')
    if (isAdvancing) killsDuringAdvance++
    lastTime = now_at.getTime()
    child = (await startServerProcess(t, app.context.config)).child
  }
  assert.ok(killsDuringAdvance > 0)
  await until(async () => !(await readClock(app, killed)).isAdvancing, 60_000)
  child.kill('SIGKILL')
  assert.deepEqual(await readOutcome(app, killed), expected)
  assert.deepEqual([expected.duplicateEvents, expected.duplicateMessages], [0, 0])
  t.diagnostic(`30 days with ${CANDIDATE_COUNT} candidates and 10 sessions took ${seconds.toFixed(1)} s`)
})

interface Setup {
  partner: CampaignPartner
  clockId: string
  campaignId: string
  calls: ReturnType<typeof verificationCalls>
  sessions: { id: string; token: string; userId: string }[]
}

/** Creates an organisation with a test clock, a campaign with all test candidates several times, and ten sessions. */
async function setUp(app: TestApp): Promise<Setup> {
  const partner = await createCampaignPartner(app)
  const clockId = (await partner.post('/test-clocks', { starts_at: START })).body.data.test_clock_id
  const { mandate_id } = await partner.createMandate({
    channels: ['email'],
    follow_ups: [
      { after_hours: 24, channel: 'email' },
      { after_hours: 72, channel: 'email' },
    ],
  })
  const candidates = Array.from({ length: CANDIDATE_COUNT }, (_, index) => {
    const persona = String((index % 11) + 1).padStart(2, '0')
    const { phone: _phone, ...candidate } = aCandidate(index)
    return { ...candidate, email: `candidate-${persona}+${index}@test.attestry.example` }
  })
  const { campaign } = await partner.createCampaign(mandate_id, candidates, { test_clock_id: clockId })
  const sessionKey = await app.fixtures.createSessionKey(partner.orgId, 'test')
  const calls = verificationCalls(app, partner.orgId, sessionKey, 'test')
  const sessions = []
  for (let index = 0; index < 10; index++) {
    const email = `${['endorse', 'refuse', 'silent'][index % 3]}@test.attestry.example`
    const student = { externalStudentId: `s-${index}`, testClockId: clockId }
    app.clock.advance(1000) // refills the rate limit of the key
    sessions.push((await calls.requestReview({ student, reviewer: { email } })).session)
  }
  return { partner, clockId, campaignId: campaign.campaign_id, calls, sessions }
}

async function advance({ partner, clockId }: Setup) {
  const response = await partner.post(`/test-clocks/${clockId}/advance`, { seconds: 30 * 86_400 })
  assert.equal(response.status, 202)
}

async function readClock(app: TestApp, { clockId }: Setup) {
  const { rows } = await sql<{ now_at: Date; isAdvancing: boolean }>`
    select now_at, advancing_to is not null as "isAdvancing" from test_clocks where test_clock_id = ${clockId}`.execute(
    app.context.db.queries,
  )
  return rows[0]!
}

async function readOutcome(app: TestApp, { partner, campaignId, calls, sessions }: Setup): Promise<Outcome> {
  app.clock.advance(1000)
  const { items } = (await partner.get(`/results?campaign_id=${campaignId}&limit=100`)).body.data
  const events = await calls.listEvents()
  const endedIds = events.filter(({ type }) => type.startsWith('result.')).map(({ data }) => data.result_id)
  const endedSessions = events
    .filter(({ type }) => /^verification\.(completed|declined|expired)$/.test(type))
    .map(({ data }) => data.serviceVerificationId)
  const { rows: messages } = await sql<{ count: number }>`
    select count(*)::int as count from messages where campaign_id = ${campaignId} and direction = 'in'
    group by candidate_id, conversation_step having count(*) > 1`.execute(app.context.db.queries)
  return {
    results: items
      .map(
        ({ candidate, status, reason, completed_at }: any) =>
          `${status} ${reason} ${candidate.external_candidate_id} ${status === 'failed' && reason === 'no_response' ? completed_at : ''}`,
      )
      .sort(),
    sessions: await Promise.all(sessions.map(async (session) => (await calls.getVerification(session)).status)),
    resultEvents: endedIds.length,
    duplicateEvents: endedIds.length - new Set(endedIds).size + endedSessions.length - new Set(endedSessions).size,
    duplicateMessages: messages.length,
  }
}
