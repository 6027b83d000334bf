import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { liveProcesses } from '../../platform/database/process-heartbeat.ts'
import { cooldownsOf, lately429 } from './cooldowns.ts'

/** Mails looked at for what failed: those that were asked for last. */
const LAST_MAILS = 5000
const MOST_LISTED = 20

interface FailingEndpoint {
  webhook_id: string
  org_id: string
  org_name: string
  mode: 'test' | 'live'
  url: string
  failing_since: Date
}

interface FailedCall {
  at: Date
  org_id: string
  org_name: string
  mode: 'test' | 'live'
  method: string
  route: string
  code: string | null
  request_id: string
}

/** What somebody who was woken up needs to know first. */
export async function stateNow(context: Context) {
  const { db, clock, queue } = context
  const now = clock.now()
  const [{ rows: counts }, { rows: endpoints }, { rows: calls }, depths, processes, refused] = await Promise.all([
    sql<Record<string, number> & { service_off: boolean }>`
      select (select service_off from service_switch) as service_off,
        (select count(*) from organisations where service_off)::int as organisations_off,
        (select count(*) from skill_requests where status = 'pending')::int as skill_requests,
        mails.failed, mails.queued
      from (
        select count(*) filter (where status = 'failed' and created_at > ${new Date(now - DAY)})::int as failed,
          count(*) filter (where status = 'queued')::int as queued
        from (select status, created_at from mails order by mail_id desc limit ${LAST_MAILS}) as latest
      ) as mails`.execute(db.queries),
    sql<FailingEndpoint>`
      select w.webhook_id, w.org_id, o.name as org_name, w.mode, w.url, w.failing_since
      from webhooks w join organisations o using (org_id) where w.status = 'failing'
      order by w.failing_since limit ${MOST_LISTED}`.execute(db.queries),
    sql<FailedCall>`
      select at, org_id, o.name as org_name, mode, method, route, code, request_id from request_log r join organisations o using (org_id)
      where at > ${new Date(now - HOUR)} and status >= 500 order by at desc, id desc limit ${MOST_LISTED}`.execute(
      db.queries,
    ),
    queue.depths(),
    liveProcesses(db, now),
    lately429(context),
  ])
  const resting = await cooldownsOf(
    context,
    refused.map(({ key_id }) => key_id),
  )
  const found = counts[0]!
  const sum = (name: 'waiting' | 'active' | 'failed') => depths.reduce((total, depth) => total + depth[name], 0)
  return {
    service_on: !found.service_off,
    organisations_off: found.organisations_off!,
    processes: processes.length,
    workers: processes.filter(({ roles }) => roles.includes('worker')).length,
    jobs: {
      waiting: sum('waiting'),
      active: sum('active'),
      failed: sum('failed'),
      oldest_seconds: Math.max(0, ...depths.map(({ oldestSeconds }) => oldestSeconds)),
    },
    mails: { failed_today: found.failed!, queued: found.queued! },
    failing_endpoints: endpoints.map((each) => ({ ...each, failing_since: each.failing_since?.toISOString() ?? null })),
    failed_calls: calls.map(({ at, ...call }) => ({ at: at.toISOString(), ...call })),
    resting_keys: resting.length,
    skill_requests: found.skill_requests!,
  }
}
