import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Mode } from '../access/keys.ts'
import { isNotPaused, type PausedOrganisations } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import { SECOND } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { parseRetryAfter } from '../platform/http/retry-after.ts'
import { startDuePoller } from '../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../platform/jobs/queue.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import { nextAttempt } from '../webhooks/delivery/schedule.ts'
import type { SendResult } from '../webhooks/delivery/sender.ts'
import type { AdapterName, AtsTest } from './adapter.ts'
import { adapters } from './adapters.ts'
import { type AtsSender, openAtsSender, openCall, unsent } from './calls.ts'
import { TESTS_DUE } from './connections.ts'
import { listTests } from './offered-mandates.ts'

type ListDeps = Pick<Context, 'config' | 'db' | 'clock' | 'log' | 'vault' | 'keyring'>

/** How often the list of tests is compared with the one that was sent last. */
const CHECK_INTERVAL_MS = 30 * SECOND
/** Longer than a call takes. After a crash, another process repeats the call at this time. */
const LEASE_MS = 15 * SECOND
const BATCH_SIZE = 8

interface DueList {
  connection_id: string
  org_id: string
  mode: Mode
  adapter: AdapterName
  api_url: string | null
  tests_digest: string | null
  tests_failures: number
  /** Until when other processes leave the list to this one. A change of the connection replaces it. */
  lease: Date
}

/**
 * Sends the list of tests to the systems that expect it, whenever it has changed. Any number of processes may run this concurrently.
 */
export function startTestLists(context: ListDeps): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const sender = openAtsSender(context)
  const poller = startDuePoller({
    clock,
    nextDueAt: async () => {
      await keyring.ensureFresh()
      return nextListDue(db.queries, keyring.pausedOrganisations())
    },
    work: sendDueLists,
    onError: (error) => log.warn({ err: error }, 'sending lists of tests failed, retrying'),
  })
  db.onCommitted(TESTS_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return {
    async stop() {
      const stopped = poller.stop()
      await sender.abort()
      await stopped
    },
  }

  async function sendDueLists(isStopped: () => boolean) {
    while (!isStopped()) {
      const lists = await db.transaction((tx) => claimDueLists(tx, clock.now(), keyring.pausedOrganisations()))
      if (lists.length === 0) return
      await Promise.all(lists.map((list) => sendList(context, sender, list)))
    }
  }
}

async function claimDueLists(tx: Tx, now: number, paused: PausedOrganisations): Promise<DueList[]> {
  const { rows } = await sql<DueList>`
    update ats_connections set tests_due_at = ${new Date(now + LEASE_MS)} where connection_id in (
      select connection_id from ats_connections
      where tests_due_at <= ${new Date(now)} and ${isNotPaused(sql`org_id`, paused)}
      order by tests_due_at limit ${BATCH_SIZE} for update skip locked)
    returning connection_id, org_id, mode, adapter, api_url, tests_digest, tests_failures, tests_due_at as lease`.execute(
    tx,
  )
  return rows
}

async function nextListDue(queries: Queries, paused: PausedOrganisations): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(tests_due_at) as due from ats_connections
    where tests_due_at is not null and ${isNotPaused(sql`org_id`, paused)}`.execute(queries)
  return rows[0]!.due?.getTime()
}

async function sendList(context: ListDeps, sender: AtsSender, list: DueList): Promise<void> {
  const { db, clock } = context
  const { connection_id, org_id: orgId, mode, tests_digest, tests_failures, lease } = list
  const tests = await listTests(db.queries, { orgId, mode }, connection_id)
  const digest = createHash('sha256').update(JSON.stringify(tests)).digest('base64url')
  const result = digest === tests_digest ? undefined : await send(context, sender, list, tests)
  const now = clock.now()
  const time = new Date(now)
  const nextCheck = new Date(now + CHECK_INTERVAL_MS)
  // A connection that was changed or disconnected in the meantime has another time, and the result is not that of its account.
  await db.transaction(async (tx) => {
    if (!result)
      await sql`update ats_connections set tests_due_at = ${nextCheck}
        where connection_id = ${connection_id} and tests_due_at = ${lease}`.execute(tx)
    else if (result.error === null)
      await sql`update ats_connections set tests_due_at = ${nextCheck}, tests_digest = ${digest}, tests_sent_at = ${time},
        tests_failures = 0, tests_error = null
        where connection_id = ${connection_id} and tests_due_at = ${lease}`.execute(tx)
    else {
      const retryAt = nextAttempt(now, tests_failures + 1, parseRetryAfter(result.retryAfter, now))
      await sql`update ats_connections set tests_due_at = ${new Date(retryAt)}, tests_failures = tests_failures + 1,
        tests_error = ${redactAddresses(result.error)}
        where connection_id = ${connection_id} and tests_due_at = ${lease}`.execute(tx)
    }
  })
}

async function send(context: ListDeps, sender: AtsSender, list: DueList, tests: AtsTest[]): Promise<SendResult> {
  const adapter = adapters[list.adapter]
  const call = await openCall(context, list, '')
  return typeof call === 'string' ? unsent(call) : sender.send(adapter, list.mode, adapter.buildTestList!(tests, call))
}
