/**
 * Measures how long the console's lists take over HTTP with 100,000 rows each, in pages of 100, one request at a time, as a
 * signed-in operator waits for them.
 */
import { startConversation } from '../server/conversation/conversation.ts'
import { SECOND } from '../server/platform/clock.ts'
import type { TestApp } from '../test/support/app.ts'
import { signIn } from '../test/support/console.ts'
import { withTestApp } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, median, runFromCommandLine } from './support/benchmark.ts'
import { EMPTY_SEALED_TEXT } from './support/sealed-text.ts'

interface Sizes {
  rowsPerTable: number
  pagesPerList: number
}

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  return withTestApp((app) =>
    measureLists(app, short ? { rowsPerTable: 2_000, pagesPerList: 3 } : { rowsPerTable: 100_000, pagesPerList: 20 }),
  )
}

async function measureLists(app: TestApp, { rowsPerTable, pagesPerList }: Sizes): Promise<BenchmarkRow[]> {
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const { mandate_id, workflow_id } = await app.fixtures.createMandate({ orgId, mode: 'test' })
  const operator = await signIn(app)
  const now = new Date(clock.now())
  const execute = (text: string, values: unknown[] = []) => context.db.pool.query(text, values)

  await execute(
    `insert into request_log (at, org_id, mode, api, key_id, method, route, status, duration_ms, request_id)
     select $1, $2, 'test', 'partner', 'VFN_TEST_X', 'GET', '/api/v1/partner/workflows', case when n % 100 = 0 then 404 else 200 end, 1, 'req_' || n
     from generate_series(1, ${rowsPerTable}) n`,
    [now, orgId],
  )
  await execute(
    `insert into audit_log (audit_id, at, who, org_id, action) select 'AU_' || lpad(n::text, 26, '0'), $1, 'operator', $2, 'x'
     from generate_series(1, ${rowsPerTable}) n`,
    [now, orgId],
  )
  await execute(
    `insert into mails (mail_id, kind, to_address, content, status, created_at)
     select 'ML_' || lpad(n::text, 26, '0'), 'notice', 'a@example.com', ${EMPTY_SEALED_TEXT}, 'kept', $1 from generate_series(1, ${rowsPerTable}) n`,
    [now],
  )
  await execute(
    `insert into verification_students (user_id, org_id, mode, external_student_id, created_at) values ('SU_X', $1, 'test', 's', $2)`,
    [orgId, now],
  )
  await execute(
    `insert into verification_sessions (verification_id, org_id, mode, user_id, token_hash, status, student, items, created_at, updated_at, expires_at)
     select 'SV_' || lpad(n::text, 26, '0'), $1, 'test', 'SU_X', sha256(n::text::bytea), 'completed',
       '{"externalStudentId":"s","name":"Asha"}', '{}', $2::timestamptz - n * interval '1 second', $2, $2 from generate_series(1, ${rowsPerTable}) n`,
    [orgId, now],
  )
  await execute(
    `insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, candidates, pending, created_at, updated_at)
     select 'CP_' || lpad(c::text, 26, '0'), $1, 'test', $2, $3, 'playground', 1, $4, 2000, 2000, $4, $4 from generate_series(1, 50) c`,
    [orgId, mandate_id, workflow_id, now],
  )
  await execute(
    `insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, name, phone, metadata, token_hash, token, enrolled_at)
     select 'CD_' || lpad(n::text, 26, '0'), 'CP_' || lpad((n % 50 + 1)::text, 26, '0'), $1, 'test', 'c' || n, 'Person ' || n, '+91' || n, '{}',
       sha256(n::text::bytea), ${EMPTY_SEALED_TEXT}, $2 from generate_series(1, ${rowsPerTable}) n`,
    [orgId, now],
  )
  await execute(
    `insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version, conversation, created_at, updated_at)
     select candidate_id, campaign_id, org_id, mode, $1, 'RS_' || right(candidate_id, 26),
       case when right(candidate_id, 1) in ('0', '5') then 'completed' else 'pending' end, 1, $3, $2, $2 from candidates`,
    [mandate_id, now, JSON.stringify(startConversation('en', false, 'seed'))],
  )
  await execute(
    `insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, conversation_step, content, created_at, updated_at)
     select 'MS_' || right(candidate_id, 26) || k, candidate_id, campaign_id, org_id, mode, 'out', 'whatsapp', 'delivered', 1,
       '[{"step":1,"kind":"notice","text":"Hello","choices":[]}]', $1, $1 from candidates, generate_series(1, 2) k`,
    [now],
  )
  const modePath = `/orgs/${orgId}/test`
  await operator.get(`${modePath}/results`) // the first read assigns a list position to every result
  await execute('vacuum analyze')

  const pathsByList: Record<string, string> = {
    'request log': `${modePath}/requests?limit=100`,
    'request log, failed calls': `${modePath}/requests?limit=100&failed=true`,
    'audit log of an organisation': `/orgs/${orgId}/audit?limit=100`,
    mailbox: '/operator/mails?limit=100',
    'verifications, all': `${modePath}/verifications?limit=100`,
    'verifications by status': `${modePath}/verifications?limit=100&status=completed`,
    phones: `${modePath}/phone?limit=100`,
    'phones of a campaign': `${modePath}/phone?limit=100&campaign_id=CP_${'25'.padStart(26, '0')}`,
    'phones by name': `${modePath}/phone?limit=100&q=Person%2099999`,
    'candidates of a campaign': `${modePath}/campaigns/CP_${'25'.padStart(26, '0')}/candidates?limit=100`,
    results: `${modePath}/results?limit=100`,
    people: `${modePath}/people?limit=100`,
    // No candidate qualified, so the server reads as many results as it may read for one page.
    'people to call, none found': `${modePath}/people?limit=100&verdict=to_call`,
    'people to call of a campaign': `${modePath}/people?limit=100&verdict=to_call&campaign_id=CP_${'25'.padStart(26, '0')}`,
    campaigns: `${modePath}/campaigns?limit=100`,
    'start page': `${modePath}/summary?`,
    'operator start page': '/operator/now?',
  }
  const rows: BenchmarkRow[] = []
  for (const [name, path] of Object.entries(pathsByList)) {
    const timesMs: number[] = []
    let cursor: string | null | undefined = ''
    for (let page = 0; page < pagesPerList; page++) {
      clock.advance(SECOND)
      const startedAt = performance.now()
      const { status, body } = await operator.get(path + (cursor ? `&cursor=${cursor}` : ''))
      timesMs.push(performance.now() - startedAt)
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
      cursor = body.data.next_cursor
    }
    timesMs.shift() // the first request prepares statements
    rows.push({ name, value: median(timesMs), unit: 'ms per page', note: 'median' })
  }
  return rows
}

if (import.meta.main) await runFromCommandLine('console-lists', runBenchmark)
