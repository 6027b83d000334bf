import { dayOf, KEPT_DAYS } from '../../events/partitions.ts'
import type { Clock } from '../../platform/clock.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log.ts'
import type { Vault } from '../../platform/vault.ts'
import { signingSecrets } from '../secrets.ts'
import type { Resolve, TargetRules } from '../target-rules.ts'
import type { Webhook } from '../webhooks.ts'
import { type DueDelivery, findDue } from './due.ts'
import { type Health, judge } from './health.ts'
import type { Recorder } from './recorder.ts'
import { nextAttempt, readRetryAfter } from './schedule.ts'
import { openSender, type Reply, type Sender } from './sender.ts'
import { type Sign, signer } from './signature.ts'

/** What this process does for one endpoint while it holds it. */
export interface Endpoint {
  /** Something is due, or may be: of the last days, or of any. */
  wake(which: Which): void
  /** Its URL, secrets or status are not what they were. */
  changed(): void
  /** Sends nothing more; what is under way goes on. */
  suspend(): void
  resume(): void
  /** Breaks off what is under way, without a record: it is as if it had not been tried. */
  abandon(): void
  close(): void
  readonly inFlight: number
  /** Since when there has been nothing to do; undefined while there is. In milliseconds of performance.now(). */
  readonly idleSince: number | undefined
}

export type Which = 'recent' | 'any'

export interface EndpointTools {
  db: Database
  clock: Clock
  vault: Vault
  log: Log
  recorder: Recorder
  rules: TargetRules
  resolve: Resolve
  /** Milliseconds for a whole attempt. */
  timeout: number
  ca?: string | undefined
  observe(reply: Reply): void
  /** A delivery of this endpoint will be due. */
  due(webhookId: string, at: number): void
}

/** Attempts under way at once: how many to start with, at most, and for an endpoint that takes nothing. */
const FIRST_WINDOW = 16
const WIDEST_WINDOW = 64
const NARROWEST_WINDOW = 4
/** Deliveries in hand: read, under way, or not written down yet. Memory never holds more of an endpoint. */
const MOST_IN_HAND = 512
const READ_AT_ONCE = 128
const RETRY_READING = 250
/** What was read longer ago is read again before it is sent: it may have been acknowledged by pull meanwhile. Milliseconds. */
const FRESH = 3000

interface Target {
  webhook: Webhook
  sender: Sender
  sign: Sign
  /** When a secret that was replaced stops signing. */
  signUntil: number
}

export function openEndpoint(webhookId: string, tools: EndpointTools): Endpoint {
  const { db, clock, vault, log, recorder } = tools
  const inHand = new Set<string>()
  let waiting: DueDelivery[] = []
  let target: Target | undefined
  let health: Health = { status: 'enabled', failingSince: null }
  let stale = true
  let maybeMore: Which | undefined = 'any'
  let reading = false
  let readAt = 0
  let held = true
  let abandoned = false
  let inFlight = 0
  let window = FIRST_WINDOW
  let failuresInARow = 0
  let idleSince: number | undefined

  pump()
  return {
    wake(which) {
      lookFor(which)
      pump()
    },
    changed() {
      stale = true
      lookFor('any')
      putBack()
      pump()
    },
    suspend() {
      held = false
      putBack()
    },
    resume() {
      held = true
      stale = true
      lookFor('any')
      pump()
    },
    abandon() {
      held = false
      abandoned = true
      putBack()
      target?.sender.abandon()
    },
    close() {
      held = false
      putBack()
      target?.sender.close()
    },
    get inFlight() {
      return inFlight
    },
    get idleSince() {
      return idleSince
    },
  }

  function lookFor(which: Which) {
    if (maybeMore !== 'any') maybeMore = which
  }

  function putBack() {
    for (const { event_id } of waiting) inHand.delete(event_id)
    waiting = []
  }

  function pump() {
    if (held) {
      if (waiting.length > 0 && performance.now() - readAt > FRESH) {
        putBack()
        lookFor('any')
      }
      while (target && !stale && waiting.length > 0 && inFlight < window)
        attempt(target, waiting.shift()!).catch(report)
      if (maybeMore && !reading && waiting.length <= window / 2 && inHand.size < MOST_IN_HAND) void read()
    }
    const busy = reading || inHand.size > 0 || (held && maybeMore !== undefined)
    idleSince = busy ? undefined : (idleSince ?? performance.now())
  }

  async function read() {
    reading = true
    const which = maybeMore!
    maybeMore = undefined
    try {
      if (stale) await readTarget()
      if (!target) return
      const limit = Math.min(READ_AT_ONCE, 2 * window)
      const due = await findDue(
        db.queries,
        webhookId,
        clock.now(),
        inHand,
        limit,
        which === 'recent' ? recentDays() : undefined,
      )
      if (due.length === limit) lookFor(which)
      if (!held || stale) return
      readAt = performance.now()
      for (const delivery of due) {
        inHand.add(delivery.event_id)
        waiting.push(delivery)
      }
    } catch (error) {
      report(error)
      setTimeout(() => {
        lookFor(which)
        pump()
      }, RETRY_READING).unref()
    } finally {
      reading = false
      pump()
    }
  }

  function report(error: unknown) {
    log.warn({ err: error, webhook_id: webhookId }, 'an endpoint could not be sent to')
  }

  /** An event that got its place a moment ago has yesterday's day at most. */
  function recentDays() {
    return [...new Set([dayOf(clock.now()), dayOf(clock.now() - HOUR), dayOf(clock.now() + HOUR)])]
  }

  async function readTarget() {
    stale = false
    let webhook: Webhook | undefined
    try {
      webhook = (await db.queries
        .selectFrom('webhooks')
        .selectAll()
        .where('webhook_id', '=', webhookId)
        .where('status', 'in', ['enabled', 'failing'])
        .executeTakeFirst()) as Webhook | undefined
    } catch (error) {
      stale = true
      throw error
    }
    const before = target
    target = webhook && {
      webhook,
      sender: before?.webhook.url === webhook.url ? before.sender : await openTo(webhook),
      ...signing(webhook),
    }
    if (before && before.sender !== target?.sender) before.sender.close()
    if (webhook) health = healthOf(webhook)
  }

  function openTo({ url, mode }: Webhook) {
    window = FIRST_WINDOW
    return openSender({ ...tools, url, mode, connections: WIDEST_WINDOW })
  }

  function signing(webhook: Webhook): Pick<Target, 'sign' | 'signUntil'> {
    const { secrets, until } = signingSecrets(webhook, vault, clock.now())
    return { sign: signer(secrets), signUntil: until }
  }

  async function attempt(to: Target, delivery: DueDelivery) {
    inFlight++
    const at = clock.now()
    if (at >= to.signUntil) Object.assign(to, signing(to.webhook))
    const body = bodyOf(delivery)
    const timestamp = Math.floor(at / 1000)
    const reply = await to.sender.send(
      [
        ...HEADERS,
        'webhook-id',
        delivery.event_id,
        'webhook-timestamp',
        String(timestamp),
        'webhook-signature',
        to.sign(delivery.event_id, timestamp, body),
      ],
      body,
    )
    inFlight--
    if (abandoned) return
    tools.observe(reply)
    adapt(reply.error === null)
    record(delivery, reply, at)
    pump()
  }

  /** An endpoint that takes nothing is asked little; one that takes what it gets is given more at once. */
  function adapt(taken: boolean) {
    if (taken) {
      failuresInARow = 0
      window = Math.min(WIDEST_WINDOW, window + 1)
    } else if (++failuresInARow >= window) {
      failuresInARow = 0
      window = Math.max(NARROWEST_WINDOW, Math.floor(window / 2))
    }
  }

  function record(delivery: DueDelivery, reply: Reply, at: number) {
    const { day, event_id, round, failures, created_at } = delivery
    const { statusCode, error, answer, milliseconds } = reply
    const taken = error === null
    const judged = judge(health, taken, at)
    const changed = judged !== health ? judged : undefined
    health = judged
    const rest = statusCode === 429 || statusCode === 503 ? readRetryAfter(reply.retryAfter, clock.now()) : 0
    const next = taken ? at : nextAttempt(clock.now(), failures + 1, rest)
    const tooOld = next >= created_at.getTime() + KEPT_DAYS * DAY
    recorder.add({
      day,
      event_id,
      webhook_id: webhookId,
      round,
      status: taken ? 'delivered' : tooOld ? 'failed' : 'pending',
      next_attempt_at: next,
      attempt: {
        attempted_at: new Date(at).toISOString(),
        status_code: statusCode,
        latency_ms: milliseconds,
        error,
        answer,
      },
      health: changed,
      recorded(due) {
        inHand.delete(event_id)
        if (due !== undefined) tools.due(webhookId, due)
        pump()
      },
    })
  }
}

const HEADERS = ['content-type', 'application/json', 'user-agent', 'Attestry-Webhooks/1']

/** The same bytes at every attempt. */
export function bodyOf({ event_id, type, mode, sequence, created_at, data }: DueDelivery): string {
  return `{"event_id":"${event_id}","type":"${type}","mode":"${mode}","sequence":${sequence},"created_at":"${created_at.toISOString()}","data":${data}}`
}

function healthOf({ status, failing_since }: Webhook): Health {
  return { status: status === 'failing' ? 'failing' : 'enabled', failingSince: failing_since?.getTime() ?? null }
}
