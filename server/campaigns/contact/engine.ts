import type { Context } from '../../context.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { Running } from '../../platform/jobs/queue.ts'
import { findCandidacy } from '../candidacy.ts'
import { contactDue, nextContactDue } from './contact.ts'
import { CONTACT_DUE } from './messages.ts'
import { answerForTestNumbers } from './replies.ts'
import { claimSends, completeSend, nextSendDue, type Send, send, settleLostSends } from './sends.ts'

const BATCH_SIZE = 100
/** Concurrent sends per process. */
const MAX_CONCURRENT_SENDS = 40

/**
 * Processes everything that is due now: contacts, sends and replies of test numbers. Any number of processes may run this
 * concurrently; row locks distribute the work.
 */
export async function contactNow(context: Context): Promise<void> {
  const sends = createSender(context, () => {})
  do {
    await contactAll(context, () => false)
    await sends.start()
    await sends.settled()
  } while (sends.busy())
}

/** Processes everything that is due, continuously. Slow providers can only delay other sends, not contacts or test numbers. */
export function startContactEngine(context: Context): Running {
  const { db, clock, log } = context
  const report = (error: unknown) => log.warn({ err: error }, 'contacting candidates failed, retrying')
  const contacting = startDuePoller({
    clock,
    nextDueAt: () => nextContactDue(db.queries),
    work: (stopping) => contactAll(context, stopping),
    onError: report,
  })
  const sends = createSender(context, () => sending.wake())
  const sending = startDuePoller({
    clock,
    nextDueAt: () => nextSendDue(db.queries),
    work: () => sends.start(),
    onError: report,
  })
  db.onCommitted(CONTACT_DUE, () => {
    contacting.wake()
    sending.wake()
  })
  return {
    async stop() {
      await Promise.all([contacting.stop(), sending.stop()])
      await sends.settled()
    },
  }
}

async function contactAll(context: Context, stopping: () => boolean): Promise<void> {
  const { db } = context
  let busy = true
  while (busy && !stopping()) {
    const lost = await db.transaction((tx) => settleLostSends(tx, context, BATCH_SIZE))
    const replies = await db.transaction((tx) => answerForTestNumbers(tx, context, BATCH_SIZE))
    const contacts = await db.transaction((tx) => contactDue(tx, context, BATCH_SIZE))
    busy = lost === BATCH_SIZE || replies === BATCH_SIZE || contacts === BATCH_SIZE
  }
}

/** Sends messages concurrently; calls `onCapacity` when a send finishes and more may be due. */
function createSender(context: Context, onCapacity: () => void) {
  const { db, log } = context
  const inFlight = new Set<Promise<void>>()
  let full = false
  return {
    /** Starts as many sends as there is capacity for, without waiting for them. */
    async start() {
      const capacity = MAX_CONCURRENT_SENDS - inFlight.size
      if (capacity === 0) return
      const claimed = await db.transaction((tx) => claimSends(tx, context, capacity))
      full = claimed.length === capacity
      for (const message of claimed) {
        const done = sendOne(message)
          .catch((error) =>
            log.warn(
              { err: error, message: message.message_id },
              'recording the outcome of a send failed, treating it as unknown when the lease expires',
            ),
          )
          .then(() => void inFlight.delete(done))
        inFlight.add(done)
        void done.then(() => full && onCapacity())
      }
    },
    /** Whether more messages than the capacity may be due. */
    busy: () => full,
    async settled() {
      await Promise.all(inFlight)
    },
  }

  async function sendOne(message: Send): Promise<void> {
    const candidate = (await findCandidacy(db.queries, message.candidate_id))!
    const outcome = await send(context, message, candidate)
    await db.transaction((tx) => completeSend(tx, context, message, outcome))
  }
}
