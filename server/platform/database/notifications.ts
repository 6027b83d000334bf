import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Listener } from './listener.ts'

/**
 * What committed transactions have to tell: to this process at once, to the others through PostgreSQL. A word may be lost, with
 * the process that had it or with a connection, so whoever waits for one also looks for itself now and then.
 */
export interface Topics {
  /** `own`: whether this process told it. */
  on(topic: string, hear: (own: boolean) => void): void
  tell(topic: string): void
  /** From here on other processes are heard as well. */
  listen(listener: Listener): Promise<void>
  /** Sends what still waits to be sent. */
  settle(): Promise<void>
}

const CHANNEL = 'topics'
/** Milliseconds: the first word on a topic goes out at once, those that follow gather. */
const GATHER = 500
/** Milliseconds that a process about to end waits for its last word to go out. */
const PATIENCE = 1000

/** `notify` sends a text on a channel of PostgreSQL. Not in the transaction that tells: there, commits would wait for each other. */
export function openTopics(notify: (channel: string, text: string) => Promise<void>): Topics {
  const self = randomBytes(9).toString('base64url')
  const listeners = new Map<string, ((own: boolean) => void)[]>()
  const waiting = new Set<string>()
  let sending: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const sentAt = new Map<string, number>()

  return {
    on(topic, hear) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), hear])
    },
    tell(topic) {
      hearAll(topic, true)
      if (waiting.has(topic)) return
      waiting.add(topic)
      arrange()
    },
    listen: (listener) => listener.on(CHANNEL, heard),
    async settle() {
      const late = pause(PATIENCE, undefined, { ref: false })
      await Promise.race([sending, late])
      if (waiting.size > 0) await Promise.race([sending ?? send(), late])
    },
  }

  function hearAll(topic: string, own: boolean) {
    for (const hear of listeners.get(topic) ?? []) hear(own)
  }

  function heard(text: string) {
    const [teller, ...topics] = text.split(',')
    if (teller === self) return
    // After a reconnection anything may have been missed.
    for (const topic of text === '' ? listeners.keys() : topics) hearAll(topic, false)
  }

  function arrange() {
    if (sending || waiting.size === 0) return
    const now = performance.now()
    const rest = Math.min(...[...waiting].map((topic) => (sentAt.has(topic) ? sentAt.get(topic)! + GATHER - now : 0)))
    clearTimeout(timer)
    timer = undefined
    if (rest <= 0)
      sending = Promise.resolve().then(send) // with the other topics of the same commit
    else timer = setTimeout(send, rest).unref()
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const topic of waiting) sentAt.set(topic, performance.now())
    const text = [self, ...waiting].join(',')
    waiting.clear()
    sending = notify(CHANNEL, text)
      .catch(() => {}) // the others find it when they look
      .then(() => {
        sending = undefined
        arrange()
      })
    return sending
  }
}
