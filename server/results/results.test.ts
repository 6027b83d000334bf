import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  createCampaignPartner,
  errorPaths,
  passTime,
} from '../../test/support/partners.ts'
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

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, clock } = app
  return { app, context, clock }
}

test('a result matches its schema and contains only enabled methods', async () => {
  const { app } = await setUp()
  const { get, createCampaign, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate({}, { job_id: 'J-7', methods: ['skill_verification'] })
  await createCampaign(mandate_id, [aCandidate(1, { metadata: { batch: 'A', __proto__x: 'b' } })])
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
  const partner = await createCampaignPartner(app)
  const firstMandate = await partner.createMandate({}, { job_id: 'J-1' })
  const secondMandate = await partner.createMandate({}, { job_id: 'J-2' })
  const firstCampaign = await partner.createCampaign(firstMandate.mandate_id, [aTestNumberCandidate(5), aCandidate(1)])
  await partner.createCampaign(secondMandate.mandate_id, [aCandidate(2)])
  await passTime(app, 1000)
  const findExternalIds = async (query: string) =>
    (await partner.get(`/results?${query}`)).body.data.items.map(
      ({ candidate }: any) => candidate.external_candidate_id,
    )
  assert.deepEqual((await findExternalIds(`campaign_id=${firstCampaign.campaign.campaign_id}`)).sort(), [
    'ext-1',
    'ext-5',
  ])
  assert.deepEqual(await findExternalIds(`mandate_id=${secondMandate.mandate_id}`), ['ext-2'])
  assert.deepEqual((await findExternalIds('job_id=J-1')).sort(), ['ext-1', 'ext-5'])
  assert.deepEqual(await findExternalIds('job_id=J-1&status=declined'), ['ext-5'])
  assert.deepEqual(await findExternalIds('job_id=J-3'), [])
  const { result_id } = (await partner.get('/results')).body.data.items[0]
  for (const outsider of [
    await createCampaignPartner(app),
    await createCampaignPartner(app, { mode: 'live', orgId: partner.orgId }),
  ]) {
    assert.equal((await outsider.get(`/results/${result_id}`)).status, 404)
    assert.deepEqual((await outsider.get('/results')).body.data.items, [])
  }
  assert.deepEqual(errorPaths(await partner.get('/results?status=done&updated_after=yesterday&campaign_id=x')).sort(), [
    'query.campaign_id',
    'query.status',
    'query.updated_after',
  ])
  for (const time of ['yesterday', '2026-03-11', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z'])
    assert.deepEqual(errorPaths(await partner.get(`/results?updated_after=${time}`)), ['query.updated_after'], time)
})

test('result pages follow the order of updates', async () => {
  const { app, clock } = await setUp()
  const { get, createCampaign, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  for (let index = 0; index < 5; index++) {
    await createCampaign(mandate_id, [aCandidate(index)])
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
  const laterResults = (await get(`/results?updated_after=${encodeURIComponent(updateTimes[2]!)}`)).body.data.items
  assert.deepEqual(
    laterResults.map(({ updated_at }: any) => updated_at),
    updateTimes.slice(3),
  )
  assert.deepEqual((await get(`/results?updated_after=${encodeURIComponent(updateTimes[4]!)}`)).body.data.items, [])
})

test('a poller that continues from the last update misses nothing, however late a change commits', async () => {
  const { app, context, clock } = await setUp()
  const { get, createCampaign, createMandate, scope } = await createCampaignPartner(app, { peoplePerDay: 1000 })
  const { mandate_id } = await createMandate()
  const candidates = Array.from({ length: 24 }, (_, index) => aCandidate(index))
  await createCampaign(mandate_id, candidates)
  const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates where org_id = ${scope.orgId}`.execute(context.db.queries)
  let isWriting = true
  const versionsSeen = new Map<string, number>()
  const poller = (async () => {
    let since = ''
    while (true) {
      const isLastRound = !isWriting
      let cursor = ''
      const updatedAfter = since
      do {
        const query = `limit=7${updatedAfter && `&updated_after=${updatedAfter}`}${cursor && `&cursor=${cursor}`}`
        const { status, body } = await get(`/results?${query}`)
        assert.equal(status, 200, JSON.stringify(body))
        const { data } = body
        for (const { result_id, version, updated_at } of data.items) {
          versionsSeen.set(result_id, Math.max(version, versionsSeen.get(result_id) ?? 0))
          if (updated_at > since) since = updated_at
        }
        cursor = data.next_cursor
      } while (cursor)
      if (isLastRound) return
    }
  })()
  await Promise.all(
    rows.map(async ({ candidate_id }, index) => {
      for (let time = 0; time < 3; time++) {
        await context.db.transaction(async (tx) => {
          const candidate = (await lockCandidacy(tx, candidate_id))!
          clock.advance(1)
          await handleReply(tx, context, candidate, { channel: 'page', input: { kind: 'reply', text: 'hm' } })
          if (index % 4 === 0) await sql`select pg_sleep(0.05)`.execute(tx) // commits long after the update
        })
      }
    }),
  )
  isWriting = false
  await poller
  const { rows: storedResults } = await sql<{ result_id: string; version: number }>`
      select result_id, version from candidate_progress where org_id = ${scope.orgId}`.execute(context.db.queries)
  assert.deepEqual(
    Object.fromEntries([...versionsSeen].sort()),
    Object.fromEntries(storedResults.map(({ result_id, version }) => [result_id, version] as const).sort()),
  )
})
