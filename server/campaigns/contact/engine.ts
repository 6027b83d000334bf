import type { Context } from '../../context.ts'
import { keepLookout } from '../../platform/jobs/due-poller.ts'
import type { Running } from '../../platform/jobs/queue.ts'
import { findCandidacy } from '../candidacy.ts'
import { contactDue, soonestContact } from './contact.ts'
import { CONTACT_DUE } from './messages.ts'
import { playTurns } from './replies.ts'
import { claimSends, completeSend, giveUpLostSends, type Send, send, soonestSend } from './sends.ts'

const BATCH = 100
/** Messages that one process hands to providers at a time: each may take long, and waits for no other. */
const SENDS_AT_ONCE = 40

/**
 * Contacts people when their time has come, sends what waits to be sent, and lets the test numbers play: everything that is due
 * by now. Any number of processes may do so at once, each takes what no other has taken.
 */
export async function contactNow(context: Context): Promise<void> {
  const sends = openSends(context, () => {})
  do {
    await contactAll(context, () => false)
    await sends.start()
    await sends.settled()
  } while (sends.busy())
}

/** Keeps doing so. Providers that take long hold up other messages, if anything, and never who is contacted or plays. */
export function startContacting(context: Context): Running {
  const { db, clock, log } = context
  const report = (error: unknown) => log.warn({ err: error }, 'candidates could not be contacted yet')
  const contacting = keepLookout({
    clock,
    soonest: () => soonestContact(db.queries),
    work: (stopping) => contactAll(context, stopping),
    report,
  })
  const sends = openSends(context, () => sending.wake())
  const sending = keepLookout({ clock, soonest: () => soonestSend(db.queries), work: () => sends.start(), report })
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
    const lost = await db.transaction((tx) => giveUpLostSends(tx, context, BATCH))
    const turns = await db.transaction((tx) => playTurns(tx, context, BATCH))
    const contacts = await db.transaction((tx) => contactDue(tx, context, BATCH))
    busy = lost === BATCH || turns === BATCH || contacts === BATCH
  }
}

/** Messages on their way to providers. */
function openSends(context: Context, freed: () => void) {
  const { db, log } = context
  const underWay = new Set<Promise<void>>()
  let full = false
  return {
    /** Takes as many as there is room for, and does not wait for them. */
    async start() {
      const room = SENDS_AT_ONCE - underWay.size
      if (room === 0) return
      const claimed = await db.transaction((tx) => claimSends(tx, context, room))
      full = claimed.length === room
      for (const message of claimed) {
        const done = sendOne(message)
          .catch((error) =>
            log.warn({ err: error, message: message.message_id }, 'what became of a message is not known'),
          )
          .then(() => void underWay.delete(done))
        underWay.add(done)
        void done.then(() => full && freed())
      }
    },
    /** There may be more than there was room for. */
    busy: () => full,
    async settled() {
      await Promise.all(underWay)
    },
  }

  async function sendOne(message: Send): Promise<void> {
    const candidate = (await findCandidacy(db.queries, message.candidate_id))!
    const outcome = await send(context, message, candidate)
    await db.transaction((tx) => completeSend(tx, context, message, outcome))
  }
}
