import type { Context } from '../context.ts'
import { startDuePoller } from '../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../platform/jobs/queue.ts'
import { REVIEW_MESSAGE_DUE } from './review-messages.ts'
import { claimReviewMessages, nextReviewMessageDue, sendReviewMessage, settleLostReviewMessages } from './sends.ts'

/** Concurrent sends per process. */
const BATCH_SIZE = 10

/** Sends everything that is due now. Any number of processes may run this concurrently; row locks distribute the work. */
export async function sendReviewMessagesNow(context: Context, isStopped: () => boolean = () => false): Promise<void> {
  const { db, log, keyring } = context
  await keyring.ensureFresh()
  await db.transaction((tx) => settleLostReviewMessages(tx, context))
  let hasMore = true
  while (hasMore && !isStopped()) {
    const messages = await db.transaction((tx) => claimReviewMessages(tx, context, BATCH_SIZE))
    hasMore = messages.length === BATCH_SIZE
    await Promise.all(
      messages.map((message) =>
        sendReviewMessage(context, message).catch((error) =>
          log.warn(
            { err: error, message: message.message_id },
            'sending a message to a reviewer failed, settling it when its lease expires',
          ),
        ),
      ),
    )
  }
}

/** Sends messages to reviewers, continuously. */
export function startReviewMessages(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: () => nextReviewMessageDue(db.queries, context),
    work: (isStopped) => sendReviewMessagesNow(context, isStopped),
    onError: (error) => log.warn({ err: error }, 'sending messages to reviewers failed, retrying'),
  })
  db.onCommitted(REVIEW_MESSAGE_DUE, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}
