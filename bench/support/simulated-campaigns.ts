import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createWebhook } from '../../server/webhooks/webhooks.ts'
import { type BenchApp, createCampaignPartner, startBenchApp } from './app.ts'

/** Each campaign enrols each test number once. The tenth one is omitted: its reply STOP would opt it out of all campaigns. */
const TEST_NUMBER_COUNT = 9
const CONCURRENT_CALLS = 8

/** Figures of campaigns with simulated candidates. Times are in seconds since the first enrolment. */
export interface SimulatedCampaigns {
  candidateCount: number
  replyCount: number
  /** Number of webhooks that were received. */
  eventCount: number
  enrolledAfter: number
  completedAfter: number
  deliveredAfter: number
  /** Processor time of the server with its jobs and of the program that sends the requests. */
  serverCpuMs: number
}

/**
 * Runs campaigns in TEST mode from enrolment to the delivery of the last event, with the test numbers as candidates and the background jobs
 * in the same process. `onReady` is called before the first enrolment.
 */
export async function simulateCampaigns(
  campaignCount: number,
  onReady?: (app: BenchApp) => Promise<void>,
  onEnd?: () => Promise<void>,
): Promise<SimulatedCampaigns> {
  const candidateCount = campaignCount * TEST_NUMBER_COUNT
  const receiver = fork(new URL('webhook-receiver.ts', import.meta.url).pathname)
  const [port] = (await once(receiver, 'message')) as [number]
  const app = await startBenchApp({ worker: true })
  try {
    const { orgId, mode, mandateId: mandate_id, post } = await createCampaignPartner(app, 'test')
    const { db } = app.context
    const url = `http://127.0.0.1:${port}/plain`
    await db.transaction((tx) => createWebhook(tx, { orgId, mode }, app.context, { url }))
    const countRows = async (query: ReturnType<typeof sql<{ count: number }>>) =>
      (await query.execute(db.queries)).rows[0]!.count
    await onReady?.(app)
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    let createdCount = 0
    const createCampaigns = async () => {
      while (createdCount < campaignCount) {
        const campaignNumber = createdCount++
        const candidates = Array.from({ length: TEST_NUMBER_COUNT }, (_, index) => ({
          external_candidate_id: `${campaignNumber}-${index}`,
          name: `Person ${index}`,
          phone: `+9199900000${String(index + 1).padStart(2, '0')}`,
        }))
        await post('/campaigns', { mandate_id, candidates })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT_CALLS }, createCampaigns))
    const enrolledAfter = secondsSince(startedAt)
    while ((await countRows(sql`select count(*) as count from candidate_progress where status = 'pending'`)) > 0)
      await pause(50)
    const completedAfter = secondsSince(startedAt)
    const undeliveredQuery = sql<{ count: number }>`
      select (select count(*) from event_outbox) + (select count(*) from webhook_deliveries where status = 'pending') as count`
    while ((await countRows(undeliveredQuery)) > 0) await pause(50)
    const deliveredAfter = secondsSince(startedAt)
    const { user, system } = process.cpuUsage(cpuBefore)
    const replyCount = await countRows(sql`select count(*) as count from messages where direction = 'in'`)
    const countMessage = once(receiver, 'message')
    receiver.send('count')
    const [eventCount] = (await countMessage) as [number]
    if (eventCount < candidateCount + campaignCount) throw new Error(`received only ${eventCount} events`)
    await onEnd?.()
    return {
      candidateCount,
      replyCount,
      eventCount,
      enrolledAfter,
      completedAfter,
      deliveredAfter,
      serverCpuMs: (user + system) / 1000,
    }
  } finally {
    receiver.kill()
    await app.stop()
  }
}

function secondsSince(startedAt: number) {
  return (performance.now() - startedAt) / 1000
}
