import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { isNotPaused, type PausedOrganisations } from '../../access/service-switch.ts'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'
import { redactAddresses } from '../../platform/text/redact-addresses.ts'
import type { AdapterName, ReportKind } from '../adapter.ts'
import { findOrderKeys, openAttempt, sealAttempt } from '../personal-values.ts'

/** Notification topic: a report may be due. */
export const REPORT_DUE = 'ats report due'

/** A report that failed and is not sent again. */
export interface FailedReport {
  orgId: string
  mode: 'test' | 'live'
  connectionId: string
  adapter: AdapterName
}

/** Runs in the transaction in which a report fails permanently. */
export const reportFailed =
  defineHook<[tx: Tx, clock: Clock, report: FailedReport]>('reportFailed').handledBy('console')

type ReportState = 'pending' | 'delivered' | 'failed'

/** One message to the ATS about an order. The reports of an order are sent in the order of their numbers. */
export interface AtsReport {
  order_id: string
  number: number
  kind: ReportKind
  state: ReportState
  attempts: number
  next_attempt_at: Date
  last_request: { method: string; url: string; body?: object | undefined } | null
  last_status: number | null
  last_error: string | null
  last_response: string | null
  created_at: Date
  delivered_at: Date | null
}

export interface NewReport {
  order_id: string
  org_id: string
  mode: 'test' | 'live'
  connection_id: string
  kind: ReportKind
  version: number
}

/** Queues a report after the earlier ones of the order, which the caller has locked. */
export async function queueReport(tx: Tx, clock: Clock, report: NewReport): Promise<void> {
  const now = new Date(clock.now())
  await sql`
    insert into ats_reports (order_id, number, org_id, mode, connection_id, kind, version, next_attempt_at, created_at)
    select ${report.order_id}, coalesce(max(number), 0) + 1, ${report.org_id}, ${report.mode}, ${report.connection_id}, ${report.kind},
      ${report.version}, ${now}, ${now}
    from ats_reports where order_id = ${report.order_id}`.execute(tx)
  notifyAfterCommit(tx, REPORT_DUE)
}

export async function listReports(queries: Queries, orderIds: string[]): Promise<AtsReport[]> {
  const { rows } = await sql<Omit<AtsReport, 'last_request' | 'last_response'> & { personal: Buffer | null }>`
    select order_id, number, kind, state, attempts, next_attempt_at, last_status, last_error, personal, created_at, delivered_at
    from ats_reports where order_id = any (${orderIds}::text[]) order by order_id, number`.execute(queries)
  const keys = await findOrderKeys(queries, orderIds)
  return rows.map(({ personal, ...row }) => ({
    ...row,
    ...openAttempt(keys.get(row.order_id) ?? null, { ...row, personal }),
  }))
}

/** Sends the last report of an order again. Earlier reports are not repeated, because the ATS has newer information. */
export async function replayReport(tx: Tx, clock: Clock, { orgId, mode }: OrgScope, orderId: string): Promise<number> {
  const { rows } = await sql<{ number: number; connection_state: string }>`
    select number, c.state as connection_state
    from ats_reports r join ats_connections c using (connection_id)
    where order_id = ${orderId} and r.org_id = ${orgId} and r.mode = ${mode}
    order by number desc limit 1 for update of r`.execute(tx)
  const report = rows[0]
  if (!report)
    throw problem('CONFLICT', 'There is no report to send again: the assessment has neither started nor ended.')
  if (report.connection_state !== 'active')
    throw problem('CONFLICT', 'The ATS is disconnected; reports can no longer be sent.')
  await sql`update ats_reports set state = 'pending', failures = 0, next_attempt_at = ${new Date(clock.now())}
    where order_id = ${orderId} and number = ${report.number}`.execute(tx)
  notifyAfterCommit(tx, REPORT_DUE)
  return report.number
}

/** Fails the pending reports of a connection. */
export async function failPendingReports(tx: Tx, connectionId: string, error: string): Promise<void> {
  await sql`update ats_reports set state = 'failed', last_error = ${error}
    where connection_id = ${connectionId} and state = 'pending'`.execute(tx)
}

/** A report whose attempt this process makes. */
export interface ClaimedReport {
  order_id: string
  number: number
  kind: ReportKind
  version: number
  failures: number
  connection_id: string
  timestamp_ms: number
}

/** A report waits for the earlier ones of its order. */
const isFirstPending = sql`not exists (
  select from ats_reports e where e.order_id = r.order_id and e.state = 'pending' and e.number < r.number)`

export interface ClaimOptions {
  limit: number
  /** Time until another process may claim the report. */
  leaseMs: number
  paused: PausedOrganisations
  /** Connections with enough attempts in flight. */
  busyConnections: string[]
}

/** Claims due reports, at most one of each order, and gives each a time that is greater than that of the order's earlier reports. */
export async function claimDueReports(
  tx: Tx,
  now: number,
  { limit, leaseMs, paused, busyConnections }: ClaimOptions,
): Promise<ClaimedReport[]> {
  const { rows } = await sql<ClaimedReport>`
    with due as (
      select order_id, number from ats_reports r
      where state = 'pending' and next_attempt_at <= ${new Date(now)} and ${isFirstPending}
        and ${isNotPaused(sql`r.org_id`, paused)} and connection_id <> all (${busyConnections}::text[])
      order by next_attempt_at limit ${limit} for update skip locked
    ), claimed as (
      update ats_reports r set attempts = attempts + 1, next_attempt_at = ${new Date(now + leaseMs)}
      from due where r.order_id = due.order_id and r.number = due.number
      returning r.order_id, r.number, r.kind, r.version, r.failures, r.connection_id
    ), timed as (
      update ats_orders o set last_timestamp_ms = greatest(${now}, last_timestamp_ms + 1)
      from claimed where o.order_id = claimed.order_id
      returning o.order_id, o.last_timestamp_ms
    )
    select claimed.*, last_timestamp_ms as timestamp_ms from claimed join timed using (order_id)`.execute(tx)
  return rows
}

/** Returns the time at which the next report is due, in epoch milliseconds; undefined if there is none. */
export async function nextReportDue(
  queries: Queries,
  paused: PausedOrganisations,
  busyConnections: string[],
): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(next_attempt_at) as due from ats_reports r
    where state = 'pending' and ${isFirstPending} and ${isNotPaused(sql`r.org_id`, paused)}
      and connection_id <> all (${busyConnections}::text[])`.execute(queries)
  return rows[0]!.due?.getTime()
}

export interface ReportAttempt {
  request: { method: string; url: string; body?: object | undefined } | null
  statusCode: number | null
  /** Null for a 2xx response. */
  error: string | null
  responseText: string
  /** The next attempt after a failure; undefined if the report has failed permanently. */
  retryAt: number | undefined
}

/** Stores the outcome of an attempt. A report that was failed in the meantime, because the ATS was disconnected, stays failed. */
export async function recordAttempt(
  tx: Tx,
  clock: Clock,
  report: ClaimedReport,
  attempt: ReportAttempt,
): Promise<void> {
  const now = clock.now()
  const { error, retryAt } = attempt
  const state: ReportState = error === null ? 'delivered' : retryAt === undefined ? 'failed' : 'pending'
  const personal = await sealAttempt(tx, report.order_id, report.number, {
    last_request: attempt.request,
    last_response: attempt.responseText,
  })
  const { rows } = await sql<FailedReport>`
    update ats_reports r set state = ${state}, failures = case when ${error === null} then 0 else failures + 1 end,
      next_attempt_at = ${new Date(retryAt ?? now)}, personal = ${personal}, last_status = ${attempt.statusCode},
      last_error = ${error === null ? null : redactAddresses(error)},
      delivered_at = case when ${state === 'delivered'} then ${new Date(now)}::timestamptz else delivered_at end
    from ats_connections c
    where order_id = ${report.order_id} and number = ${report.number} and r.state = 'pending' and c.connection_id = r.connection_id
    returning r.org_id as "orgId", r.mode, r.connection_id as "connectionId", c.adapter`.execute(tx)
  if (state === 'failed' && rows[0]) await reportFailed.run(tx, clock, rows[0])
  if (state === 'delivered')
    await sql`update ats_orders set reported_version = greatest(coalesce(reported_version, 0), ${report.version})
      where order_id = ${report.order_id}`.execute(tx)
}
