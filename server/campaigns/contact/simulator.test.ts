import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'

test('personas that end midway also do so in a conversation with a single question', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({}, { methods: ['interest_collection'] })
  await createCampaign(mandate_id, [aTestNumberCandidate(7), aTestNumberCandidate(10)])
  await passTime(app, 5_000)
  const outcomes = (await get('/results')).body.data.items.map(({ status, reason }: any) => [status, reason])
  assert.deepEqual(outcomes.sort(), [
    ['declined', 'stopped'],
    ['failed', 'expired'],
  ])
})

test('the knockout number passes if there is no knockout question, and gives the knockout answer to an optional one', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get } = await createCampaignPartner(app)
  const question = { key: 'tools', type: 'yes_no' as const, text: 'Do you have your own tools?' }
  for (const [index, overrides] of [{}, { knockout: 'no' as const, required: false }].entries()) {
    const { mandate_id } = await createMandate({}, { enrichment_questions: [{ ...question, ...overrides }] })
    await createCampaign(mandate_id, [aTestNumberCandidate(2, { external_candidate_id: `mandate-${index}` })])
  }
  await passTime(app, 10_000)
  const results = (await get('/results')).body.data.items.map(({ candidate, output }: any) => [
    candidate.external_candidate_id,
    output.qualified,
    output.reasons,
  ])
  assert.deepEqual(results.sort(), [
    ['mandate-0', true, []],
    ['mandate-1', false, [{ kind: 'knockout', key: 'tools' }]],
  ])
})

test('the test numbers complete their scenarios within 30 s, even at night', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get, scope } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({
    channels: ['whatsapp', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 168, channel: 'sms' }],
  })
  app.clock.set('2026-03-11T17:30:00Z') // eleven at night in India
  const createdCampaign = await createCampaign(
    mandate_id,
    Array.from({ length: 11 }, (_, index) => aTestNumberCandidate(index + 1)),
  )
  await passTime(app, 10_000)

  const { body } = await get('/results?limit=100')
  const outcomes = body.data.items.map(({ candidate, status, reason, output }: any) => [
    candidate.external_candidate_id,
    [status, reason, output.qualified, output.interest],
  ])
  assert.deepEqual(Object.fromEntries(outcomes), {
    'ext-1': ['completed', null, true, 'interested'],
    'ext-2': ['completed', null, false, null],
    'ext-3': ['completed', null, false, 'interested'],
    'ext-4': ['completed', null, true, 'not_interested'],
    'ext-5': ['declined', 'refused', null, null],
    'ext-6': ['failed', 'no_response', null, null],
    'ext-7': ['failed', 'expired', null, null],
    'ext-8': ['failed', 'unreachable', null, null],
    'ext-9': ['completed', null, true, 'interested'],
    'ext-10': ['declined', 'stopped', null, null],
    'ext-11': ['completed', null, null, 'interested'],
  })
  const outputOf = (externalId: string) =>
    body.data.items.find(({ candidate }: any) => candidate.external_candidate_id === externalId).output
  assert.deepEqual(
    outputOf('ext-11').skills.map(({ verdict, asked }: any) => [verdict, asked]),
    outputOf('ext-1').skills.map(() => ['inconclusive', 8]),
  )
  for (const { evidence } of [...outputOf('ext-1').skills, ...outputOf('ext-11').skills])
    assert.ok(evidence.median_seconds >= 5, 'test numbers need a plausible time')
  const campaignResponse = await get(`/campaigns/${createdCampaign.campaign.campaign_id}`)
  assert.deepEqual(campaignResponse.body.data.counts, {
    candidates: 11,
    pending: 0,
    completed: 6,
    declined: 2,
    failed: 3,
  })
  assert.equal(campaignResponse.body.data.status, 'completed')
  assert.equal((await get('/credits')).body.data.balance, 990) // eleven enrolled, one refunded

  await app.context.events.flush(scope)
  const events = (await get('/events?limit=100')).body.data.items as { type: string; data: any }[]
  const eventsByType = Map.groupBy(events, ({ type }) => type)
  assert.deepEqual(Object.fromEntries([...eventsByType].map(([type, list]) => [type, list.length])), {
    'mandate.ready': 1,
    'result.completed': 6,
    'result.declined': 2,
    'result.failed': 3,
    'campaign.completed': 1,
  })
  const lastEvent = events.at(-1)!
  assert.equal(lastEvent.type, 'campaign.completed')
  assert.deepEqual(lastEvent.data, campaignResponse.body.data)
  for (const { data } of events.filter(({ type }) => type.startsWith('result.')))
    assert.deepEqual(
      data,
      body.data.items.find((result: any) => result.result_id === data.result_id),
    )
})
