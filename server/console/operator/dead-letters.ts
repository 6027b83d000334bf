import { problem } from '../../api/problem.ts'
import { discardContact, discardLostSend } from '../../campaigns/contact/discard.ts'
import { CONTACT_DUE } from '../../campaigns/contact/messages.ts'
import { deleteReplies } from '../../channels/simulator/pending-replies.ts'
import { CREDENTIALS_DUE, cancelIssue } from '../../credentials/holders/consents.ts'
import { discardRecordedEvent, EVENTS_RECORDED } from '../../events/record.ts'
import { MANDATE_TO_PREPARE } from '../../mandates/mandates.ts'
import { failUnreadableMandate } from '../../mandates/preparation.ts'
import type { Clock } from '../../platform/clock.ts'
import { notifyAfterCommit, type Tx } from '../../platform/database/database.ts'
import {
  type DeadLetter,
  type DeadLetterQueue,
  deleteDeadLetter,
  retryDeadLetter,
} from '../../platform/jobs/dead-letters.ts'
import { clearTestResponse, TEST_REVIEW_REQUESTED } from '../../verification/reviews/test-reviewers.ts'

interface QueueActions {
  /** The notification that wakes the engine of the queue. */
  topic: string
  /** Removes the row from its queue, so that it is not processed again. */
  discard: (tx: Tx, clock: Clock, id: string) => Promise<void>
}

const actionsByQueue: Record<DeadLetterQueue, QueueActions> = {
  contacts: { topic: CONTACT_DUE, discard: discardContact },
  'test-replies': { topic: CONTACT_DUE, discard: (tx, _clock, id) => deleteReplies(tx, [id]) },
  'lost-sends': { topic: CONTACT_DUE, discard: discardLostSend },
  'prepare-mandate': { topic: MANDATE_TO_PREPARE, discard: failUnreadableMandate },
  'test-reviews': { topic: TEST_REVIEW_REQUESTED, discard: (tx, _clock, id) => clearTestResponse(tx, id) },
  'issue-credentials': { topic: CREDENTIALS_DUE, discard: (tx, _clock, id) => cancelIssue(tx, id) },
  events: { topic: EVENTS_RECORDED, discard: (tx, _clock, id) => discardRecordedEvent(tx, id) },
}

/** Retries a dead letter now. */
export async function retryNow(tx: Tx, clock: Clock, queue: string, id: string): Promise<DeadLetter> {
  const letter = await retryDeadLetter(tx, clock, queue, id)
  if (!letter) throw notFoundProblem(queue, id)
  notifyAfterCommit(tx, actionsByQueue[letter.queue].topic)
  return letter
}

/** Discards a dead letter: its row is not processed again. */
export async function discard(tx: Tx, clock: Clock, queue: string, id: string): Promise<DeadLetter> {
  const letter = await deleteDeadLetter(tx, queue, id)
  if (!letter) throw notFoundProblem(queue, id)
  await actionsByQueue[letter.queue].discard(tx, clock, id)
  return letter
}

function notFoundProblem(queue: string, id: string) {
  return problem(
    'NOT_FOUND',
    `Dead letter ${id} of the queue ${queue} not found. It may have been processed by a retry.`,
  )
}
