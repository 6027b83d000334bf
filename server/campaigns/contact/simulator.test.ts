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
    Array.from({ length: 10 }, (_, index) => aTestNumberCandidate(index + 1)),
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
  })
  const campaignResponse = await get(`/campaigns/${createdCampaign.campaign.campaign_id}`)
  assert.deepEqual(campaignResponse.body.data.counts, {
    candidates: 10,
    pending: 0,
    completed: 5,
    declined: 2,
    failed: 3,
  })
  assert.equal(campaignResponse.body.data.status, 'completed')
  assert.equal((await get('/credits')).body.data.balance, 991) // ten enrolled, one refunded

  await app.context.events.flush(scope)
  const events = (await get('/events?limit=100')).body.data.items as { type: string; data: any }[]
  const eventsByType = Map.groupBy(events, ({ type }) => type)
  assert.deepEqual(Object.fromEntries([...eventsByType].map(([type, list]) => [type, list.length])), {
    'mandate.ready': 1,
    'result.completed': 5,
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
