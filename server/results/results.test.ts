import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, campaignPartner, errorPaths, passTime, testNumber } from '../../test/support/partners.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'

const RESULT_FIELDS = [
  'result_id',
  'campaign_id',
  'mandate_id',
  'job_id',
  'candidate',
  'status',
  'reason',
  'output',
  'flow_version',
  'version',
  'created_at',
  'started_at',
  'completed_at',
  'updated_at',
]

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  return { app, context, clock }
}

test('a record matches its schema and contains only enabled methods', async () => {
  const { app } = await setUp()
  const { get, campaign, mandate } = await campaignPartner(app)
  const { mandate_id } = await mandate({}, { job_id: 'J-7', methods: ['skill_verification'] })
  await campaign(mandate_id, [aCandidate(1, { metadata: { batch: 'A', __proto__x: 'b' } })])
  const [record] = (await get('/results')).body.data.items
  assert.deepEqual(Object.keys(record), RESULT_FIELDS)
  assert.deepEqual(Object.keys(record.output).sort(), ['channel', 'language', 'qualified', 'skills'])
  assert.deepEqual(record.candidate.metadata, { batch: 'A', __proto__x: 'b' })
  assert.deepEqual([record.status, record.reason, record.output.qualified], ['pending', null, null])
  assert.deepEqual([record.job_id, record.started_at, record.completed_at], ['J-7', null, null])
  assert.deepEqual(
    record.output.skills.map(({ verdict, correct, asked }: any) => [verdict, correct, asked]),
    record.output.skills.map(() => ['not_asked', 0, 0]),
  )
  assert.deepEqual((await get(`/results/${record.result_id}`)).body.data, record)
})

test('results are filtered by campaign, mandate, job and status, within the organisation', async () => {
  const { app } = await setUp()
  const owner = await campaignPartner(app)
  const first = await owner.mandate({}, { job_id: 'J-1' })
  const second = await owner.mandate({}, { job_id: 'J-2' })
  const one = await owner.campaign(first.mandate_id, [testNumber(5), aCandidate(1)])
  await owner.campaign(second.mandate_id, [aCandidate(2)])
  await passTime(app, 1000)
  const found = async (query: string) =>
    (await owner.get(`/results?${query}`)).body.data.items.map(({ candidate }: any) => candidate.external_candidate_id)
  assert.deepEqual((await found(`campaign_id=${one.campaign.campaign_id}`)).sort(), ['ext-1', 'ext-5'])
  assert.deepEqual(await found(`mandate_id=${second.mandate_id}`), ['ext-2'])
  assert.deepEqual((await found('job_id=J-1')).sort(), ['ext-1', 'ext-5'])
  assert.deepEqual(await found('job_id=J-1&status=declined'), ['ext-5'])
  assert.deepEqual(await found('job_id=J-3'), [])
  const { result_id } = (await owner.get('/results')).body.data.items[0]
  for (const outsider of [
    await campaignPartner(app),
    await campaignPartner(app, { mode: 'live', orgId: owner.orgId }),
  ]) {
    assert.equal((await outsider.get(`/results/${result_id}`)).status, 404)
    assert.deepEqual((await outsider.get('/results')).body.data.items, [])
  }
  assert.deepEqual(errorPaths(await owner.get('/results?status=done&updated_after=yesterday&campaign_id=x')).sort(), [
    'query.campaign_id',
    'query.status',
    'query.updated_after',
  ])
  for (const time of ['yesterday', '2026-03-11', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z'])
    assert.deepEqual(errorPaths(await owner.get(`/results?updated_after=${time}`)), ['query.updated_after'], time)
})

test('pages follow the order of updates', async () => {
  const { app, clock } = await setUp()
  const { get, campaign, mandate } = await campaignPartner(app)
  const { mandate_id } = await mandate()
  for (let at = 0; at < 5; at++) {
    await campaign(mandate_id, [aCandidate(at)])
    clock.advance(1000)
  }
  const updateTimes: string[] = []
  let cursor = ''
  do {
    const { data } = (await get(`/results?limit=2${cursor && `&cursor=${cursor}`}`)).body
    updateTimes.push(...data.items.map(({ updated_at }: any) => updated_at))
    cursor = data.next_cursor
  } while (cursor)
  assert.equal(updateTimes.length, 5)
  assert.deepEqual(updateTimes, updateTimes.toSorted())
  const rest = (await get(`/results?updated_after=${encodeURIComponent(updateTimes[2]!)}`)).body.data.items
  assert.deepEqual(
    rest.map(({ updated_at }: any) => updated_at),
    updateTimes.slice(3),
  )
  assert.deepEqual((await get(`/results?updated_after=${encodeURIComponent(updateTimes[4]!)}`)).body.data.items, [])
})

test('a poller that continues from the last update misses nothing, however late a change commits', async () => {
  const { app, context, clock } = await setUp()
  const { get, campaign, mandate, scope } = await campaignPartner(app, { peoplePerDay: 1000 })
  const { mandate_id } = await mandate()
  const people = Array.from({ length: 24 }, (_, at) => aCandidate(at))
  await campaign(mandate_id, people)
  const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates where org_id = ${scope.orgId}`.execute(context.db.queries)
  let writing = true
  const versions = new Map<string, number>()
  const poller = (async () => {
    let since = ''
    while (true) {
      const last = !writing
      let cursor = ''
      const updatedAfter = since
      do {
        const query = `limit=7${updatedAfter && `&updated_after=${updatedAfter}`}${cursor && `&cursor=${cursor}`}`
        const { status, body } = await get(`/results?${query}`)
        assert.equal(status, 200, JSON.stringify(body))
        const { data } = body
        for (const { result_id, version, updated_at } of data.items) {
          versions.set(result_id, Math.max(version, versions.get(result_id) ?? 0))
          if (updated_at > since) since = updated_at
        }
        cursor = data.next_cursor
      } while (cursor)
      if (last) return
    }
  })()
  await Promise.all(
    rows.map(async ({ candidate_id }, at) => {
      for (let time = 0; time < 3; time++) {
        await context.db.transaction(async (tx) => {
          const candidate = (await lockCandidacy(tx, candidate_id))!
          clock.advance(1)
          await handleReply(tx, context, candidate, { channel: 'page', input: { kind: 'reply', text: 'hm' } })
          if (at % 4 === 0) await sql`select pg_sleep(0.05)`.execute(tx) // commits long after the update
        })
      }
    }),
  )
  writing = false
  await poller
  const { rows: now } = await sql<{ result_id: string; version: number }>`
      select result_id, version from candidate_progress where org_id = ${scope.orgId}`.execute(context.db.queries)
  assert.deepEqual(
    Object.fromEntries([...versions].sort()),
    Object.fromEntries(now.map(({ result_id, version }) => [result_id, version] as const).sort()),
  )
})
