import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import { SECOND } from '../platform/clock.ts'
import type { App } from '../platform/http/server.ts'
import type { Rule } from './limits/limiter.ts'
import { CLOCK_WINDOW_SECONDS } from './signature.ts'

/** Bounds the memory to some 40 MB. Beyond it, the signature that was received longest ago is forgotten. */
const MAX_REMEMBERED_SIGNATURES = 200_000
/** A timestamp may be ahead of the server's clock, so that a signature is valid for twice the window. */
const SHARED_RULES: Rule[] = [{ name: 'write', kind: 'fixed', limit: 1, seconds: 2 * CLOCK_WINDOW_SECONDS }]

declare module 'fastify' {
  interface FastifyRequest {
    /** The remembered signature of a POST request without Idempotency-Key; undefined for other requests. */
    writeSignature: string | undefined
  }
}

/**
 * With REJECT_REPLAYS, rejects replayed POST requests: a signature that was already received is rejected until it expires. Requests with
 * an Idempotency-Key need no such check, because they take effect once. Signatures are remembered in the process and, if it is configured, in Redis.
 * Failed requests are forgotten, so that they can be repeated.
 */
export function guardAgainstReplays(app: App, { config, limits, clock, log }: Context) {
  /** Time at which each signature becomes invalid, by key and signature, in the order of their arrival. */
  const expiryTimes = new BoundedMap<string, number>(MAX_REMEMBERED_SIGNATURES)
  const isShared = () => config.redisUrl !== undefined

  app.decorateRequest('writeSignature', undefined)
  // Before the response is sent, so that a request cannot be repeated as soon as it has succeeded.
  app.addHook('onSend', (request, reply, payload, done) => {
    const storing = request.writeSignature === undefined ? undefined : updateSignature(request.writeSignature, reply)
    if (storing) storing.then(() => done(null, payload))
    else done(null, payload)
  })

  return function rejectReplay(
    _context: Context,
    request: FastifyRequest,
    _reply: FastifyReply,
    { idempotent }: FastifyContextConfig,
  ): undefined | Promise<void> {
    const { caller, method } = request
    if (!config.rejectReplays) return undefined
    if (method !== 'POST' || idempotent !== 'optional' || caller.idempotencyKey !== undefined) return undefined
    const signature = `${caller.keyId} ${request.headers['x-signature']}`
    const now = clock.now()
    deleteExpired(now)
    if (expiryTimes.has(signature)) throw replayProblem()
    expiryTimes.set(signature, expiryTimeOf(request))
    request.writeSignature = signature
    return isShared() ? rejectSharedReplay(signature, now) : undefined
  }

  async function rejectSharedReplay(signature: string, now: number): Promise<void> {
    const { retryAfter } = await limits.limiter.peek(signature, SHARED_RULES, now)
    if (retryAfter > 0) throw replayProblem()
  }

  /** Keeps the signature of a request that had an effect, or may have had one; forgets that of other requests. */
  function updateSignature(signature: string, reply: FastifyReply): undefined | Promise<void> {
    const { statusCode } = reply
    const hadNoEffect = statusCode >= 400 && (statusCode < 500 || reply.hasHeader('retry-after'))
    if (hadNoEffect) expiryTimes.delete(signature)
    return hadNoEffect || !isShared() ? undefined : shareSignature(signature)
  }

  async function shareSignature(signature: string): Promise<void> {
    try {
      await limits.limiter.charge(signature, SHARED_RULES, clock.now())
    } catch (error) {
      log.warn({ err: error }, 'sharing the signature of a write failed, only this process remembers it')
    }
  }

  function deleteExpired(now: number) {
    for (const [signature, expiryTime] of expiryTimes) {
      if (expiryTime > now) return
      expiryTimes.delete(signature)
    }
  }
}

function expiryTimeOf(request: FastifyRequest): number {
  return (Number(request.headers['x-timestamp']) + CLOCK_WINDOW_SECONDS + 1) * SECOND
}

function replayProblem() {
  return problem(
    'CONFLICT',
    'A request with this signature was already received, so this one was not applied. To send the same request again, sign it with an Idempotency-Key.',
  )
}
