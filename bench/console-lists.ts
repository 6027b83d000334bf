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

interface Sizes {
  rows: number
  pages: number
}

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  return withTestApp((app) => measure(app, short ? { rows: 2_000, pages: 3 } : { rows: 100_000, pages: 20 }))
}

async function measure(app: TestApp, { rows: rowCount, pages }: Sizes): Promise<BenchmarkRow[]> {
  const { context, clock } = app
  const { orgId } = await app.given.org()
  const { mandate_id, workflow_id } = await app.given.mandate({ orgId, mode: 'test' })
  const operator = await signIn(app)
  const now = new Date(clock.now())
  const fill = (text: string, values: unknown[] = []) => context.db.pool.query(text, values)

  await fill(
    `insert into request_log (at, org_id, mode, api, key_id, method, route, status, duration_ms, request_id)
     select $1, $2, 'test', 'partner', 'VFN_TEST_X', 'GET', '/api/v1/partner/workflows', case when n % 100 = 0 then 404 else 200 end, 1, 'req_' || n
     from generate_series(1, ${rowCount}) n`,
    [now, orgId],
  )
  await fill(
    `insert into audit_log (audit_id, at, who, org_id, action) select 'AU_' || lpad(n::text, 26, '0'), $1, 'operator', $2, 'x'
     from generate_series(1, ${rowCount}) n`,
    [now, orgId],
  )
  await fill(
    `insert into mails (mail_id, kind, to_address, content, status, created_at)
     select 'ML_' || lpad(n::text, 26, '0'), 'notice', 'a@example.com', '', 'kept', $1 from generate_series(1, ${rowCount}) n`,
    [now],
  )
  await fill(
    `insert into verification_students (user_id, org_id, mode, external_student_id, created_at) values ('SU_X', $1, 'test', 's', $2)`,
    [orgId, now],
  )
  await fill(
    `insert into verification_sessions (verification_id, org_id, mode, user_id, token_hash, status, student, items, created_at, updated_at, expires_at)
     select 'SV_' || lpad(n::text, 26, '0'), $1, 'test', 'SU_X', sha256(n::text::bytea), 'completed',
       '{"externalStudentId":"s","name":"Asha"}', '{}', $2::timestamptz - n * interval '1 second', $2, $2 from generate_series(1, ${rowCount}) n`,
    [orgId, now],
  )
  await fill(
    `insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, candidates, pending, created_at, updated_at)
     select 'CP_' || lpad(c::text, 26, '0'), $1, 'test', $2, $3, 'playground', 1, $4, 2000, 2000, $4, $4 from generate_series(1, 50) c`,
    [orgId, mandate_id, workflow_id, now],
  )
  await fill(
    `insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, name, phone, metadata, token_hash, token, enrolled_at)
     select 'CD_' || lpad(n::text, 26, '0'), 'CP_' || lpad((n % 50 + 1)::text, 26, '0'), $1, 'test', 'c' || n, 'Person ' || n, '+91' || n, '{}',
       sha256(n::text::bytea), '', $2 from generate_series(1, ${rowCount}) n`,
    [orgId, now],
  )
  await fill(
    `insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version, conversation, created_at, updated_at)
     select candidate_id, campaign_id, org_id, mode, $1, 'RS_' || right(candidate_id, 26),
       case when right(candidate_id, 1) in ('0', '5') then 'completed' else 'pending' end, 1, $3, $2, $2 from candidates`,
    [mandate_id, now, JSON.stringify(startConversation('en', false))],
  )
  await fill(
    `insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, conversation_step, content, created_at, updated_at)
     select 'MS_' || right(candidate_id, 26) || k, candidate_id, campaign_id, org_id, mode, 'out', 'whatsapp', 'delivered', 1,
       '[{"step":1,"kind":"notice","text":"Hello","choices":[]}]', $1, $1 from candidates, generate_series(1, 2) k`,
    [now],
  )
  const base = `/orgs/${orgId}/test`
  await operator.get(`${base}/results`) // assigns a sequence number to every result, as the first read does
  await fill('vacuum analyze')

  const lists: Record<string, string> = {
    'request log': `${base}/requests?limit=100`,
    'request log, failed calls': `${base}/requests?limit=100&failed=true`,
    'audit log of an organisation': `/orgs/${orgId}/audit?limit=100`,
    mailbox: '/operator/mails?limit=100',
    'verifications, all': `${base}/verifications?limit=100`,
    'verifications by status': `${base}/verifications?limit=100&status=completed`,
    phones: `${base}/phone?limit=100`,
    'phones of a campaign': `${base}/phone?limit=100&campaign_id=CP_${'25'.padStart(26, '0')}`,
    'phones by name': `${base}/phone?limit=100&q=Person%2099999`,
    'candidates of a campaign': `${base}/campaigns/CP_${'25'.padStart(26, '0')}/candidates?limit=100`,
    results: `${base}/results?limit=100`,
    people: `${base}/people?limit=100`,
    // No candidate qualified, so the page reads as many results as a page may read.
    'people to call, none found': `${base}/people?limit=100&verdict=to_call`,
    'people to call of a campaign': `${base}/people?limit=100&verdict=to_call&campaign_id=CP_${'25'.padStart(26, '0')}`,
    campaigns: `${base}/campaigns?limit=100`,
    'start page': `${base}/summary?`,
    'operator start page': '/operator/now?',
  }
  const rows: BenchmarkRow[] = []
  for (const [name, path] of Object.entries(lists)) {
    const times: number[] = []
    let cursor: string | null | undefined = ''
    for (let page = 0; page < pages; page++) {
      clock.advance(SECOND)
      const startedAt = performance.now()
      const { status, body } = await operator.get(path + (cursor ? `&cursor=${cursor}` : ''))
      times.push(performance.now() - startedAt)
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
      cursor = body.data.next_cursor
    }
    times.shift() // the first request prepares statements
    rows.push({ name, value: median(times), unit: 'ms per page', note: 'median' })
  }
  return rows
}

if (import.meta.main) await runFromCommandLine('console-lists', run)
