/**
 * Measures how long the console's lists take over HTTP, in pages of 100, one request at a time, as a signed-in operator waits for them:
 * with 100,000 rows each, then with 1,000,000 candidates. Searches, filters and sorts of candidates are measured by their first page, with
 * the count. BENCH_CANDIDATES=100000 measures only one number of candidates.
 */
import { sql } from 'kysely'
import type { OrgScope } from '../server/access/caller.ts'
import { refreshCandidateList } from '../server/console/candidates/candidate-list.ts'
import { startConversation } from '../server/conversation/conversation.ts'
import { identifyPerson } from '../server/people/identity/people.ts'
import { SECOND } from '../server/platform/clock.ts'
import { redactSession, sealSession } from '../server/verification/personal-values.ts'
import type { TestApp } from '../test/support/app.ts'
import { signIn } from '../test/support/console.ts'
import { withTestApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  formatFigure,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'
import { insertCandidates } from './support/candidates.ts'
import { EMPTY_SEALED_TEXT } from './support/sealed-text.ts'

const FIRST_NAMES = ['Ramesh', 'Sunita', 'Anil', 'Kavita', 'Suresh', 'Rekha', 'Manoj', 'Geeta', 'Rajesh', 'Priya']
const LAST_NAMES = ['Kumar', 'Sharma', 'Devi', 'Singh', 'Yadav', 'Patel', 'Reddy']

/** The number of rows of the lists that contain no candidates. */
const MAX_OTHER_ROWS = 100_000
const SESSIONS_PER_BATCH = 20_000

interface Sizes {
  candidateCount: number
  pagesPerList: number
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const candidateCounts = process.env.BENCH_CANDIDATES ? [Number(process.env.BENCH_CANDIDATES)] : [100_000, 1_000_000]
  const rows: BenchmarkRow[] = []
  for (const candidateCount of short ? [2_000] : candidateCounts)
    rows.push(
      ...(await withTestApp(async (app) =>
        measureLists(app, await insertRows(app, candidateCount), { candidateCount, pagesPerList: short ? 3 : 20 }),
      )),
    )
  return rows
}

interface InsertedRows {
  orgId: string
  mandateId: string
}

/** Creates an organisation with candidates, and rows of the other lists. */
async function insertRows(app: TestApp, candidateCount: number): Promise<InsertedRows> {
  const otherRowCount = Math.min(candidateCount, MAX_OTHER_ROWS)
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const { mandate_id, workflow_id } = await app.fixtures.createMandate({ orgId, mode: 'test' })
  const now = new Date(clock.now())
  const execute = (text: string, values: unknown[] = []) => context.db.pool.query(text, values)

  await execute(
    `insert into request_log (at, org_id, mode, api, key_id, method, route, status, duration_ms, request_id)
     select $1, $2, 'test', 'partner', 'VFN_TEST_X', 'GET', '/api/v1/partner/workflows', case when n % 100 = 0 then 404 else 200 end, 1, 'req_' || n
     from generate_series(1, ${otherRowCount}) n`,
    [now, orgId],
  )
  await execute(
    `insert into audit_log (audit_id, at, who, org_id, action) select 'AU_' || lpad(n::text, 26, '0'), $1, 'operator', $2, 'x'
     from generate_series(1, ${otherRowCount}) n`,
    [now, orgId],
  )
  await execute(
    `insert into mails (mail_id, kind, to_address, content, status, created_at)
     select 'ML_' || lpad(n::text, 26, '0'), 'notice', 'a@example.com', ${EMPTY_SEALED_TEXT}, 'kept', $1 from generate_series(1, ${otherRowCount}) n`,
    [now],
  )
  await execute(
    `insert into verification_students (user_id, org_id, mode, external_student_id, created_at) values ('SU_X', $1, 'test', 's', $2)`,
    [orgId, now],
  )
  await insertSessions(app, { orgId, mode: 'test' }, otherRowCount)
  await execute(
    `insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, candidates, pending, created_at, updated_at)
     select 'CP_' || lpad(c::text, 26, '0'), $1, 'test', $2, $3, 'playground', 1, $4, 2000, 2000, $4, $4 from generate_series(1, 50) c`,
    [orgId, mandate_id, workflow_id, now],
  )
  const candidates = Array.from({ length: candidateCount }, (_, index) => ({
    candidate_id: `CD_${String(index + 1).padStart(26, '0')}`,
    campaign_id: `CP_${String(((index + 1) % 50) + 1).padStart(26, '0')}`,
    external_candidate_id: `c${index + 1}`,
    name: `${FIRST_NAMES[index % FIRST_NAMES.length]} ${LAST_NAMES[index % LAST_NAMES.length]} ${index + 1}`,
    phone: `+9198${String(index + 1).padStart(8, '0')}`,
    enrolled_at: now,
  }))
  await insertCandidates(context.db, { orgId, mode: 'test' }, candidates, 2)
  await execute(
    `insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version, conversation, created_at, updated_at,
       completed_at)
     select candidate_id, campaign_id, org_id, mode, $1, 'RS_' || right(candidate_id, 26),
       case when is_completed then 'completed' else 'pending' end, 1, $3, $2::timestamptz - n * interval '1 second',
       $2::timestamptz - n * interval '1 second', case when is_completed then $2::timestamptz - n * interval '1 second' end
     from (select *, right(candidate_id, 26)::int as n, right(candidate_id, 1) in ('0', '5') as is_completed from candidates) as c`,
    [mandate_id, now, JSON.stringify(startConversation('en', false, 'seed'))],
  )
  // Assigns a list position to every result, then copies them.
  await refreshCandidateList(context, { orgId, mode: 'test' }, Number.POSITIVE_INFINITY)
  await execute(
    `update candidate_list set verdict = (array['qualified', 'not_qualified', 'undecided'])[1 + right(candidate_id, 26)::int % 3],
       to_call = right(candidate_id, 26)::int % 3 = 0, decision = case when right(candidate_id, 2) = '05' then 'shortlisted' end
     where status = 'completed'`,
  )
  // Only the owner of the tables may do this; the query of another role is skipped with a warning.
  await context.db.asOwner((owner) => owner.pool.query('vacuum analyze'))

  return { orgId, mandateId: mandate_id }
}

/** Measures the lists of an organisation that `insertRows` created. */
async function measureLists(
  app: TestApp,
  { orgId, mandateId }: InsertedRows,
  { candidateCount, pagesPerList }: Sizes,
): Promise<BenchmarkRow[]> {
  const { clock } = app
  const operator = await signIn(app)
  const modePath = `/orgs/${orgId}/test`
  const size = `${candidateCount.toLocaleString('en')} candidates`
  const otherLists: Record<string, string> = {
    'request log': `${modePath}/requests?limit=100`,
    'request log, failed calls': `${modePath}/requests?limit=100&failed=true`,
    'audit log of an organisation': `/orgs/${orgId}/audit?limit=100`,
    mailbox: '/operator/mails?limit=100',
    'verifications, all': `${modePath}/verifications?limit=100`,
    'verifications by status': `${modePath}/verifications?limit=100&status=completed`,
  }
  const candidateLists: Record<string, string> = {
    phones: `${modePath}/phone?limit=100`,
    'phones of a campaign': `${modePath}/phone?limit=100&campaign_id=${campaignId(25)}`,
    'phones by number': `${modePath}/phone?limit=100&q=99999`,
    'phones by a frequent name': `${modePath}/phone?limit=100&q=ramesh`,
    'candidates of a campaign': `${modePath}/campaigns/${campaignId(25)}/candidates?limit=100`,
    results: `${modePath}/results?limit=100`,
    people: `${modePath}/recruiter-results?limit=100`,
    'people to call': `${modePath}/recruiter-results?limit=100&verdict=to_call`,
    'people to call of a campaign': `${modePath}/recruiter-results?limit=100&verdict=to_call&campaign_id=${campaignId(21)}`,
    campaigns: `${modePath}/campaigns?limit=100`,
    'start page': `${modePath}/summary?`,
    'operator start page': '/operator/now?',
  }
  const rows: BenchmarkRow[] = []
  const lists = candidateCount > MAX_OTHER_ROWS ? candidateLists : { ...otherLists, ...candidateLists }
  for (const [name, path] of Object.entries(lists)) {
    const timesMs: number[] = []
    let cursor: string | null | undefined = ''
    for (let page = 0; page <= pagesPerList; page++) {
      clock.advance(SECOND)
      const startedAt = performance.now()
      const { status, body } = await operator.get(path + (cursor ? `&cursor=${cursor}` : ''))
      timesMs.push(performance.now() - startedAt)
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
      cursor = body.data.next_cursor
    }
    timesMs.shift() // the first request prepares statements
    rows.push(pageRow(`${name}, ${name in otherLists ? `${candidateCount.toLocaleString('en')} rows` : size}`, timesMs))
  }
  // Every candidate of campaign 21 has completed, and none of campaign 25.
  const queriesByName: Record<string, string> = {
    'search: first letters of a fifth of the names': 'q=ra',
    'search: two words': 'q=ramesh%20kumar',
    'search: one phone number': 'q=9800012345',
    'search: last four digits': 'q=4321',
    'search: nothing found': 'q=zubin',
    'search within a campaign, by enrolment': `q=sunita&campaign_id=${campaignId(25)}&sort=enrolled_first`,
    'search with a status': 'q=ra&status=completed',
    'search without a decision': 'q=kumar&decision=none',
    'search of a day': 'q=ra&changed_within_hours=24',
    'sort: enrolment': 'sort=enrolled',
    'sort: end': 'sort=completed_first',
    'sort: end, of one search': 'sort=completed&q=kumar',
    'filter: status': 'status=completed',
    'filter: status, by enrolment': 'status=pending&sort=enrolled_first',
    'filter: verdict': 'verdict=not_qualified',
    'filter: decision': 'decision=shortlisted',
    'filter: no decision': 'decision=none',
    'filter: mandate and day': `mandate_id=${mandateId}&changed_within_hours=24`,
    'filter: campaign, by end': `campaign_id=${campaignId(21)}&sort=completed`,
    'filter: campaign and status': `campaign_id=${campaignId(21)}&status=completed`,
    'filter: campaign and status that do not occur together': `campaign_id=${campaignId(25)}&status=completed&sort=enrolled`,
    'filter: status and verdict that do not occur together': 'status=pending&verdict=qualified&sort=enrolled',
    'filter: verdict without a decision, by end': 'verdict=qualified&decision=none&sort=completed',
    'filter: unassigned people to call': 'verdict=to_call&assigned_to=none',
  }
  const allTimesMs: number[] = []
  for (const [name, query] of Object.entries(queriesByName)) {
    const timesMs: number[] = []
    for (let request = 0; request <= pagesPerList; request++) {
      clock.advance(SECOND)
      const startedAt = performance.now()
      const { status, body } = await operator.get(`${modePath}/recruiter-results?limit=50&${query}`)
      timesMs.push(performance.now() - startedAt)
      if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`)
    }
    timesMs.shift() // the first request prepares statements
    allTimesMs.push(...timesMs)
    rows.push(pageRow(`${name}, ${size}`, timesMs))
  }
  rows.push({
    name: `search, sort and filter together, ${size}`,
    value: percentile(allTimesMs, 0.95),
    unit: 'ms per page',
    note: '95th percentile; target: under 150 ms',
    operation: 'Lists of the console',
  })
  return rows
}

function campaignId(number: number): string {
  return `CP_${String(number).padStart(26, '0')}`
}

function pageRow(name: string, timesMs: number[]): BenchmarkRow {
  const medianMs = formatFigure(median(timesMs))
  return { name, value: percentile(timesMs, 0.95), unit: 'ms per page', note: `95th percentile; median ${medianMs}` }
}

/** Inserts completed sessions of one student, with sealed values. */
async function insertSessions({ context, clock }: TestApp, scope: OrgScope, count: number): Promise<void> {
  const now = clock.now()
  const values = {
    student: { externalStudentId: 's', name: 'Asha', email: 'asha@example.com' },
    items: { projects: [], workExperiences: [], certificates: [] },
    skills: [],
    returnUrl: undefined,
  }
  const { student, items } = redactSession(values)
  await context.db.transaction(async (tx) => {
    const { personId, key, emailIndex } = await identifyPerson(tx, scope, now, { email: values.student.email })
    for (let start = 0; start < count; start += SESSIONS_PER_BATCH) {
      const length = Math.min(SESSIONS_PER_BATCH, count - start)
      const ids = Array.from({ length }, (_, index) => `SV_${String(start + index + 1).padStart(26, '0')}`)
      await sql`
        insert into verification_sessions (verification_id, org_id, mode, user_id, person_id, personal, email_index, token_hash, status,
          student, items, created_at, updated_at, expires_at)
        select verification_id, ${scope.orgId}, ${scope.mode}, 'SU_X', ${personId}, personal, ${emailIndex}, sha256(verification_id::bytea),
          'completed', ${JSON.stringify(student)}, ${JSON.stringify(items)},
          ${new Date(now)}::timestamptz - (${start}::int + n) * interval '1 second', ${new Date(now)}, ${new Date(now)}
        from unnest(${ids}::text[], ${ids.map((id) => sealSession(key, id, values))}::bytea[])
          with ordinality as s (verification_id, personal, n)`.execute(tx)
    }
  })
}

if (import.meta.main) await runFromCommandLine('console-lists', runBenchmark)
