import { Counter } from 'prom-client'
import type { Context } from '../../context.ts'
import { SECOND } from '../../platform/clock.ts'
import { runForAllOrganisations } from '../../platform/database/tenant-scope.ts'
import { parseRetryAfter } from '../../platform/http/retry-after.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { nextAttempt } from '../../webhooks/delivery/schedule.ts'
import type { SendResult } from '../../webhooks/delivery/sender.ts'
import type { AtsRequest } from '../adapter.ts'
import { adapters } from '../adapters.ts'
import { MAX_IN_FLIGHT_PER_CONNECTION, openAtsSender, openCall, unsent } from '../calls.ts'
import { getConnection } from '../connections.ts'
import type { AtsOrder } from '../order.ts'
import { findOrderById } from '../orders.ts'
import { reportLinkExpiry, reportUrl } from './links.ts'
import { type ClaimedReport, claimDueReports, nextReportDue, REPORT_DUE, recordAttempt } from './reports.ts'

type ReporterDeps = Pick<Context, 'config' | 'db' | 'clock' | 'log' | 'metrics' | 'vault' | 'keyring'>

/** Longer than an attempt takes. After a crash, another process repeats the attempt at this time. */
const LEASE_MS = 15 * SECOND
const STOP_GRACE_MS = 5 * SECOND
const MAX_IN_FLIGHT = 32
/** With the delays between attempts, a report fails after about four days. */
const MAX_FAILURES = 15
/** Responses that another attempt would not change: the message is wrong, or the ATS has deleted the order. */
const PERMANENT_STATUSES = new Set([400, 404, 405, 409, 410, 415, 422])

/** Sends due reports to the systems that placed the orders. Any number of processes may run this concurrently. */
export function startReporter(context: ReporterDeps): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const attemptsTotal = attemptCounter(context.metrics)
  const sender = openAtsSender(context)
  const attemptsInFlight = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const poller = startDuePoller({
    clock,
    nextDueAt: async () => {
      await keyring.ensureFresh()
      if (running.size >= MAX_IN_FLIGHT) return undefined // each end of an attempt wakes the poller
      return nextReportDue(db.queries, keyring.pausedOrganisations(), busyConnections())
    },
    work: sendDueReports,
    onError: (error) => log.warn({ err: error }, 'sending ATS reports failed, retrying'),
  })
  db.onCommitted(REPORT_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)

  return {
    async stop() {
      await poller.stop()
      const timeout = new Promise((resolve) => setTimeout(resolve, STOP_GRACE_MS).unref())
      await Promise.race([Promise.allSettled(running), timeout])
      await sender.abort()
      await Promise.allSettled(running)
    },
  }

  async function sendDueReports(isStopped: () => boolean) {
    await keyring.ensureFresh()
    while (!isStopped() && running.size < MAX_IN_FLIGHT) {
      const reports = await db.transaction((tx) =>
        claimDueReports(tx, clock.now(), {
          limit: Math.min(MAX_IN_FLIGHT - running.size, MAX_IN_FLIGHT_PER_CONNECTION),
          leaseMs: LEASE_MS,
          paused: keyring.pausedOrganisations(),
          busyConnections: busyConnections(),
        }),
      )
      if (reports.length === 0) return
      for (const report of reports) start(report)
    }
  }

  function busyConnections(): string[] {
    return [...attemptsInFlight].flatMap(([id, count]) => (count >= MAX_IN_FLIGHT_PER_CONNECTION ? [id] : []))
  }

  function start(report: ClaimedReport) {
    const { connection_id: id } = report
    attemptsInFlight.set(id, (attemptsInFlight.get(id) ?? 0) + 1)
    const attempt = runForAllOrganisations(() => makeAttempt(report))
      .catch((error) => log.warn({ err: error, order_id: report.order_id }, 'recording an ATS report failed, retrying'))
      .finally(() => {
        running.delete(attempt)
        const count = attemptsInFlight.get(id)! - 1
        if (count === 0) attemptsInFlight.delete(id)
        else attemptsInFlight.set(id, count)
        poller.wake()
      })
    running.add(attempt)
  }

  async function makeAttempt(report: ClaimedReport): Promise<void> {
    const { request, result } = await send(report)
    const { statusCode, error, responseText, retryAfter } = result
    const now = clock.now()
    const failures = report.failures + 1
    const isPermanent = statusCode !== null && PERMANENT_STATUSES.has(statusCode)
    const retryAt =
      error === null || isPermanent || failures >= MAX_FAILURES
        ? undefined
        : nextAttempt(now, failures, parseRetryAfter(retryAfter, now))
    attemptsTotal.inc({ outcome: error === null ? 'delivered' : 'failed' })
    await db.transaction((tx) =>
      recordAttempt(tx, clock, report, {
        request: request && shownRequest(request),
        statusCode,
        error,
        responseText,
        retryAt,
      }),
    )
  }

  async function send(report: ClaimedReport): Promise<{ request: AtsRequest | null; result: SendResult }> {
    const order = (await findOrderById(db.queries, report.order_id))!
    const request = await buildRequest(order, report)
    if (typeof request === 'string') return { request: null, result: unsent(request) }
    return { request, result: await sender.send(adapters[order.adapter], order.mode, request) }
  }

  /** Returns the request, or why it cannot be built at the moment. */
  async function buildRequest(order: AtsOrder, { kind, timestamp_ms }: ClaimedReport): Promise<AtsRequest | string> {
    const connection = await getConnection(db.queries, { orgId: order.org_id, mode: order.mode }, order.connection_id)
    const call = await openCall(context, connection, order.key_id)
    if (typeof call === 'string') return call
    const { order_id: orderId } = order
    return adapters[order.adapter].buildReport(order, {
      ...call,
      kind,
      reportUrl: reportUrl(context, { orderId, linkKey: call.linkKey, expiresAt: reportLinkExpiry(clock.now()) }),
      timestampMs: timestamp_ms,
    })
  }
}

/** Returns the request as it is stored: without credentials, and without the signature of the link to the report page. */
function shownRequest({ method, url, body }: AtsRequest) {
  const shownBody = body && JSON.parse(JSON.stringify(body).replaceAll(/(\/reports\/AO_[A-Z0-9]+)\.[^"]+/g, '$1…'))
  return { method, url, body: shownBody as object | undefined }
}

function attemptCounter({ registry }: Metrics): Counter<'outcome'> {
  return (
    (registry.getSingleMetric('attestry_ats_report_attempts_total') as Counter<'outcome'>) ??
    new Counter({
      name: 'attestry_ats_report_attempts_total',
      help: 'Attempts to send a report to an applicant tracking system, by outcome: delivered or failed.',
      labelNames: ['outcome'],
      registers: [registry],
    })
  )
}
