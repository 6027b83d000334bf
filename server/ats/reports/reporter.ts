import { Counter } from 'prom-client'
import { findStoredAtsKey } from '../../access/ats-keys.ts'
import type { Mode } from '../../access/keys.ts'
import type { Context } from '../../context.ts'
import { SECOND } from '../../platform/clock.ts'
import { runForAllOrganisations } from '../../platform/database/tenant-scope.ts'
import { parseRetryAfter } from '../../platform/http/retry-after.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { nextAttempt } from '../../webhooks/delivery/schedule.ts'
import { openRequestSender, type RequestSender, type SendResult } from '../../webhooks/delivery/sender.ts'
import { resolveName } from '../../webhooks/target-rules.ts'
import type { ReportRequest } from '../adapter.ts'
import { adapters } from '../adapters.ts'
import { getConnection, openCredentials } from '../connections.ts'
import { reportUrlError, targetRules } from '../hosts.ts'
import type { AtsOrder } from '../order.ts'
import { findOrderById } from '../orders.ts'
import { reportLinkExpiry, reportUrl } from './links.ts'
import { type ClaimedReport, claimDueReports, nextReportDue, REPORT_DUE, recordAttempt } from './reports.ts'

type ReporterDeps = Pick<Context, 'config' | 'db' | 'clock' | 'log' | 'metrics' | 'vault' | 'keyring'>

const REQUEST_TIMEOUT_MS = 10 * SECOND
/** Longer than an attempt takes. After a crash, another process repeats the attempt at this time. */
const LEASE_MS = 15 * SECOND
const STOP_GRACE_MS = 5 * SECOND
const MAX_IN_FLIGHT = 32
/** Limit for each connection, so that an ATS that does not respond does not delay the reports to others. */
const MAX_IN_FLIGHT_PER_CONNECTION = 8
const MAX_SENDERS = 100
/** With the delays between attempts, a report fails after about four days. */
const MAX_FAILURES = 15
/** Responses that another attempt would not change: the message is wrong, or the ATS has deleted the order. */
const PERMANENT_STATUSES = new Set([400, 404, 405, 409, 410, 415, 422])
/** Ashby's firewall rejects requests without this header. */
const USER_AGENT = 'Attestry-ATS/1'

/** Sends due reports to the systems that placed the orders. Any number of processes may run this concurrently. */
export function startReporter(context: ReporterDeps): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const attemptsTotal = attemptCounter(context.metrics)
  const senders = new Map<string, Promise<RequestSender>>()
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
      for (const sender of senders.values()) (await sender).abort()
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

  async function send(report: ClaimedReport): Promise<{ request: ReportRequest | null; result: SendResult }> {
    const order = (await findOrderById(db.queries, report.order_id))!
    const request = await buildRequest(order, report)
    if (typeof request === 'string') return { request: null, result: unsent(request) }
    const error = reportUrlError(request.url, adapters[order.adapter], order.mode, context.config)
    if (error) return { request, result: unsent(`not sent: the URL ${error}`) }
    const { pathname, search, origin } = new URL(request.url)
    const sender = await senderOf(origin, order.mode)
    const body = request.body === undefined ? '' : JSON.stringify(request.body)
    const headers = ['user-agent', USER_AGENT, 'authorization', request.authorization, 'accept', 'application/json']
    if (request.body !== undefined) headers.push('content-type', 'application/json')
    const result = await sender.request(request.method, pathname + search, headers, body)
    const rejection = result.error === null ? adapters[order.adapter].findRejection?.(result.responseText) : undefined
    return { request, result: rejection === undefined ? result : { ...result, error: rejection } }
  }

  /** Returns the request, or why it cannot be built at the moment. */
  async function buildRequest(order: AtsOrder, report: ClaimedReport): Promise<ReportRequest | string> {
    const adapter = adapters[order.adapter]
    const connection = await getConnection(db.queries, { orgId: order.org_id, mode: order.mode }, order.connection_id)
    const { linkKey, token } = await openCredentials(db.queries, context.vault, order.connection_id)
    const credential = adapter.credential
      ? token
      : await findStoredAtsKey(db.queries, context.vault, order.connection_id, order.key_id)
    if (credential === undefined) return `not sent: the connection has no active ${adapter.credential?.label ?? 'key'}`
    return adapter.buildReport(order, {
      kind: report.kind,
      apiUrl: connection.api_url ?? adapter.defaultApiUrl ?? '',
      credential,
      reportUrl: reportUrl(context, { orderId: order.order_id, linkKey, expiresAt: reportLinkExpiry(clock.now()) }),
      timestampMs: report.timestamp_ms,
    })
  }

  function senderOf(origin: string, mode: Mode): Promise<RequestSender> {
    const name = `${mode} ${origin}`
    let sender = senders.get(name)
    if (!sender) {
      sender = openRequestSender({
        url: origin,
        mode,
        rules: targetRules(context.config),
        resolve: resolveName,
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxConnections: MAX_IN_FLIGHT_PER_CONNECTION,
      })
      closeOldestSender()
      senders.set(name, sender)
    }
    return sender
  }

  /** Customers of an ATS may have host names of their own. */
  function closeOldestSender() {
    if (senders.size < MAX_SENDERS) return
    const [name, sender] = senders.entries().next().value!
    senders.delete(name)
    void sender.then(({ close }) => close())
  }
}

/** Returns the request as it is stored: without credentials, and without the signature of the link to the report page. */
function shownRequest({ method, url, body }: ReportRequest) {
  const shownBody = body && JSON.parse(JSON.stringify(body).replaceAll(/(\/reports\/AO_[A-Z0-9]+)\.[^"]+/g, '$1…'))
  return { method, url, body: shownBody as object | undefined }
}

function unsent(error: string): SendResult {
  return { statusCode: null, error, responseText: '', retryAfter: undefined, latencyMs: 0 }
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
