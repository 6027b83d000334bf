import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'

test('personas that end midway also do so in a conversation with a single question', async (t) => {
  const app = await startApp(t)
  const { campaign, mandate, get } = await campaignPartner(app)
  const { mandate_id } = await mandate({}, { methods: ['interest_collection'] })
  await campaign(mandate_id, [testNumber(7), testNumber(10)])
  await passTime(app, 5_000)
  const found = (await get('/results')).body.data.items.map(({ status, reason }: any) => [status, reason])
  assert.deepEqual(found.sort(), [
    ['declined', 'stopped'],
    ['failed', 'expired'],
  ])
})

test('the test numbers complete their scenarios within 30 s, even at night', async (t) => {
  const app = await startApp(t)
  const { campaign, mandate, get, scope } = await campaignPartner(app)
  const { mandate_id } = await mandate({
    channels: ['whatsapp', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 168, channel: 'sms' }],
  })
  app.clock.set('2026-03-11T17:30:00Z') // eleven at night in India
  const created = await campaign(
    mandate_id,
    Array.from({ length: 10 }, (_, index) => testNumber(index + 1)),
  )
  await passTime(app, 10_000)

  const { body } = await get('/results?limit=100')
  const found = body.data.items.map(({ candidate, status, reason, output }: any) => [
    candidate.external_candidate_id,
    [status, reason, output.qualified, output.interest],
  ])
  assert.deepEqual(Object.fromEntries(found), {
    'ext-1': ['completed', null, true, 'interested'],
    'ext-2': ['completed', null, false, null],
    'ext-3': ['completed', null, false, 'interested'],
    'ext-4': ['completed', null, true, 'not_interested'],
    'ext-5': ['declined', 'refused', false, null],
    'ext-6': ['failed', 'no_response', false, null],
    'ext-7': ['failed', 'expired', false, null],
    'ext-8': ['failed', 'unreachable', false, null],
    'ext-9': ['completed', null, true, 'interested'],
    'ext-10': ['declined', 'stopped', false, null],
  })
  const campaigns = await get(`/campaigns/${created.campaign.campaign_id}`)
  assert.deepEqual(campaigns.body.data.counts, { candidates: 10, pending: 0, completed: 5, declined: 2, failed: 3 })
  assert.equal(campaigns.body.data.status, 'completed')
  assert.equal((await get('/credits')).body.data.balance, 991) // ten enrolled, one refunded

  await app.context.events.flush(scope)
  const events = (await get('/events?limit=100')).body.data.items as { type: string; data: any }[]
  const types = Map.groupBy(events, ({ type }) => type)
  assert.deepEqual(Object.fromEntries([...types].map(([type, list]) => [type, list.length])), {
    'mandate.ready': 1,
    'result.completed': 5,
    'result.declined': 2,
    'result.failed': 3,
    'campaign.completed': 1,
  })
  const last = events.at(-1)!
  assert.equal(last.type, 'campaign.completed')
  assert.deepEqual(last.data, campaigns.body.data)
  for (const { data } of types.get('result.completed')!)
    assert.deepEqual(
      data,
      body.data.items.find((result: any) => result.result_id === data.result_id),
    )
})
