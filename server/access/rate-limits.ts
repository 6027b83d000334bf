import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { Gauge } from 'prom-client'
import { problem } from '../api/problem.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { callerAddress } from './client-address.ts'
import { openDayCountStore, persistLimitCounters } from './limit-counters.ts'
import { DurableDayCaps } from './limits/durable-day-caps.ts'
import { FallbackLimiter } from './limits/fallback.ts'
import type { Limiter, MinuteWindow, RateLimitDecision, Rule } from './limits/limiter.ts'
import { MemoryLimiter } from './limits/memory.ts'
import { cooldownMessage, rateLimitMessage } from './limits/messages.ts'
import type { KeyLimits } from './limits/table.ts'

export interface RateLimits {
  limiter: Limiter
  /** Counts a failed authentication. Returns the seconds to wait if there were too many, else 0. */
  recordFailedAuthentication(ip: string): Promise<number>
  close(): Promise<void>
}

export interface RateLimitsOptions {
  config: Config
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
}

const FAILED_AUTHENTICATION_RULES: Rule[] = [{ name: 'auth', kind: 'fixed', limit: 60, seconds: 60 }]

export async function openRateLimits({ config, db, clock, log, metrics }: RateLimitsOptions): Promise<RateLimits> {
  const memory = new MemoryLimiter({ trackChanges: config.redisUrl === undefined })
  const stopPersisting =
    config.redisUrl === undefined ? await persistLimitCounters(memory, { db, clock, log }) : undefined
  const shared =
    config.redisUrl === undefined
      ? undefined
      : await openSharedLimiter(config.redisUrl, memory, { db, clock, log, metrics })
  const limiter = shared?.limiter ?? memory
  const sweepTimer = setInterval(() => memory.sweep(clock.now()), 1000)
  sweepTimer.unref()
  return {
    limiter,
    async recordFailedAuthentication(ip) {
      const caller = callerAddress(ip)
      const { retryAfter } = await limiter.take(caller, FAILED_AUTHENTICATION_RULES, clock.now())
      return retryAfter
    },
    async close() {
      clearInterval(sweepTimer)
      await stopPersisting?.()
      await shared?.stopStoring()
      await limiter.close()
    },
  }
}

interface RateLimitDeps {
  limits: RateLimits
  clock: Clock
}

/** Charges the call to its buckets and sets the RateLimit headers. Throws a problem if a limit is exceeded. */
export function chargeLimits(
  { limits, clock }: RateLimitDeps,
  { caller }: FastifyRequest,
  reply: FastifyReply,
  route: FastifyContextConfig,
): undefined | Promise<void> {
  const keyLimits = caller.key.limits
  const now = clock.now()
  const pendingDecision = limits.limiter.decide(caller.keyId, keyLimits, route.limit!, caller.onBehalfOf, now)
  if (pendingDecision instanceof Promise)
    return pendingDecision.then((decision) => applyDecision(decision, keyLimits, reply, now))
  return applyDecision(pendingDecision, keyLimits, reply, now)
}

/** Sets the RateLimit headers without charging the call, for responses that are sent before `chargeLimits` runs. */
export async function setRateLimitHeaders(
  { limits, clock }: RateLimitDeps,
  { caller, routeOptions }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  writeRateLimitHeaders(
    await limits.limiter.minuteWindow(caller.keyId, caller.key.limits, routeOptions.config.limit!, clock.now()),
    reply,
  )
}

function writeRateLimitHeaders({ limit, remaining, reset }: MinuteWindow, reply: FastifyReply) {
  reply.header('ratelimit-limit', limit)
  reply.header('ratelimit-remaining', remaining)
  reply.header('ratelimit-reset', reset)
}

function applyDecision(decision: RateLimitDecision, limits: KeyLimits, reply: FastifyReply, now: number): undefined {
  writeRateLimitHeaders(decision, reply)
  const { errorCode, exceeded, retryAfter, isSharedCooldown } = decision
  if (!errorCode) return
  const message = exceeded
    ? rateLimitMessage(exceeded, limits, retryAfter)
    : cooldownMessage(limits, isSharedCooldown ?? false, retryAfter, now)
  throw problem(errorCode, message, { retryAfter })
}

const STORE_INTERVAL_MS = 1000

/** Opens a limiter whose counts are shared in Redis, and whose daily limits are also stored in the database. */
async function openSharedLimiter(
  url: string,
  memory: MemoryLimiter,
  { db, clock, log, metrics }: Omit<RateLimitsOptions, 'config'>,
): Promise<{ limiter: Limiter; stopStoring(): Promise<void> }> {
  const redisDownGauge = new Gauge({
    name: 'attestry_redis_down',
    help: '1 while Redis does not respond and each process counts rate limits separately.',
    registers: [metrics.registry],
  })
  // Imported on demand: most deployments run without Redis, and its client takes memory.
  const { RedisLimiter } = await import('./limits/redis.ts')
  const sharedLimiter = new FallbackLimiter(new RedisLimiter(url), memory, {
    onSwitch(engine, reason) {
      redisDownGauge.set(engine === 'memory' ? 1 : 0)
      if (engine === 'memory') {
        metrics.alarms.inc({ alarm: 'redis_down' })
        log.error({ reason }, 'Redis is not responding, counting rate limits in each process until it does')
      } else {
        log.warn('Redis is responding again, sharing rate limits between processes')
        void store(() => limiter.refresh()) // Redis may have lost its counts
      }
    },
  })
  const limiter = new DurableDayCaps(sharedLimiter, openDayCountStore(db, clock))
  await sharedLimiter.ready
  await limiter.refresh()
  let storing = Promise.resolve()
  const timer = setInterval(() => void store(() => limiter.flush()), STORE_INTERVAL_MS)
  timer.unref()
  return {
    limiter,
    async stopStoring() {
      clearInterval(timer)
      await store(() => limiter.flush())
    },
  }

  function store(run: () => Promise<void>): Promise<void> {
    storing = storing.then(run).catch((error) => log.warn({ err: error }, 'storing daily limits failed, retrying'))
    return storing
  }
}

/** Returns the error if Redis does not respond, else undefined. */
export async function pingRedis(url: string): Promise<string | undefined> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5000,
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

export const deleteExpiredLimitCountersJob = defineJob<Record<string, never>>('forget-limit-counters')

export async function deleteExpiredLimitCounters(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('limit_counters').where('expires_at', '<=', new Date(now)).execute()
}
