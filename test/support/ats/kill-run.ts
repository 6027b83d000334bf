import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import type { Reaction, ReceivedCall, SimulatedAts, SimulatedOrder } from '../../../cli/simulated-ats/simulated-ats.ts'
import { adapterNames } from '../../../server/ats/adapter.ts'
import { adapters } from '../../../server/ats/adapters.ts'
import { replayReport } from '../../../server/ats/reports/reports.ts'
import { contactNow } from '../../../server/campaigns/contact/engine.ts'
import { createFastClock } from '../../faults/fast-clock.ts'
import { databaseEnv } from '../../faults/server-process.ts'
import type { TestApp } from '../app.ts'
import type { Cleanup } from '../cleanup.ts'
import { TestClock } from '../clock.ts'
import { nodeOptions } from '../node-options.ts'
import { until } from '../until.ts'
import { type AtsSetup, aPerson, startAts } from './connection.ts'

/** A test clock with the time of the fast clock, so that retries and leases pass quickly in all processes. */
export class FastClock extends TestClock {
  readonly startedAt = Date.now()
  readonly #clock = createFastClock(this.startedAt)
  override now() {
    return this.#clock.now()
  }
}

/** Faulty responses of a simulated ATS to a report. */
const FAULTS: Record<string, Reaction> = {
  '500': { status: 500 },
  '401': { status: 401 },
  '403': { status: 403, body: { message: 'error code: 1010' } },
  '429': { status: 429, headers: { 'retry-after': '1' } },
  timeout: 'hang',
  '404': { status: 404 },
  '409': { status: 409 },
  '422': { status: 422 },
}
const faultNames = Object.keys(FAULTS)
const MAX_FAULTS_PER_ORDER = 2

/** More credits than orders, so that a second charge of an order would show in the balance. */
const SPARE_CREDITS = 20

interface KillRun {
  setups: AtsSetup[]
  orders: SimulatedOrder[]
  kills: number
  /** How often each fault occurred. */
  faults: Record<string, number>
  /** Reports that failed permanently and were sent again, as recruiters do in the console. */
  replays: number
  /** How much the balances differ from one credit per order. */
  creditDifference: number
}

/**
 * Places orders from all systems, and waits until every result is reported. Each order is sent twice at the same time and, if the ATS cannot
 * order again with the same identity, a third time later. Meanwhile the worker that sends the reports is killed, while or just after the ATS
 * receives a report, and the systems respond to some reports with faults; those that failed permanently are sent again. Each ATS rejects calls without a
 * User-Agent.
 */
export async function reportWithKills(
  t: Cleanup,
  app: TestApp,
  { clock, ordersPerAts, timeoutMs }: { clock: FastClock; ordersPerAts: number; timeoutMs: number },
): Promise<KillRun> {
  const minKills = Math.ceil(ordersPerAts / 2)
  const setups: AtsSetup[] = []
  for (const adapter of adapterNames)
    setups.push(await startAts(t, app, adapter, { preset: 'ci', partner: { credits: ordersPerAts + SPARE_CREDITS } }))
  const worker = new KillableWorker(t, app, clock.startedAt)
  await worker.start()
  const faults = Object.fromEntries(faultNames.map((name) => [name, 0]))
  for (const { ats } of setups) {
    await checkUserAgentRequired(ats)
    injectFaults(ats, worker, minKills, faults)
  }

  const orders: SimulatedOrder[] = []
  for (const [index, { ats, partner }] of setups.entries()) {
    const { mandate_id } = await partner.createMandate()
    const sendOrder = (number: number) =>
      ats.order(`order-${number}`, mandate_id, aPerson(number, [1, 3, 5][number % 3]!))
    for (let number = 1; number <= ordersPerAts; number++) {
      const [order] = await Promise.all([sendOrder(number), sendOrder(number)])
      if (order.status !== 200) throw new Error(`${order.status} ${order.message}`)
      orders.push(order)
    }
    if (!adapters[adapterNames[index]!].allowsReorder)
      for (let number = 1; number <= ordersPerAts; number++) await sendOrder(number)
  }
  const countOpen = () => orders.filter(({ state }) => state === 'ordered' || state === 'started').length
  let replays = 0
  await until(
    async () => {
      await contactNow(app.context)
      replays += await replayFailedReports(app)
      return countOpen() === 0 && worker.kills >= minKills
    },
    timeoutMs,
    () => `${countOpen()} orders are not reported, ${worker.kills} kills`,
  )
  let creditDifference = 0
  for (const { partner } of setups)
    creditDifference += Math.abs((await partner.get('/credits')).body.data.balance - SPARE_CREDITS)
  return { setups, orders, kills: worker.kills, faults, replays, creditDifference }
}

/** Checks that an ATS rejects calls without a User-Agent, so that reports are delivered only with one. */
async function checkUserAgentRequired({ url }: SimulatedAts): Promise<void> {
  const [response] = (await once(get(url), 'response')) as [IncomingMessage]
  response.resume()
  if (response.statusCode !== 403) throw new Error(`a call without a User-Agent got ${response.statusCode}`)
}

/** Sends results that failed permanently again. */
async function replayFailedReports({ context: { db, clock } }: TestApp): Promise<number> {
  const { rows } = await sql<{ order_id: string; orgId: string; mode: 'test' }>`
    select order_id, org_id as "orgId", mode from ats_reports where state = 'failed' and kind = 'result'`.execute(
    db.queries,
  )
  for (const { order_id, ...scope } of rows) await db.transaction((tx) => replayReport(tx, clock, scope, order_id))
  return rows.length
}

/**
 * Responds to the reports of some orders with faults, and kills the worker while or just after the ATS receives others. An order gets
 * at most two faults: the delay after several failures is long even with the fast clock.
 */
function injectFaults(ats: SimulatedAts, worker: KillableWorker, maxKills: number, faults: Record<string, number>) {
  let calls = 0
  const failuresByOrder = new Map<string, number>()
  ats.react = (call) => {
    calls++
    const order = orderOf(call)
    const failures = failuresByOrder.get(order) ?? 0
    if (calls % 2 === 0 && failures < MAX_FAULTS_PER_ORDER) {
      failuresByOrder.set(order, failures + 1)
      const name = faultNames.toSorted((a, b) => faults[a]! - faults[b]!)[0]!
      faults[name]!++
      return FAULTS[name]
    }
    if (worker.kills >= maxKills || calls % 2 === 0) return undefined
    // Before the ATS has accepted the report, or after it, when the worker has not recorded it.
    const isAccepted = calls % 4 === 1
    worker.kill()
    return isAccepted ? undefined : 'hang'
  }
}

/** Returns a key for the order of a call. Ashby sends the order ID in the body; for other systems it is in the path. */
function orderOf({ path, body }: ReceivedCall): string {
  return `${path} ${(body as { assessment_id?: string } | undefined)?.assessment_id ?? ''}`
}

class KillableWorker {
  kills = 0
  #child: ChildProcess | undefined
  readonly #t: Cleanup
  readonly #app: TestApp
  readonly #startedAt: number

  constructor(t: Cleanup, app: TestApp, startedAt: number) {
    this.#t = t
    this.#app = app
    this.#startedAt = startedAt
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [...nodeOptions, new URL('../../faults/ats-worker.ts', import.meta.url).pathname],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          ...process.env,
          ...databaseEnv(this.#app.context.config),
          PUBLIC_URL: this.#app.url,
          CLOCK_STARTED: String(this.#startedAt),
        },
      },
    )
    this.#t.after(() => child.kill('SIGKILL'))
    await once(child.stdout!, 'data')
    this.#child = child
  }

  /** Kills the running worker, if there is one, and starts another. */
  kill(): void {
    if (!this.#child) return
    this.#child.kill('SIGKILL')
    this.#child = undefined
    this.kills++
    void this.start()
  }
}
