import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner, passTime } from '../../test/support/partners.ts'
import { runTestClocks } from '../test-clocks/runner.ts'
import { timedWorks } from '../worker.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp(mode: 'test' | 'live' = 'test') {
  const app = await startSharedApp()
  app.clock.advance(61_000) // resets rate limits
  const partner = await createCampaignPartner(app, { mode })
  const { mandate_id } = await partner.createMandate({ follow_ups: [{ after_hours: 24, channel: 'whatsapp' }] })
  return { app, partner, mandate_id }
}

const scripted = (scripts: object[]) => scripts.map((test_script, index) => aCandidate(index + 1, { test_script }))

async function readResults({ get }: CampaignPartner, campaignId: string): Promise<any[]> {
  const { items } = (await get(`/results?campaign_id=${campaignId}&limit=100`)).body.data
  return items.sort((a: any, b: any) =>
    a.candidate.external_candidate_id.localeCompare(b.candidate.external_candidate_id, 'en', { numeric: true }),
  )
}

const summarise = ({ status, reason, output }: any) => [status, reason, output.qualified, output.interest]

const SCRIPTS = [
  {},
  { skill_answers: ['wrong'] },
  { skill_answers: ['undecided'] },
  { enrichment: { licence: 'no' } },
  { interest: 'no' },
  { consent: 'no' },
  { silent_after: 0 },
  { silent_after: 2 },
  { stop_after: 1 },
  { unreachable: true },
  { ignored_messages: 1 },
  { postpone: 'tomorrow' },
  { postpone: 'never' },
]
const OUTCOMES = [
  ['completed', null, true, 'interested'],
  ['completed', null, false, 'interested'],
  ['completed', null, null, 'interested'],
  ['completed', null, false, null],
  ['completed', null, true, 'not_interested'],
  ['declined', 'refused', null, null],
  ['failed', 'no_response', null, null],
  ['failed', 'expired', null, null],
  ['declined', 'stopped', null, null],
  ['failed', 'unreachable', null, null],
  ['completed', null, true, 'interested'],
  ['completed', null, true, 'interested'],
  ['declined', 'refused', null, null],
]

test('scripts produce every outcome within seconds without a test clock', async () => {
  const { app, partner, mandate_id } = await setUp()
  const { campaign } = await partner.createCampaign(mandate_id, scripted(SCRIPTS))
  await passTime(app, 20_000)
  const results = await readResults(partner, campaign.campaign_id)
  assert.deepEqual(results.map(summarise), OUTCOMES)
  const verdictsOf = (index: number) => results[index].output.skills.map(({ verdict }: any) => verdict)
  assert.deepEqual(
    [0, 1, 2].map(verdictsOf),
    ['verified', 'not_verified', 'inconclusive'].map((verdict) => [verdict, verdict, verdict]),
  )
})

async function advanceClock(app: TestApp, { post, get }: CampaignPartner, id: string, seconds: number) {
  assert.equal((await post(`/test-clocks/${id}/advance`, { seconds })).status, 202)
  await runTestClocks(app.context, timedWorks)
  return (await get(`/test-clocks/${id}`)).body.data
}

test('scripts produce every outcome with a test clock', async () => {
  const { app, partner, mandate_id } = await setUp()
  const { body } = await partner.post('/test-clocks', { starts_at: '2030-01-15T06:00:00Z' })
  const { test_clock_id } = body.data
  const { campaign } = await partner.createCampaign(mandate_id, scripted(SCRIPTS), { test_clock_id })
  await advanceClock(app, partner, test_clock_id, 10 * 86_400)
  const results = await readResults(partner, campaign.campaign_id)
  assert.deepEqual(results.map(summarise), OUTCOMES)
  const daysUntilEnd = (index: number) =>
    Math.floor((Date.parse(results[index].completed_at) - Date.parse('2030-01-15T06:00:00Z')) / 86_400_000)
  assert.deepEqual([0, 10, 11].map(daysUntilEnd), [0, 1, 1], 'the follow-up and the requested contact are a day later')
})

test('a delayed reply arrives at its time, and follow-ups do not delay it', async () => {
  const { app, partner, mandate_id } = await setUp()
  const { body } = await partner.post('/test-clocks', { starts_at: '2030-01-15T06:00:00Z' })
  const { test_clock_id } = body.data
  const candidates = scripted([{ reply_delay_seconds: 2 * 86_400, consent: 'no' }])
  const { campaign } = await partner.createCampaign(mandate_id, candidates, { test_clock_id })
  await advanceClock(app, partner, test_clock_id, 3 * 86_400)
  const [result] = await readResults(partner, campaign.campaign_id)
  assert.deepEqual([result.reason, result.completed_at], ['refused', '2030-01-17T06:00:00.000Z'])
})

test('without a test clock, the candidate is not given up on while a delayed reply is pending', async () => {
  const { app, partner, mandate_id } = await setUp()
  const candidates = scripted([{ reply_delay_seconds: 10, consent: 'no' }])
  const { campaign } = await partner.createCampaign(mandate_id, candidates)
  await passTime(app, 9_000)
  assert.equal((await readResults(partner, campaign.campaign_id))[0].status, 'pending')
  await passTime(app, 3_000)
  assert.equal((await readResults(partner, campaign.campaign_id))[0].reason, 'refused')
})

test('answers are given in order, per skill, and enrichment answers as written', async () => {
  const { app, partner, mandate_id } = await setUp()
  const candidates = scripted([
    {
      enrichment: { notice: 'After Diwali' },
      skill_answers: ['correct'],
      skills: [
        { skill_id: 'sk_2005', answers: ['wrong'] },
        { skill_id: 'sk_2020', answers: ['wrong', 'wrong', 'correct'] },
      ],
    },
  ])
  const { campaign } = await partner.createCampaign(mandate_id, candidates)
  await passTime(app, 20_000)
  const [{ output }] = await readResults(partner, campaign.campaign_id)
  assert.equal(output.enrichment.notice.answer, 'After Diwali')
  const correctBySkill = Object.fromEntries(
    output.skills.map(({ skill_id, verdict, correct, asked }: any) => [skill_id, { verdict, correct, asked }]),
  )
  assert.equal(correctBySkill.sk_2001.verdict, 'verified')
  assert.deepEqual([correctBySkill.sk_2005.verdict, correctBySkill.sk_2005.correct], ['not_verified', 0])
  const { correct, asked } = correctBySkill.sk_2020
  assert.equal(asked - correct, 2, 'the first two answers are wrong, the others right')
})

test('scripts that do not match the mandate are rejected with the expected values', async () => {
  const { partner, mandate_id } = await setUp()
  const candidates = scripted([
    { enrichment: { licence: 'maybe', tools: 'yes' }, skills: [{ skill_id: 'sk_2002', answers: ['wrong'] }] },
    { silent_after: 1, stop_after: 1, reply_delay_seconds: 61 },
  ])
  const { status, body } = await partner.post('/campaigns', { mandate_id, candidates }, { idempotencyKey: true })
  assert.deepEqual([status, body.error.code], [400, 'VALIDATION_FAILED'])
  assert.deepEqual(
    body.error.details.map(({ path, message }: any) => `${path}: ${message}`),
    [
      'candidates[0].test_script.enrichment.licence: must be yes or no; got "maybe"',
      'candidates[0].test_script.enrichment.tools: is not an enrichment question of the mandate; its keys are: licence, notice',
      'candidates[0].test_script.skills[0].skill_id: is not a verified skill of the mandate; these are: sk_2001, sk_2005, sk_2020',
      'candidates[1].test_script.reply_delay_seconds: must be at most 60 without a test clock; for longer delays, create the campaign with a test_clock_id',
      'candidates[1].test_script.stop_after: is not allowed with silent_after; send one of the two',
    ],
  )
  assert.equal((await partner.get('/credits')).body.data.balance, 1000, 'nothing was charged')
})

test('a script is rejected in LIVE mode', async () => {
  const { partner, mandate_id } = await setUp('live')
  const { status, body } = await partner.post(
    '/campaigns',
    { mandate_id, candidates: scripted([{}]) },
    { idempotencyKey: true },
  )
  assert.deepEqual(
    [status, body.error.message],
    [400, 'candidates[0].test_script: is for TEST mode only; leave it out, or use a TEST key.'],
  )
})
