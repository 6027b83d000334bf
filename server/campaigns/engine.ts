import type { Context } from '../context.ts'
import type { Running } from '../platform/queue.ts'
import { findCandidacy } from './candidacy.ts'
import { contactDue, soonestContact } from './contact.ts'
import { CONTACT_DUE } from './messages.ts'
import { playTurns } from './replies.ts'
import { claimSends, completeSend, giveUpLostSends, type Send, send } from './sends.ts'

const BATCH = 100
/** Messages that one process hands to providers at a time: each may take long, and waits for no other. */
const SENDS_AT_ONCE = 40
/** Milliseconds: the longest rest, since another process may have added something; and the shortest. */
const LONGEST_REST = 500
const SHORTEST_REST = 20

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
  const contacting = keepDoing(context, (stopping) => contactAll(context, stopping))
  const sends = openSends(context, () => sending.wake())
  const sending = keepDoing(context, () => sends.start())
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

/** Works, rests until the next thing is due or somebody announces one, and works again. */
function keepDoing({ db, clock, log }: Context, work: (stopping: () => boolean) => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = false
  db.onCommitted(CONTACT_DUE, wake)
  wake()
  return {
    wake,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }

  function wake() {
    if (stopped) return
    clearTimeout(timer)
    again = running !== undefined
    running ??= round().finally(() => {
      running = undefined
      if (again) wake()
    })
  }

  async function round() {
    let rest = LONGEST_REST
    try {
      const began = clock.now()
      await work(() => stopped)
      const due = await soonestContact(db.queries, began)
      if (due !== undefined) rest = Math.min(rest, Math.max(SHORTEST_REST, due - clock.now()))
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'candidates could not be contacted yet')
    }
    if (!stopped) timer = setTimeout(wake, rest)
  }
}
