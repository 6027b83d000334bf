import { listDueReplies } from '../../channels/simulator/pending-replies.ts'
import type { Context } from '../../context.ts'
import { type IsolatedWork, processIsolated } from '../../platform/jobs/dead-letters.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import { findCandidacy } from '../candidacy.ts'
import { listDueContacts, nextContactDue, processDueContacts } from './contact.ts'
import { CONTACT_DUE } from './messages.ts'
import { answerForTestNumbers } from './replies.ts'
import {
  type ClaimedMessage,
  claimSends,
  completeSend,
  listLostSends,
  nextSendDue,
  sendMessage,
  settleLostSends,
} from './sends.ts'

const BATCH_SIZE = 100
/** Concurrent sends per process. */
const MAX_CONCURRENT_SENDS = 40

/**
 * Processes everything that is due now: contacts, sends and replies of test numbers. Any number of processes may run this
 * concurrently; row locks distribute the work.
 */
export async function contactNow(context: Context): Promise<void> {
  const sender = createSender(context, () => {})
  await context.keyring.ensureFresh()
  do {
    await processAllDue(context, () => false)
    await sender.start()
    await sender.settled()
  } while (sender.isFull())
}

/**
 * Processes everything that is due, continuously. A slow provider can delay other sends, but not contacts or the replies of test
 * numbers.
 */
export function startContactEngine(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const logFailure = (error: unknown) => log.warn({ err: error }, 'contacting candidates failed, retrying')
  const contactPoller = startDuePoller({
    clock,
    nextDueAt: () => nextContactDue(db.queries, keyring.pausedOrganisations()),
    work: async (isStopped) => {
      await keyring.ensureFresh()
      await processAllDue(context, isStopped)
    },
    onError: logFailure,
  })
  const sender = createSender(context, () => sendPoller.wake())
  const sendPoller = startDuePoller({
    clock,
    nextDueAt: () => nextSendDue(db.queries, keyring.pausedOrganisations()),
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
      await Promise.all([contactPoller.stop(), sendPoller.stop()])
      await sender.settled()
    },
  }

  function wakeAll() {
    contactPoller.wake()
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
      process: (tx, limit, onlyId) => answerForTestNumbers(tx, context, limit, onlyId),
      listDue: (queries, limit) => listDueReplies(queries, clock, limit),
    },
    {
      queue: 'contacts',
      process: (tx, limit, onlyId) => processDueContacts(tx, context, limit, keyring.pausedOrganisations(), onlyId),
      listDue: (queries, limit) => listDueContacts(queries, clock.now(), limit, keyring.pausedOrganisations()),
    },
  ]
  let hasMore = true
  while (hasMore && !isStopped()) {
    hasMore = false
    for (const work of works) if ((await processIsolated(context, work, BATCH_SIZE)) === BATCH_SIZE) hasMore = true
  }
}

/** Sends messages concurrently; calls `onCapacity` when a send finishes and more may be due. */
function createSender(context: Context, onCapacity: () => void) {
  const { db, log, keyring } = context
  const inFlight = new Set<Promise<void>>()
  let isFull = false
  return {
    /** Starts as many sends as there is capacity for, without waiting for them. */
    async start() {
      const capacity = MAX_CONCURRENT_SENDS - inFlight.size
      if (capacity === 0) return
      const claimedMessages = await db.transaction((tx) =>
        claimSends(tx, context, capacity, keyring.pausedOrganisations()),
      )
      isFull = claimedMessages.length === capacity
      for (const message of claimedMessages) {
        const send = sendOne(message)
          .catch((error) =>
            log.warn(
              { err: error, message: message.message_id },
              'recording the outcome of a send failed, treating it as unknown when the lease expires',
            ),
          )
          .then(() => void inFlight.delete(send))
        inFlight.add(send)
        void send.then(() => isFull && onCapacity())
      }
    },
    /** Whether the last start used the whole capacity, so that more messages may be due. */
    isFull: () => isFull,
    async settled() {
      await Promise.all(inFlight)
    },
  }

  async function sendOne(message: ClaimedMessage): Promise<void> {
    const candidate = (await findCandidacy(db.queries, message.candidate_id))!
    const outcome = await sendMessage(context, message, candidate)
    await db.transaction((tx) => completeSend(tx, context, message, outcome))
  }
}
