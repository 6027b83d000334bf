import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Listener } from './listener.ts'
import { runForAllOrganisations } from './tenant-scope.ts'

/**
 * Publishes topics after commits: to subscribers in this process immediately, to other processes through PostgreSQL. A notification
 * can be lost with its process or its connection, so subscribers poll as a fallback.
 */
export interface Notifications {
  /** Calls `onPublished` each time the topic is published; `isOwn` is true if this process published it. */
  subscribe(topic: string, onPublished: (isOwn: boolean) => void): void
  publish(topic: string): void
  /** Starts receiving the notifications of other processes, too. */
  listen(listener: Listener): Promise<void>
  /** Sends the notifications that are still waiting. */
  flush(): Promise<void>
}

const CHANNEL = 'topics'
/** The first notification of a topic is sent immediately, the following ones at most once in this time. */
const BATCH_WINDOW_MS = 500
/** Maximum time that `flush` waits. */
const FLUSH_TIMEOUT_MS = 1000

/** `notify` sends a text on a PostgreSQL channel. It must not run in the publishing transaction: NOTIFY serialises commits. */
export function openNotifications(notify: (channel: string, text: string) => Promise<void>): Notifications {
  const processId = randomBytes(9).toString('base64url')
  const subscribers = new Map<string, ((isOwn: boolean) => void)[]>()
  const waitingTopics = new Set<string>()
  let sending: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const lastSentAt = new Map<string, number>()

  return {
    subscribe(topic, onPublished) {
      subscribers.set(topic, [...(subscribers.get(topic) ?? []), onPublished])
    },
    publish(topic) {
      callSubscribers(topic, true)
      if (waitingTopics.has(topic)) return
      waitingTopics.add(topic)
      scheduleSend()
    },
    listen: (listener) => listener.on(CHANNEL, onNotification),
    async flush() {
      const timeout = pause(FLUSH_TIMEOUT_MS, undefined, { ref: false })
      await Promise.race([sending, timeout])
      if (waitingTopics.size > 0) await Promise.race([sending ?? send(), timeout])
    },
  }

  function callSubscribers(topic: string, isOwn: boolean) {
    runForAllOrganisations(() => {
      for (const onPublished of subscribers.get(topic) ?? []) onPublished(isOwn)
    })
  }

  function onNotification(text: string) {
    const [sender, ...topics] = text.split(',')
    if (sender === processId) return
    // An empty text follows a reconnection: any topic may have been missed.
    for (const topic of text === '' ? subscribers.keys() : topics) callSubscribers(topic, false)
  }

  function scheduleSend() {
    if (sending || waitingTopics.size === 0) return
    const now = performance.now()
    const delayMs = Math.min(
      ...[...waitingTopics].map((topic) =>
        lastSentAt.has(topic) ? lastSentAt.get(topic)! + BATCH_WINDOW_MS - now : 0,
      ),
    )
    clearTimeout(timer)
    timer = undefined
    if (delayMs <= 0)
      sending = Promise.resolve().then(send) // together with the other topics of the same commit
    else timer = setTimeout(send, delayMs).unref()
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const topic of waitingTopics) lastSentAt.set(topic, performance.now())
    const text = [processId, ...waitingTopics].join(',')
    waitingTopics.clear()
    sending = notify(CHANNEL, text)
      .catch(() => {}) // the other processes poll
      .then(() => {
        sending = undefined
        scheduleSend()
      })
    return sending
  }
}
