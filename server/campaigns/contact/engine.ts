import { sql } from 'kysely'
import { listDueReplies } from '../../channels/simulator/pending-replies.ts'
import type { Context } from '../../context.ts'
import { realClock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type IsolatedWork, isNoDeadLetter, processIsolated } from '../../platform/jobs/dead-letters.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import type { TimedWork } from '../../test-clocks/runner.ts'
import { withLockedClock } from '../../test-clocks/test-clocks.ts'
import { isPausedCampaign } from '../campaigns.ts'
import { findCandidacy } from '../candidacy.ts'
import { nextDndCheckDue, runDndChecks } from '../dnd/run-checks.ts'
import { resumeWithinCaps } from '../spending/spending.ts'
import { listDueContacts, nextContactDue, processDueContacts } from './contact.ts'
import { CONTACT_DUE } from './messages.ts'
import { sendSimulatedReplies } from './replies.ts'
import {
  type ClaimedMessage,
  claimSends,
  completeSend,
  confirmSend,
  deliverOnTestClock,
  dropSend,
  findSendTime,
  listLostSends,
  nextSendDue,
  postponeSend,
  reserveSendCost,
  sendMessage,
  settleLostSends,
} from './sends.ts'

const BATCH_SIZE = 100
/** Concurrent sends per process. */
const MAX_CONCURRENT_SENDS = 40

/**
 * Processes everything that is due now: DND checks, contacts, sends and replies of test numbers. Any number of processes may run this
 * concurrently; row locks distribute the work.
 */
export async function contactNow(context: Context): Promise<void> {
  const sender = createSender(context, () => {})
  await context.keyring.ensureFresh()
  await runDndChecks(context)
  do {
    await processAllDue(context, () => false)
    await sender.start()
    await sender.settled()
  } while (sender.hasMore())
}

/**
 * Processes everything that is due, continuously. A slow provider can delay other sends, but not contacts or the replies of test
 * numbers. The slow DND check of an organisation delays only other checks.
 */
export function startContactEngine(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const logFailure = (error: unknown) => log.warn({ err: error }, 'contacting candidates failed, retrying')
  const contactPoller = startDuePoller({
    clock,
    nextDueAt: () => nextContactDue(db.queries, keyring.pausedOrganisations(), clock.now()),
    work: async (isStopped) => {
      await keyring.ensureFresh()
      await processAllDue(context, isStopped)
    },
    onError: logFailure,
  })
  const dndPoller = startDuePoller({
    clock,
    nextDueAt: () => nextDndCheckDue(db.queries, keyring.pausedOrganisations()),
    work: async (isStopped) => {
      await keyring.ensureFresh()
      await runDndChecks(context, { isStopped })
    },
    onError: (error) => log.warn({ err: error }, 'checking numbers before the first contact failed, retrying'),
  })
  const sender = createSender(context, () => sendPoller.wake())
  const sendPoller = startDuePoller({
    clock,
    nextDueAt: () => nextSendDue(db.queries, keyring.pausedOrganisations(), clock.now()),
    work: async () => {
      await keyring.ensureFresh()
      await sender.start()
    },
    onError: logFailure,
  })
  db.onCommitted(CONTACT_DUE, wakeAll)
  keyring.onPauseChanged(wakeAll)
  return {
    async stop() {
      await Promise.all([contactPoller.stop(), dndPoller.stop(), sendPoller.stop()])
      await sender.settled()
    },
  }

  function wakeAll() {
    contactPoller.wake()
    dndPoller.wake()
    sendPoller.wake()
  }
}

/** Processes all due contacts, test replies and lost sends in batches. A row that cannot be processed does not stop the others. */
async function processAllDue(context: Context, isStopped: () => boolean): Promise<void> {
  const { clock, keyring } = context
  const works: IsolatedWork[] = [
    {
      queue: 'lost-sends',
      process: (tx, limit, onlyId) => settleLostSends(tx, context, limit, onlyId),
      listDue: (queries, limit) => listLostSends(queries, clock.now(), limit),
    },
    {
      queue: 'test-replies',
      process: async (tx, limit, onlyId) => {
        const { deps, filter } = await scopeOf(tx, context, onlyId)
        return sendSimulatedReplies(tx, deps, limit, filter)
      },
      listDue: (queries, limit) => listDueReplies(queries, clock, limit),
    },
    {
      queue: 'contacts',
      process: async (tx, limit, onlyId) => {
        const { deps, filter } = await scopeOf(tx, context, onlyId)
        return processDueContacts(tx, deps, limit, keyring.pausedOrganisations(), filter)
      },
      listDue: (queries, limit) => listDueContacts(queries, clock.now(), limit, keyring.pausedOrganisations()),
    },
  ]
  await context.db.transaction((tx) => resumeWithinCaps(tx, clock))
  let hasMore = true
  while (hasMore && !isStopped()) {
    hasMore = false
    for (const work of works) if ((await processIsolated(context, work, BATCH_SIZE)) === BATCH_SIZE) hasMore = true
  }
}

/** Returns the dependencies and the filter for all rows in real time, or for the row of one candidate, who may have a test clock. */
async function scopeOf(tx: Tx, context: Context, onlyId: string | undefined) {
  if (onlyId === undefined) return { deps: context, filter: {} }
  const { rows } = await sql<{ test_clock_id: string | null }>`
    select g.test_clock_id from candidates c join campaigns g using (campaign_id) where c.candidate_id = ${onlyId}`.execute(
    tx,
  )
  const test_clock_id = rows[0]?.test_clock_id ?? null
  return {
    deps: await withLockedClock(tx, context, { test_clock_id }),
    filter: { onlyId, testClockId: test_clock_id ?? undefined },
  }
}

/** Contacts, replies of test numbers and queued messages of campaigns with a test clock. */
export const campaignTimedWork: TimedWork = {
  // Messages are queued only while a TEST campaign is paused, so that reading them through the campaign takes little time.
  dueTimes: () => sql`
    select g.test_clock_id, t.due_at from campaigns g join contacts t using (campaign_id)
    where g.test_clock_id is not null and g.hold is distinct from 'paused' and t.due_at is not null and not t.restricted
      and ${isNoDeadLetter('contacts', sql`t.candidate_id`)}
    union all
    select t.test_clock_id, t.due_at from simulator_turns t join candidates c using (candidate_id) join campaigns g using (campaign_id)
    where t.test_clock_id is not null and g.hold is distinct from 'paused' and ${isNoDeadLetter('test-replies', sql`t.candidate_id`)}
    union all
    select g.test_clock_id, t.due_at from messages t join campaigns g using (campaign_id)
    where g.test_clock_id is not null and not ${isPausedCampaign} and t.state = 'queued' and t.due_at is not null`,
  async processDue(context, testClockId, isStopped) {
    const { clock, db, keyring } = context
    const paused = keyring.pausedOrganisations()
    const works: IsolatedWork[] = [
      {
        queue: 'test-replies',
        process: (tx, limit, onlyId) => sendSimulatedReplies(tx, context, limit, { testClockId, onlyId }),
        listDue: (queries, limit) => listDueReplies(queries, clock, limit, testClockId),
      },
      {
        queue: 'contacts',
        process: (tx, limit, onlyId) => processDueContacts(tx, context, limit, paused, { testClockId, onlyId }),
        listDue: (queries, limit) => listDueContacts(queries, clock.now(), limit, paused, testClockId),
      },
    ]
    for (const work of works) {
      // Dead letters are retried in real time.
      const deps = { ...context, clock: realClock(clock) }
      while (
        (await processIsolated(deps, work, BATCH_SIZE, { retriesDeadLetters: false })) === BATCH_SIZE &&
        !isStopped()
      );
    }
    while ((await db.transaction((tx) => deliverOnTestClock(tx, context, testClockId, BATCH_SIZE))) === BATCH_SIZE);
  },
}

/** Sends messages concurrently; calls `onCapacity` when a send finishes and more may be due. */
function createSender(context: Context, onCapacity: () => void) {
  const { db, log, keyring } = context
  const inFlight = new Set<Promise<void>>()
  let hasMore = false
  return {
    /** Starts as many sends as there is capacity for, without waiting for them. */
    async start() {
      const capacity = MAX_CONCURRENT_SENDS - inFlight.size
      if (capacity === 0) return
      const { messages, hasMore: moreMayBeDue } = await db.transaction((tx) =>
        claimSends(tx, context, capacity, keyring.pausedOrganisations()),
      )
      hasMore = moreMayBeDue
      for (const message of messages) {
        const send = sendOne(message)
          .catch((error) =>
            log.warn(
              { err: error, message: message.message_id },
              'recording the outcome of a send failed, treating it as unknown when the lease expires',
            ),
          )
          .then(() => void inFlight.delete(send))
        inFlight.add(send)
        void send.then(() => hasMore && onCapacity())
      }
    },
    /** Whether more messages may be due than the last start claimed. */
    hasMore: () => hasMore,
    async settled() {
      await Promise.all(inFlight)
    },
  }

  async function sendOne(message: ClaimedMessage): Promise<void> {
    const candidate = (await findCandidacy(db.queries, message.candidate_id))!
    if (candidate.person_key === null) return db.transaction((tx) => dropSend(tx, context, message))
    const sendTime = await findSendTime(context, message, candidate)
    if (sendTime > context.clock.now()) return db.transaction((tx) => postponeSend(tx, message, sendTime))
    if (!(await reserveSendCost(context, message, candidate))) return
    if (!(await confirmSend(context, message, candidate))) return
    const outcome = await sendMessage(context, message, candidate)
    await db.transaction((tx) => completeSend(tx, context, message, outcome))
  }
}
