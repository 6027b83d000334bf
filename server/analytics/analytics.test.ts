import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { aCandidate, campaignPartner, errorPaths, passTime, testNumber } from '../../test/support/partners.ts'
import { countsInOverview, recountOverview } from '../../test/support/recount.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { counters } from './counters.ts'
import { aggregateChanges } from './rollups.ts'

test('the overview shows the ten test numbers', async (t) => {
  const app = await startApp(t)
  const { campaign, mandate, get } = await campaignPartner(app)
  const workflow = {
    channels: ['voice', 'sms'] as const,
    languages: ['en', 'hi'] as const,
    follow_ups: [{ after_hours: 24, channel: 'sms' as const }],
  }
  const created = await mandate(workflow as object)
  await campaign(
    created.mandate_id,
    Array.from({ length: 10 }, (_, index) => testNumber(index + 1, index === 3 ? { language: 'hi' } : {})),
  )
  await passTime(app, 10_000)

  const path = `/analytics/workflows/${created.workflow_id}/overview`
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

  assert.ok((await app.context.db.transaction((tx) => aggregateChanges(tx, 1000))) > 0)
  assert.deepEqual((await get(path)).body.data, body.data, 'aggregating changes nothing')
  assert.equal(await app.context.db.transaction((tx) => aggregateChanges(tx, 1000)), 0)
  assert.deepEqual((await get('/analytics/overview')).body.data, body.data)
})

test('a period selects candidates by enrolment day in India, and outcomes count on their own day', async (t) => {
  const app = await startApp(t)
  const { campaign, mandate, get } = await campaignPartner(app)
  const { mandate_id, workflow_id } = await mandate()
  app.clock.set('2026-03-11T18:29:50Z') // ten seconds before midnight in India
  const created = await campaign(mandate_id, [testNumber(1), testNumber(5)])
  app.clock.set('2026-03-11T18:30:01Z')
  await passTime(app, 10_000)
  const path = `/analytics/workflows/${workflow_id}/overview`

  const enrolled = (await get(`${path}?from=2026-03-11&to=2026-03-11`)).body.data
  assert.deepEqual([enrolled.funnel.enrolled, enrolled.funnel.completed], [2, 1])
  assert.deepEqual(enrolled.daily, [{ date: '2026-03-11', enrolled: 2, completed: 0, declined: 0, failed: 0 }])
  const ended = (await get(`${path}?from=2026-03-12&to=2026-03-12`)).body.data
  assert.deepEqual([ended.funnel.enrolled, ended.funnel.completed], [0, 0])
  assert.deepEqual(ended.daily, [{ date: '2026-03-12', enrolled: 0, completed: 1, declined: 1, failed: 0 }])
  assert.equal((await get(path)).body.data.daily.at(-1).date, '2026-03-12', 'today is a day in India')
  assert.deepEqual(
    (await get(`${path}?campaign_id=${created.campaign.campaign_id}&mandate_id=${mandate_id}`)).body.data.funnel,
    enrolled.funnel,
  )
})

test('invalid periods are rejected', async (t) => {
  const app = await startApp(t)
  const { mandate, get } = await campaignPartner(app)
  const { workflow_id } = await mandate()
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
    const year = await get(`${base}?from=2025-01-01&to=2026-01-01`)
    assert.deepEqual([year.status, year.body.data.daily.length], [200, 366])
    assert.equal((await get(`${base}?to=2030-01-01`)).body.data.daily[0].date, '2029-12-03')
  }
})

test('figures of other organisations are hidden, and filters that do not match are rejected', async (t) => {
  const app = await startApp(t)
  const one = await campaignPartner(app)
  const other = await campaignPartner(app)
  const live = await campaignPartner(app, { orgId: one.orgId, mode: 'live' })
  const mine = await one.mandate()
  const second = await one.mandate()
  const theirs = await other.mandate()
  const { campaign } = await one.campaign(mine.mandate_id, [aCandidate(1)])
  const foreign = await other.campaign(theirs.mandate_id, [aCandidate(1), aCandidate(2)])

  assert.equal((await one.get('/analytics/overview')).body.data.funnel.enrolled, 1)
  assert.equal((await other.get('/analytics/overview')).body.data.funnel.enrolled, 2)
  assert.equal((await live.get('/analytics/overview')).body.data.funnel.enrolled, 0)
  for (const [query, enrolled] of [
    [`mandate_id=${mine.mandate_id}`, 1],
    [`mandate_id=${second.mandate_id}`, 0],
    [`campaign_id=${campaign.campaign_id}`, 1],
  ] as const)
    assert.equal((await one.get(`/analytics/overview?${query}`)).body.data.funnel.enrolled, enrolled, query)
  const unknown = await one.get(`/analytics/overview?mandate_id=${theirs.mandate_id}`)
  assert.deepEqual([unknown.status, ...errorPaths(unknown)], [400, 'query.mandate_id'])
  assert.equal((await one.get(`/analytics/workflows/${theirs.workflow_id}/overview`)).status, 404)
  assert.equal((await live.get(`/analytics/workflows/${mine.workflow_id}/overview`)).status, 404)
  const statusAndPaths = async (query: string) => {
    const response = await one.get(`/analytics/workflows/${mine.workflow_id}/overview?${query}`)
    return [response.status, ...errorPaths(response)]
  }
  assert.deepEqual(await statusAndPaths(`mandate_id=${theirs.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`mandate_id=${second.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${foreign.campaign.campaign_id}`), [400, 'query.campaign_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${campaign.campaign_id}`), [200])
  assert.deepEqual(await statusAndPaths('campaign_id=nonsense'), [400, 'query.campaign_id'])

  const reader = await app.given.key(one.orgId, { mode: 'test', scopes: ['campaigns:read'] })
  assert.equal((await app.as(reader).get('/analytics/overview')).status, 403)
})

test('a workflow without candidates has empty figures', async (t) => {
  const app = await startApp(t)
  const { mandate, get } = await campaignPartner(app)
  const { workflow_id } = await mandate({
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
  const found = rows.map(({ column_name }) => column_name)
  assert.deepEqual(found.sort(), ['org_id', 'mode', 'subject', 'day', ...counters].sort())
})

test('concurrent changes of one campaign do not block each other, and aggregation loses none', async (t) => {
  const app = await startApp(t)
  const { campaign, mandate, get, scope } = await campaignPartner(app)
  const { mandate_id } = await mandate()
  const people = Array.from({ length: 40 }, (_, number) => aCandidate(number))
  const created = await campaign(mandate_id, people)
  await contactNow(app.context)
  const { db } = app.context
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates where campaign_id = ${created.campaign.campaign_id}`.execute(db.queries)
  const input = { kind: 'reply', value: 'yes' } as const
  await Promise.all([
    ...rows.map(({ candidate_id }) =>
      db.transaction(async (tx) => {
        const candidate = (await lockCandidacy(tx, candidate_id))!
        await handleReply(tx, app.context, candidate, { channel: 'whatsapp', input })
      }),
    ),
    ...Array.from({ length: 8 }, () => db.transaction((tx) => aggregateChanges(tx, 20))),
  ])
  const { data } = (await get('/analytics/overview')).body
  assert.deepEqual([data.funnel.enrolled, data.funnel.responded, data.funnel.consented], [40, 40, 40])
  const today = data.daily.at(-1).date
  assert.deepEqual(countsInOverview(data), await recountOverview(db, scope, { from: today, to: today }))
})
