/**
 * Campaigns in TEST mode from the enrolment to the last result, played by the test numbers, in one process with the worker, until
 * every event has been delivered to an endpoint.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createWebhook } from '../server/webhooks/webhooks.ts'
import { startBench } from './support/campaign-setup.ts'
import { printRows, type Row } from './support/rows.ts'

/** A number is in a campaign once. The tenth says STOP, which would end it for all others at once. */
const PLAYERS = 9
const CAMPAIGNS = Number(process.env.BENCH_CAMPAIGNS ?? 400)
const CANDIDATES = CAMPAIGNS * PLAYERS

export async function run(): Promise<Row[]> {
  const receiver = fork(new URL('support/webhook-receiver.ts', import.meta.url).pathname)
  const [port] = (await once(receiver, 'message')) as [number]
  const bench = await startBench({ worker: true })
  try {
    const { orgId, mode, mandateId: mandate_id, post } = await bench.partner('test')
    const { db } = bench.context
    const url = `http://127.0.0.1:${port}/plain`
    await db.transaction((tx) => createWebhook(tx, { orgId, mode }, bench.context, { url }))
    const count = async (query: ReturnType<typeof sql<{ count: number }>>) =>
      (await query.execute(db.queries)).rows[0]!.count
    const before = process.cpuUsage()
    const started = performance.now()
    let made = 0
    const enrol = async () => {
      while (made < CAMPAIGNS) {
        const number = made++
        const candidates = Array.from({ length: PLAYERS }, (_, index) => ({
          external_candidate_id: `${number}-${index}`,
          name: `Person ${index}`,
          phone: `+9199900000${String(index + 1).padStart(2, '0')}`,
        }))
        await post('/campaigns', { mandate_id, candidates })
      }
    }
    await Promise.all(Array.from({ length: 8 }, enrol))
    const enrolled = since(started)
    while ((await count(sql`select count(*) as count from candidate_progress where status = 'pending'`)) > 0)
      await pause(50)
    const ended = since(started)
    const told = sql<{ count: number }>`
      select (select count(*) from event_outbox) + (select count(*) from webhook_deliveries where status = 'pending') as count`
    while ((await count(told)) > 0) await pause(50)
    const delivered = since(started)
    const { user, system } = process.cpuUsage(before)
    const replies = await count(sql`select count(*) as count from messages where direction = 'in'`)
    const arrived = once(receiver, 'message')
    receiver.send('count')
    const [events] = (await arrived) as [number]
    if (events < CANDIDATES + CAMPAIGNS) throw new Error(`${events} events came`)
    const note = `${CANDIDATES} candidates in ${CAMPAIGNS} campaigns, ${replies} replies`
    return [
      { name: 'candidates from enrolment to delivered result', value: CANDIDATES / delivered, unit: 'a second', note },
      { name: 'candidates from enrolment to result', value: CANDIDATES / ended, unit: 'a second' },
      { name: 'replies handled', value: replies / ended, unit: 'a second' },
      { name: 'last enrolment after', value: enrolled, unit: 's' },
      { name: 'last result after', value: ended, unit: 's', note: 'of which a test number itself waits about 7 s' },
      { name: 'last event delivered after', value: delivered, unit: 's', note: `${events} events` },
      { name: 'CPU of server and worker', value: (user + system) / 1000 / CANDIDATES, unit: 'ms a candidate' },
    ]
  } finally {
    receiver.kill()
    await bench.stop()
  }
}

function since(started: number) {
  return (performance.now() - started) / 1000
}

if (import.meta.main) {
  printRows('campaign-simulator', await run())
  process.exit(0)
}
