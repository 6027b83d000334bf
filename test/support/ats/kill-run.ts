import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { SimulatedAts, SimulatedOrder } from '../../../cli/simulated-ats/simulated-ats.ts'
import { adapterNames } from '../../../server/ats/adapter.ts'
import { contactNow } from '../../../server/campaigns/contact/engine.ts'
import { createFastClock } from '../../faults/fast-clock.ts'
import { databaseEnv } from '../../faults/server-process.ts'
import type { TestApp } from '../app.ts'
import type { Cleanup } from '../cleanup.ts'
import { TestClock } from '../clock.ts'
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

interface KillRun {
  setups: AtsSetup[]
  orders: SimulatedOrder[]
  kills: number
}

/**
 * Places orders from all systems, each order twice, and waits until every result is reported. Meanwhile the worker that sends the
 * reports is killed, while or just after the ATS receives a report, and the systems reject some reports.
 */
export async function reportWithKills(
  t: Cleanup,
  app: TestApp,
  { clock, ordersPerAts, timeoutMs }: { clock: FastClock; ordersPerAts: number; timeoutMs: number },
): Promise<KillRun> {
  const minKills = Math.ceil(ordersPerAts / 2)
  const setups: AtsSetup[] = []
  for (const adapter of adapterNames)
    setups.push(await startAts(t, app, adapter, { preset: 'ci', partner: { credits: ordersPerAts } }))
  const worker = new KillableWorker(t, app, clock.startedAt)
  await worker.start()
  for (const { ats } of setups) misbehave(ats, worker, minKills)

  const orders: SimulatedOrder[] = []
  for (const { ats, partner } of setups) {
    const { mandate_id } = await partner.createMandate()
    for (let number = 1; number <= ordersPerAts; number++) {
      const person = aPerson(number, [1, 3, 5][number % 3]!)
      const [order] = await Promise.all([1, 2].map(() => ats.order(`order-${number}`, mandate_id, person)))
      if (order!.status !== 200) throw new Error(`${order!.status} ${order!.message}`)
      orders.push(order!)
    }
  }
  const countOpen = () => orders.filter(({ state }) => state === 'ordered' || state === 'started').length
  await until(
    async () => {
      await contactNow(app.context)
      return countOpen() === 0 && worker.kills >= minKills
    },
    timeoutMs,
    () => `${countOpen()} orders are not reported, ${worker.kills} kills`,
  )
  return { setups, orders, kills: worker.kills }
}

/** Fails some reports in different ways, and kills the worker while or just after the ATS receives others. */
function misbehave(ats: SimulatedAts, worker: KillableWorker, maxKills: number) {
  let calls = 0
  ats.react = () => {
    calls++
    // Few failures: the delay after several ones is long even with the fast clock.
    if (calls % 20 === 2) return { status: 500 }
    if (calls % 20 === 6) return { status: 403, body: { message: 'error code: 1010' } }
    if (calls % 20 === 8) return { status: 429, headers: { 'retry-after': '1' } }
    if (worker.kills >= maxKills || calls % 2 === 0) return undefined
    // Before the ATS has accepted the report, or after it, when the worker has not recorded it.
    const isAccepted = calls % 4 === 1
    worker.kill()
    return isAccepted ? undefined : 'hang'
  }
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
    const child = spawn(process.execPath, [new URL('../../faults/ats-worker.ts', import.meta.url).pathname], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...databaseEnv(this.#app.context.config),
        PUBLIC_URL: this.#app.url,
        CLOCK_STARTED: String(this.#startedAt),
      },
    })
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
