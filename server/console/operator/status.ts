import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { liveProcesses } from '../../platform/database/process-heartbeat.ts'
import { findActiveCooldowns, findRecentlyRateLimitedKeys } from './cooldowns.ts'

/** An endpoint is listed if all attempts of this time have failed. */
const FAILING_ENDPOINT_MS = 10 * MINUTE
/** Only this many of the newest emails are counted, which bounds the query. */
const MAX_EMAILS_COUNTED = 5000
/** Maximum number of failing endpoints, and of failed requests, in the response. */
const MAX_FAILURES_LISTED = 20

interface FailingEndpoint {
  webhook_id: string
  org_id: string
  org_name: string
  mode: 'test' | 'live'
  url: string
  failing_since: Date
}

interface FailedRequest {
  at: Date
  org_id: string
  org_name: string
  mode: 'test' | 'live'
  method: string
  route: string
  code: string | null
  request_id: string
}

/** Returns the figures that an operator checks first during an incident. */
export async function operatorStatus(context: Context) {
  const { db, clock, queue } = context
  const now = clock.now()
  const [{ rows: counts }, { rows: endpoints }, { rows: requests }, queueDepths, processes, rateLimitedKeys] =
    await Promise.all([
      sql<Record<string, number> & { service_off: boolean }>`
      select (select service_off from service_switch) as service_off,
        (select count(*) from organisations where service_off)::int as organisations_off,
        (select count(*) from skill_requests where status = 'pending')::int as skill_requests,
        (select count(*) from dead_letters)::int as dead_letters,
        mails.failed, mails.queued, mails.retrying
      from (
        select count(*) filter (where status = 'failed' and created_at > ${new Date(now - DAY)})::int as failed,
          count(*) filter (where status = 'queued')::int as queued,
          count(*) filter (where status = 'queued' and attempts > 0)::int as retrying
        from (select status, attempts, created_at from mails order by mail_id desc limit ${MAX_EMAILS_COUNTED}) as latest
      ) as mails`.execute(db.queries),
      sql<FailingEndpoint>`
      select w.webhook_id, w.org_id, o.name as org_name, w.mode, w.url, w.failing_since
      from webhooks w join organisations o using (org_id) where w.status = 'failing' or (w.status = 'enabled' and w.failing_since < ${new Date(now - FAILING_ENDPOINT_MS)})
      order by w.failing_since limit ${MAX_FAILURES_LISTED}`.execute(db.queries),
      sql<FailedRequest>`
      select at, org_id, o.name as org_name, mode, method, route, code, request_id from request_log r join organisations o using (org_id)
      where at > ${new Date(now - HOUR)} and status >= 500 order by at desc, id desc limit ${MAX_FAILURES_LISTED}`.execute(
        db.queries,
      ),
      queue.depths(),
      liveProcesses(db, now),
      findRecentlyRateLimitedKeys(context),
    ])
  const cooldowns = await findActiveCooldowns(
    context,
    rateLimitedKeys.map(({ key_id }) => key_id),
  )
  const totals = counts[0]!
  const sumOverQueues = (name: 'waiting' | 'active' | 'failed') =>
    queueDepths.reduce((total, depth) => total + depth[name], 0)
  return {
    service_on: !totals.service_off,
    organisations_off: totals.organisations_off!,
    processes: processes.length,
    workers: processes.filter(({ roles }) => roles.includes('worker')).length,
    jobs: {
      waiting: sumOverQueues('waiting'),
      active: sumOverQueues('active'),
      failed: sumOverQueues('failed'),
      oldest_seconds: Math.max(0, ...queueDepths.map(({ oldestSeconds }) => oldestSeconds)),
    },
    mails: { failed_today: totals.failed!, queued: totals.queued!, retrying: totals.retrying! },
    dead_letters: totals.dead_letters!,
    failing_endpoints: endpoints.map((endpoint) => ({
      ...endpoint,
      failing_since: endpoint.failing_since?.toISOString() ?? null,
    })),
    failed_calls: requests.map(({ at, ...request }) => ({ at: at.toISOString(), ...request })),
    resting_keys: cooldowns.length,
    skill_requests: totals.skill_requests!,
  }
}
