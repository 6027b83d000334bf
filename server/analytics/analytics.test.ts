import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  createCampaignPartner,
  errorPaths,
  passTime,
} from '../../test/support/partners.ts'
import { countsInOverview, recountOverview } from '../../test/support/recount.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { counters } from './counters.ts'
import { aggregateChanges } from './rollups.ts'

test('the overview counts candidates with each of the ten test phone numbers', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get } = await createCampaignPartner(app)
  const workflow = {
    channels: ['voice', 'sms'] as const,
    languages: ['en', 'hi'] as const,
    follow_ups: [{ after_hours: 24, channel: 'sms' as const }],
  }
  const createdMandate = await createMandate(workflow as object)
  await createCampaign(
    createdMandate.mandate_id,
    Array.from({ length: 10 }, (_, index) => aTestNumberCandidate(index + 1, index === 3 ? { language: 'hi' } : {})),
  )
  await passTime(app, 10_000)

  const path = `/analytics/workflows/${createdMandate.workflow_id}/overview`
  const { status, body } = await get(path)
  assert.equal(status, 200, JSON.stringify(body))
  const { daily, ...figures } = body.data
  assert.deepEqual(figures, {
    funnel: {
      enrolled: 10,
      contacted: 9,
      delivered: 9,
      responded: 8,
      consented: 7,
      enrichment_done: 5,
      skills_done: 5,
      interest_done: 5,
      completed: 5,
      qualified: 3,
      interested: 3,
    },
    channels: [
      { channel: 'voice', sent: 9, delivered: 9, read: 0, replied: 7, failed: 1 },
      { channel: 'sms', sent: 2, delivered: 2, read: 0, replied: 1, failed: 1 },
    ],
    follow_ups: [{ step: 1, sent: 2, replied: 1 }],
    calls: { placed: 10, answered: 7, no_answer: 2, busy: 0, failed: 1, total_seconds: 210, average_seconds: 30 },
    drop_offs: [
      { at: 'no_response', candidates: 2 },
      { at: 'consent', candidates: 1 },
      { at: 'language', candidates: 0 },
      { at: 'enrichment', candidates: 2 },
      { at: 'skills', candidates: 0 },
      { at: 'interest', candidates: 0 },
    ],
    languages: [
      { language: 'en', candidates: 9, completed: 4 },
      { language: 'hi', candidates: 1, completed: 1 },
    ],
  })
  assert.equal(daily.length, 30)
  assert.deepEqual(daily.at(-1), { date: '2026-03-11', enrolled: 10, completed: 5, declined: 2, failed: 3 })
  assert.deepEqual(daily[0], { date: '2026-02-10', enrolled: 0, completed: 0, declined: 0, failed: 0 })

  assert.ok((await aggregateChanges(app.context.db, 1000)) > 0)
  assert.deepEqual((await get(path)).body.data, body.data, 'aggregating changes nothing')
  assert.equal(await aggregateChanges(app.context.db, 1000), 0)
  assert.deepEqual((await get('/analytics/overview')).body.data, body.data)
})

test('a period selects candidates by enrolment day in India, and outcomes count on their own day', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get } = await createCampaignPartner(app)
  const { mandate_id, workflow_id } = await createMandate()
  app.clock.set('2026-03-11T18:29:50Z') // ten seconds before midnight in India
  const createdCampaign = await createCampaign(mandate_id, [aTestNumberCandidate(1), aTestNumberCandidate(5)])
  app.clock.set('2026-03-11T18:30:01Z')
  await passTime(app, 10_000)
  const path = `/analytics/workflows/${workflow_id}/overview`

  const enrolmentDay = (await get(`${path}?from=2026-03-11&to=2026-03-11`)).body.data
  assert.deepEqual([enrolmentDay.funnel.enrolled, enrolmentDay.funnel.completed], [2, 1])
  assert.deepEqual(enrolmentDay.daily, [{ date: '2026-03-11', enrolled: 2, completed: 0, declined: 0, failed: 0 }])
  const outcomeDay = (await get(`${path}?from=2026-03-12&to=2026-03-12`)).body.data
  assert.deepEqual([outcomeDay.funnel.enrolled, outcomeDay.funnel.completed], [0, 0])
  assert.deepEqual(outcomeDay.daily, [{ date: '2026-03-12', enrolled: 0, completed: 1, declined: 1, failed: 0 }])
  assert.equal((await get(path)).body.data.daily.at(-1).date, '2026-03-12', 'today is a day in India')
  assert.deepEqual(
    (await get(`${path}?campaign_id=${createdCampaign.campaign.campaign_id}&mandate_id=${mandate_id}`)).body.data
      .funnel,
    enrolmentDay.funnel,
  )
})

test('invalid periods are rejected', async (t) => {
  const app = await startApp(t)
  const { createMandate, get } = await createCampaignPartner(app)
  const { workflow_id } = await createMandate()
  for (const base of ['/analytics/overview', `/analytics/workflows/${workflow_id}/overview`]) {
    const statusAndPaths = async (query: string) => {
      const response = await get(`${base}?${query}`)
      return [response.status, ...errorPaths(response)]
    }
    assert.deepEqual(await statusAndPaths('from=2026-02-30'), [400, 'query.from'])
    assert.deepEqual(await statusAndPaths('from=yesterday&to=2026-13-01'), [400, 'query.from'])
    assert.deepEqual(await statusAndPaths('from=2026-02-30&to=2026-13-01'), [400, 'query.from', 'query.to'])
    assert.deepEqual(await statusAndPaths('from=0000-01-01'), [400, 'query.from'])
    assert.deepEqual(await statusAndPaths('from=2026-03-11T00:00:00Z'), [400, 'query.from'])
    assert.deepEqual(await statusAndPaths('from=2026-03-02&to=2026-03-01'), [400, 'query.from'])
    assert.deepEqual(await statusAndPaths('from=2026-03-12'), [400, 'query.from'], 'tomorrow')
    assert.deepEqual(await statusAndPaths('from=2025-01-01&to=2026-01-02'), [400, 'query.from'])
    const yearResponse = await get(`${base}?from=2025-01-01&to=2026-01-01`)
    assert.deepEqual([yearResponse.status, yearResponse.body.data.daily.length], [200, 366])
    assert.equal((await get(`${base}?to=2030-01-01`)).body.data.daily[0].date, '2029-12-03')
  }
})

test('figures of other organisations are hidden, and filters that do not match are rejected', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const otherPartner = await createCampaignPartner(app)
  const livePartner = await createCampaignPartner(app, { orgId: partner.orgId, mode: 'live' })
  const ownMandate = await partner.createMandate()
  const secondMandate = await partner.createMandate()
  const otherMandate = await otherPartner.createMandate()
  const { campaign } = await partner.createCampaign(ownMandate.mandate_id, [aCandidate(1)])
  const otherCampaign = await otherPartner.createCampaign(otherMandate.mandate_id, [aCandidate(1), aCandidate(2)])

  assert.equal((await partner.get('/analytics/overview')).body.data.funnel.enrolled, 1)
  assert.equal((await otherPartner.get('/analytics/overview')).body.data.funnel.enrolled, 2)
  assert.equal((await livePartner.get('/analytics/overview')).body.data.funnel.enrolled, 0)
  for (const [query, enrolled] of [
    [`mandate_id=${ownMandate.mandate_id}`, 1],
    [`mandate_id=${secondMandate.mandate_id}`, 0],
    [`campaign_id=${campaign.campaign_id}`, 1],
  ] as const)
    assert.equal((await partner.get(`/analytics/overview?${query}`)).body.data.funnel.enrolled, enrolled, query)
  const unknownMandateResponse = await partner.get(`/analytics/overview?mandate_id=${otherMandate.mandate_id}`)
  assert.deepEqual([unknownMandateResponse.status, ...errorPaths(unknownMandateResponse)], [400, 'query.mandate_id'])
  assert.equal((await partner.get(`/analytics/workflows/${otherMandate.workflow_id}/overview`)).status, 404)
  assert.equal((await livePartner.get(`/analytics/workflows/${ownMandate.workflow_id}/overview`)).status, 404)
  const statusAndPaths = async (query: string) => {
    const response = await partner.get(`/analytics/workflows/${ownMandate.workflow_id}/overview?${query}`)
    return [response.status, ...errorPaths(response)]
  }
  assert.deepEqual(await statusAndPaths(`mandate_id=${otherMandate.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`mandate_id=${secondMandate.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${otherCampaign.campaign.campaign_id}`), [
    400,
    'query.campaign_id',
  ])
  assert.deepEqual(await statusAndPaths(`campaign_id=${campaign.campaign_id}`), [200])
  assert.deepEqual(await statusAndPaths('campaign_id=nonsense'), [400, 'query.campaign_id'])

  const keyWithoutScope = await app.fixtures.createPartnerKey(partner.orgId, {
    mode: 'test',
    scopes: ['campaigns:read'],
  })
  assert.equal((await app.as(keyWithoutScope).get('/analytics/overview')).status, 403)
})

test('a workflow without candidates has empty figures', async (t) => {
  const app = await startApp(t)
  const { createMandate, get } = await createCampaignPartner(app)
  const { workflow_id } = await createMandate({
    channels: ['email', 'whatsapp'],
    follow_ups: [{ after_hours: 1, channel: 'email' }],
  })
  const { data } = (await get(`/analytics/workflows/${workflow_id}/overview`)).body
  assert.deepEqual(
    data.channels.map(({ channel }: any) => channel),
    ['whatsapp', 'email'],
  )
  assert.deepEqual(data.follow_ups, [{ step: 1, sent: 0, replied: 0 }])
  assert.deepEqual(data.languages, [])
  assert.equal(
    Object.values(data.funnel).every((value) => value === 0),
    true,
  )
})

test('the totals table has a column for every counter', async (t) => {
  const { context } = await startApp(t)
  const { rows } = await sql<{ column_name: string }>`
    select column_name from information_schema.columns where table_name = 'analytics_totals'`.execute(
    context.db.queries,
  )
  const columnNames = rows.map(({ column_name }) => column_name)
  assert.deepEqual(columnNames.sort(), ['org_id', 'mode', 'subject', 'day', ...counters].sort())
})

test('concurrent changes of one campaign do not block each other, and aggregation counts all of them', async (t) => {
  const app = await startApp(t)
  const { createCampaign, createMandate, get, scope } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  const candidates = Array.from({ length: 40 }, (_, number) => aCandidate(number))
  const createdCampaign = await createCampaign(mandate_id, candidates)
  await contactNow(app.context)
  const { db } = app.context
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates where campaign_id = ${createdCampaign.campaign.campaign_id}`.execute(db.queries)
  const replyInput = { kind: 'reply', value: 'yes' } as const
  await Promise.all([
    ...rows.map(({ candidate_id }) =>
      db.transaction(async (tx) => {
        const candidate = (await lockCandidacy(tx, candidate_id))!
        await handleReply(tx, app.context, candidate, { channel: 'whatsapp', input: replyInput })
      }),
    ),
    ...Array.from({ length: 8 }, () => aggregateChanges(db, 20)),
  ])
  const { data } = (await get('/analytics/overview')).body
  assert.deepEqual([data.funnel.enrolled, data.funnel.responded, data.funnel.consented], [40, 40, 40])
  const today = data.daily.at(-1).date
  assert.deepEqual(countsInOverview(data), await recountOverview(db, scope, { from: today, to: today }))
})
