import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import type { TestClock } from '../../test/support/clock.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  createCampaignPartner,
  errorPaths,
  passTime,
} from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { assignListPositions, listResults } from './results.ts'

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
  assert.deepEqual(Object.keys(record.output).sort(), ['channel', 'language', 'qualified', 'reasons', 'skills'])
  assert.deepEqual(record.candidate.metadata, { batch: 'A', __proto__x: 'b' })
  assert.deepEqual([record.status, record.reason, record.output.qualified], ['pending', null, null])
  assert.deepEqual([record.job_id, record.started_at, record.completed_at], ['J-7', null, null])
  assert.deepEqual(
    record.output.skills.map(({ verdict, correct, asked }: any) => [verdict, correct, asked]),
    record.output.skills.map(() => ['not_asked', 0, 0]),
  )
  assert.deepEqual((await get(`/results/${record.result_id}`)).body.data, record)
})

test('a candidate who skips an optional knockout question is undecided, unless there is a reason for false', async () => {
  const { app } = await setUp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(
    { languages: ['en'] },
    {
      methods: ['data_enrichment', 'interest_collection'],
      enrichment_questions: [
        { key: 'licence', type: 'yes_no', text: 'Do you hold a licence?', knockout: 'no', required: false },
        { key: 'tools', type: 'yes_no', text: 'Do you have your own tools?', required: false },
        { key: 'nights', type: 'yes_no', text: 'Can you work night shifts?', knockout: 'no' },
      ],
    },
  )
  const candidates = await inviteCandidates(app, partner, mandate_id, [aCandidate(1), aCandidate(2), aCandidate(3)])
  const replies = [
    ['yes', 'skip', 'skip', 'yes', 'yes'],
    ['yes', 'skip', 'skip', 'no'],
    ['yes', 'yes', 'skip', 'yes', 'yes'],
  ]
  for (const [index, { page }] of candidates.entries()) for (const value of replies[index]!) await page.reply({ value })
  const results = await Promise.all(candidates.map(({ getResult }) => getResult()))
  assert.deepEqual(
    results.map(({ status, output }) => [status, output.qualified, output.reasons]),
    [
      ['completed', null, [{ kind: 'knockout_skipped', key: 'licence' }]],
      [
        'completed',
        false,
        [
          { kind: 'knockout_skipped', key: 'licence' },
          { kind: 'knockout', key: 'nights' },
        ],
      ],
      ['completed', true, []],
    ],
  )
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

/** Starts a change of a result in a transaction that stays open until the returned function is called. */
async function changeSlowly(context: Context, clock: TestClock, candidateId: string) {
  const started = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const committed = context.db.transaction(async (tx) => {
    await sendReply(tx, context, candidateId, clock)
    started.resolve()
    await released.promise
  })
  await started.promise
  return async () => {
    released.resolve()
    await committed
  }
}

/** Changes a result: the candidate gives an answer that is not understood, or declines. */
async function sendReply(tx: Tx, { config, mailboxes }: Context, candidateId: string, clock: TestClock, text = 'hm') {
  const candidate = (await lockCandidacy(tx, candidateId))!
  clock.advance(1)
  await handleReply(tx, { clock, config, mailboxes }, candidate, {
    channel: 'page',
    input: { kind: 'reply', text },
  })
}

async function enrolMany(candidateCount: number) {
  const { app, context, clock } = await setUp()
  const partner = await createCampaignPartner(app, { peoplePerDay: 1000 })
  const { mandate_id } = await partner.createMandate()
  const candidates = Array.from({ length: candidateCount }, (_, index) => aCandidate(index))
  const { campaign } = await partner.createCampaign(mandate_id, candidates)
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates where org_id = ${partner.scope.orgId} order by candidate_id`.execute(
    context.db.queries,
  )
  return {
    ...partner,
    context,
    clock,
    campaignId: campaign.campaign_id,
    candidateIds: rows.map((row) => row.candidate_id),
  }
}

test('a change that commits late is listed after the results that were already read, and at a later time', async () => {
  const { get, context, clock, candidateIds } = await enrolMany(3)
  const list = async (query = '') => (await get(`/results?${query}`)).body.data.items as any[]
  const [{ updated_at: enrolledAt }] = await list()
  const commitFirst = await changeSlowly(context, clock, candidateIds[0]!)
  clock.advance(1000)
  await context.db.transaction((tx) => sendReply(tx, context, candidateIds[1]!, clock))

  // The reader does not wait for the open transaction.
  const [second] = await list(`updated_after=${enrolledAt}`)
  assert.equal(second.candidate.candidate_id, candidateIds[1])
  await commitFirst()
  const [first] = await list(`updated_after=${second.updated_at}`)
  assert.equal(first.candidate.candidate_id, candidateIds[0])
  assert.ok(first.updated_at > second.updated_at)
  assert.deepEqual((await get(`/results/${first.result_id}`)).body.data, first)
  const times = (await list()).map(({ updated_at }) => updated_at)
  assert.deepEqual(times, times.toSorted())
})

test('new results are listed at once, although their first change is not committed yet', async () => {
  const { get, context, clock, scope, candidateIds } = await enrolMany(3)
  const commit = await changeSlowly(context, clock, candidateIds[0]!)
  const assigned = assignListPositions(context.db, context.clock, scope, Array(1000).fill(20))
  await until(async () => {
    const { rows } = await sql`
      select from candidate_progress where org_id = ${scope.orgId} and listed_at is not null`.execute(
      context.db.queries,
    )
    return rows.length === 2
  })
  await commit()
  await assigned
  assert.equal((await get('/results')).body.data.items.length, 3)
})

test('a result that changes while a page is read stays at its position, and appears again at its new one', async () => {
  const { context, clock, scope, candidateIds } = await enrolMany(3)
  await assignListPositions(context.db, context.clock, scope)
  clock.advance(1000)
  await context.db.transaction((tx) => sendReply(tx, context, candidateIds[0]!, clock))

  const page = await listResults(context.db.queries, scope, { limit: 10 })
  assert.deepEqual(page.map(({ candidate_id }) => candidate_id).sort(), candidateIds.toSorted())
  await assignListPositions(context.db, context.clock, scope)
  const nextPage = await listResults(context.db.queries, scope, { updated_after: page.at(-1)!.updated_at, limit: 10 })
  assert.deepEqual(
    nextPage.map(({ candidate_id }) => candidate_id),
    [candidateIds[0]],
  )
})

test('pollers miss no change and never go back in time, with and without filters, while transactions stay open', async () => {
  const { get, context, clock, scope, campaignId, candidateIds } = await enrolMany(40)
  let isWriting = true
  const pollers = ['', 'status=declined&', `campaign_id=${campaignId}&status=pending&`].map(poll)
  const openChanges = await Promise.all(candidateIds.slice(0, 4).map((id) => changeSlowly(context, clock, id)))
  await Promise.all(
    candidateIds.slice(4).map(async (candidateId, index) => {
      for (let change = 0; change < 4; change++) {
        const text = change === 3 && index % 2 === 0 ? 'no' : 'hm'
        await context.db.transaction(async (tx) => {
          await sendReply(tx, context, candidateId, clock, text)
          // Some transactions commit after later changes.
          for (let query = 0; query < index % 5; query++) await sql`select pg_stat_clear_snapshot()`.execute(tx)
        })
      }
      if (index % 9 === 0) await openChanges.pop()?.()
    }),
  )
  isWriting = false
  const [all, declined, pending] = await Promise.all(pollers)
  const { rows } = await sql<{ result_id: string; version: number; status: string }>`
    select result_id, version, status from candidate_progress where org_id = ${scope.orgId}`.execute(context.db.queries)
  const versionsOf = (status?: string) =>
    Object.fromEntries(
      rows
        .filter((row) => status === undefined || row.status === status)
        .map(({ result_id, version }) => [result_id, version]),
    )
  assert.deepEqual(all, versionsOf())
  assert.deepEqual(declined, versionsOf('declined'))
  const declinedIds = Object.keys(versionsOf('declined'))
  const stillPending = Object.entries(pending!).filter(([id]) => !declinedIds.includes(id))
  assert.deepEqual(Object.fromEntries(stillPending), versionsOf('pending'))

  /** Follows changes until the writers are done; returns the last version of each result. */
  async function poll(filter: string): Promise<Record<string, number>> {
    const versions: Record<string, number> = {}
    let since = ''
    while (true) {
      const isLastRound = !isWriting
      const updatedAfter = since && `&updated_after=${since}`
      let cursor = ''
      do {
        const { status, body } = await get(`/results?${filter}limit=7${updatedAfter}${cursor && `&cursor=${cursor}`}`)
        assert.equal(status, 200, JSON.stringify(body))
        for (const { result_id, version, updated_at } of body.data.items) {
          assert.ok(updated_at >= since, `${updated_at} after ${since}`)
          assert.ok(version >= (versions[result_id] ?? 0), 'a newer version is never followed by an older one')
          versions[result_id] = version
          since = updated_at
        }
        cursor = body.data.next_cursor
      } while (cursor)
      if (isLastRound) return versions
    }
  }
})
