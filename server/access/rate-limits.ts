import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { Gauge } from 'prom-client'
import { problem } from '../api/problem.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { callerAddress } from './client-address.ts'
import { keepCounters } from './limit-counters.ts'
import { FallbackLimiter } from './limits/fallback.ts'
import type { Decision, Limiter, MinuteWindow, Rule } from './limits/limiter.ts'
import { MemoryLimiter } from './limits/memory.ts'
import { overLimit, resting } from './limits/messages.ts'
import type { KeyLimits } from './limits/table.ts'

/** What the rest of the server asks of the rate limits. */
export interface Limits {
  limiter: Limiter
  /** Counts a failed authentication; answers the seconds to wait where there were too many. */
  failedAuthentication(ip: string): Promise<number>
  close(): Promise<void>
}

export interface LimitsOptions {
  config: Config
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
}

const FAILED_AUTHENTICATIONS: Rule[] = [{ name: 'auth', kind: 'fixed', limit: 60, seconds: 60 }]

export async function openLimits({ config, db, clock, log, metrics }: LimitsOptions): Promise<Limits> {
  const memory = new MemoryLimiter({ saving: config.redisUrl === undefined })
  const stopKeeping = config.redisUrl === undefined ? await keepCounters(memory, { db, clock, log }) : undefined
  const limiter = config.redisUrl ? await sharedLimiter(config.redisUrl, memory, log, metrics) : memory
  const sweep = setInterval(() => memory.sweep(clock.now()), 1000)
  sweep.unref()
  return {
    limiter,
    async failedAuthentication(ip) {
      const caller = callerAddress(ip)
      const { retryAfter } = await limiter.take(caller, FAILED_AUTHENTICATIONS, clock.now())
      return retryAfter
    },
    async close() {
      clearInterval(sweep)
      await stopKeeping?.()
      await limiter.close()
    },
  }
}

/** Charges the call to its buckets and tells the caller how much is left. */
export function chargeLimits(
  { limits, clock }: Context,
  { caller }: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
): undefined | Promise<void> {
  const own = caller.key.limits
  const decided = limits.limiter.decide(caller.keyId, own, route.limit!, caller.onBehalfOf, clock.now())
  if (decided instanceof Promise) return decided.then((decision) => applyDecision(decision, own, reply))
  return applyDecision(decided, own, reply)
}

/** Tells how much is left without charging, for an answer that comes before the limits. */
export async function tellLimits(
  { limits, clock }: Context,
  { caller, routeOptions }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  setHeaders(
    await limits.limiter.minute(caller.keyId, caller.key.limits, routeOptions.config.limit!, clock.now()),
    reply,
  )
}

function setHeaders({ limit, remaining, reset }: MinuteWindow, reply: FastifyReply) {
  reply.header('ratelimit-limit', limit)
  reply.header('ratelimit-remaining', remaining)
  reply.header('ratelimit-reset', reset)
}

function applyDecision(decision: Decision, limits: KeyLimits, reply: FastifyReply): undefined {
  setHeaders(decision, reply)
  const { refused, over, retryAfter } = decision
  if (!refused) return
  throw problem(refused, over ? overLimit(over, limits, retryAfter) : resting(retryAfter), { retryAfter })
}

async function sharedLimiter(url: string, memory: MemoryLimiter, log: Log, metrics: Metrics): Promise<Limiter> {
  const down = new Gauge({
    name: 'attestry_redis_down',
    help: '1 while Redis does not answer and each process counts rate limits on its own.',
    registers: [metrics.registry],
  })
  // Loaded where it is needed: most deployments run without Redis, and its client takes memory.
  const { RedisLimiter } = await import('./limits/redis.ts')
  const limiter = new FallbackLimiter(new RedisLimiter(url), memory, {
    onSwitch(state, reason) {
      down.set(state === 'memory' ? 1 : 0)
      if (state === 'memory') {
        metrics.alarms.inc({ alarm: 'redis_down' })
        log.error({ reason }, 'Redis does not answer: rate limits are counted in each process until it does')
      } else log.warn('Redis answers again: rate limits are shared')
    },
  })
  await limiter.ready
  return limiter
}

/** What keeps Redis from answering, or undefined. */
export async function redisAnswers(url: string): Promise<string | undefined> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5000,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await redis.ping()
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    redis.disconnect()
  }
}

export const forgetLimitCounters = defineJob<Record<string, never>>('forget-limit-counters')

export async function deleteOldCounters(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('limit_counters').where('expires_at', '<=', new Date(now)).execute()
}
