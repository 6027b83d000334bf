/**
 * Measures campaigns in TEST mode from enrolment to the delivery of the last event, with the test numbers as candidates and
 * the background jobs in the same process.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createWebhook } from '../server/webhooks/webhooks.ts'
import { createCampaignPartner, startBenchApp } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

/** Each campaign enrols each number once. The tenth test number is omitted: its STOP would opt it out of all campaigns. */
const TEST_NUMBERS = 9
const CONCURRENT_CALLS = 8

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const campaigns = short ? 10 : Number(process.env.BENCH_CAMPAIGNS ?? 400)
  const totalCandidates = campaigns * TEST_NUMBERS
  const receiver = fork(new URL('support/webhook-receiver.ts', import.meta.url).pathname)
  const [port] = (await once(receiver, 'message')) as [number]
  const app = await startBenchApp({ worker: true })
  try {
    const { orgId, mode, mandateId: mandate_id, post } = await createCampaignPartner(app, 'test')
    const { db } = app.context
    const url = `http://127.0.0.1:${port}/plain`
    await db.transaction((tx) => createWebhook(tx, { orgId, mode }, app.context, { url }))
    const count = async (query: ReturnType<typeof sql<{ count: number }>>) =>
      (await query.execute(db.queries)).rows[0]!.count
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    let created = 0
    const createCampaigns = async () => {
      while (created < campaigns) {
        const campaign = created++
        const candidates = Array.from({ length: TEST_NUMBERS }, (_, index) => ({
          external_candidate_id: `${campaign}-${index}`,
          name: `Person ${index}`,
          phone: `+9199900000${String(index + 1).padStart(2, '0')}`,
        }))
        await post('/campaigns', { mandate_id, candidates })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT_CALLS }, createCampaigns))
    const enrolledAfter = secondsSince(startedAt)
    while ((await count(sql`select count(*) as count from candidate_progress where status = 'pending'`)) > 0)
      await pause(50)
    const completedAfter = secondsSince(startedAt)
    const undelivered = sql<{ count: number }>`
      select (select count(*) from event_outbox) + (select count(*) from webhook_deliveries where status = 'pending') as count`
    while ((await count(undelivered)) > 0) await pause(50)
    const deliveredAfter = secondsSince(startedAt)
    const { user, system } = process.cpuUsage(cpuBefore)
    const replies = await count(sql`select count(*) as count from messages where direction = 'in'`)
    const counted = once(receiver, 'message')
    receiver.send('count')
    const [events] = (await counted) as [number]
    if (events < totalCandidates + campaigns) throw new Error(`received only ${events} events`)
    const note = `${totalCandidates} candidates in ${campaigns} campaigns, ${replies} replies`
    return [
      {
        name: 'candidates from enrolment to delivered result',
        value: totalCandidates / deliveredAfter,
        unit: 'per second',
        note,
      },
      { name: 'candidates from enrolment to result', value: totalCandidates / completedAfter, unit: 'per second' },
      { name: 'replies handled', value: replies / completedAfter, unit: 'per second' },
      { name: 'last enrolment after', value: enrolledAfter, unit: 's' },
      { name: 'last result after', value: completedAfter, unit: 's', note: 'includes about 7 s of simulated delays' },
      { name: 'last event delivered after', value: deliveredAfter, unit: 's', note: `${events} events` },
      { name: 'CPU of server and jobs', value: (user + system) / 1000 / totalCandidates, unit: 'ms per candidate' },
    ]
  } finally {
    receiver.kill()
    await app.stop()
  }
}

function secondsSince(startedAt: number) {
  return (performance.now() - startedAt) / 1000
}

if (import.meta.main) await runFromCommandLine('campaign-simulator', run)
