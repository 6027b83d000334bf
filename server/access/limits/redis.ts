import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { DAY, MINUTE, SECOND } from '../../platform/clock.ts'
import { cooldownMs } from './cooldown.ts'
import {
  type ExceededMeter,
  type LimitError,
  type Limited,
  type Limiter,
  MAX_LISTED,
  METERS,
  type MinuteWindow,
  type RateLimitDecision,
  type Rule,
  type RuleStates,
} from './limiter.ts'
import { hashName, shortenName } from './names.ts'
import { ADD_LIMITED, METER_CALLER } from './redis-caller-scripts.ts'
import { BUCKET_BYTES, BUCKET_INDEX, bucketOffset, DECIDE, RECORD_PAGE, RECORD_SKILLS } from './redis-scripts.ts'
import type { Bucket, KeyLimits, LimitClass } from './table.ts'
import { DAY_SLACK_MS, MINUTE_SLACK_MS, minuteOf, toWholeSeconds } from './windows.ts'

class Script<Result> {
  readonly lua: string
  readonly sha: string

  constructor(lua: string) {
    this.lua = lua
    this.sha = createHash('sha1').update(lua).digest('hex')
  }

  /** Runs the script by its hash. Sends the source only if the server has not cached the script. */
  async run(redis: Redis | Cluster, keys: string[], args: (string | number)[]): Promise<Result> {
    try {
      return (await redis.evalsha(this.sha, keys.length, ...keys, ...args)) as Result
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (await redis.eval(this.lua, keys.length, ...keys, ...args)) as Result
    }
  }
}

const decide = new Script<
  [result: number, wait: number, count: number, reset: number, exceeded: number, cooldownStarted: number]
>(DECIDE)
const recordPage = new Script<number>(RECORD_PAGE)
const recordSkills = new Script<number>(RECORD_SKILLS)
const meterCaller = new Script<[rejectedBy: number, wait: number, charged: number, meters: number[]]>(METER_CALLER)
const addLimited = new Script<null>(ADD_LIMITED)

/**
 * Creates a client whose commands fail immediately while there is no connection, because a request is waiting for the result. ioredis
 * is imported on demand because it has a subclass of String, which makes `charCodeAt` ten times slower in the whole process.
 */
async function createClient(url: string): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis')
  const shared = { enableOfflineQueue: false, lazyConnect: true }
  const redisOptions = {
    // Enough for the results of scripts, and parsed faster.
    protocol: 2 as const,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times: number) => Math.min(times * 100, SECOND),
    connectTimeout: 2 * SECOND,
  }
  const nodes = url.split(',')
  const client =
    nodes.length > 1
      ? new Cluster(nodes, { ...shared, redisOptions, clusterRetryStrategy: redisOptions.retryStrategy })
      : new Redis(url, { ...shared, ...redisOptions })
  // Failed commands reject their promise; without a listener, the event would end the process.
  client.on('error', () => {})
  return client
}

const ERROR_CODES = [undefined, 'RATE_LIMITED', 'COOLDOWN'] as const
const RATE_LIMITED = 1

function exceededMeter(exceeded: number, limitClass: LimitClass, cooldownStarted: number): ExceededMeter {
  const index = exceeded - 1
  const bucket = (['key', limitClass, 'recruiter'] as const)[Math.floor(index / METERS.length)]!
  return { bucket, meter: METERS[index % METERS.length]!, startsCooldown: cooldownStarted === 1 }
}

/** Rate limiter in Redis, shared by all processes of a deployment. A decision is one script and one round trip. */
export class RedisLimiter implements Limiter {
  readonly #url: string
  readonly #prefix: string
  #client: Redis | Cluster | undefined
  #closed = false
  /** Cached script arguments for the limits of a key and each class. */
  readonly #cachedArguments = new WeakMap<KeyLimits, Partial<Record<LimitClass, LimitArguments>>>()

  /** `url` is the URL of a server, or several URLs of cluster nodes separated by commas. */
  constructor(url: string, prefix = 'attestry:limits:') {
    this.#url = url
    this.#prefix = prefix
  }

  /** Connects. After a failure, the client retries in the background. */
  async connect(): Promise<void> {
    this.#client ??= await createClient(this.#url)
    if (!this.#closed) await this.#client.connect()
  }

  get #redis(): Redis | Cluster {
    if (!this.#client) throw new Error('Redis is not connected yet')
    return this.#client
  }

  async decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): Promise<RateLimitDecision> {
    const tag = this.#tag(key)
    const { limitsJson, recruiterTtlMs } = this.#limitArguments(limits, limitClass)
    // Do not rename Redis keys: servers of different versions share them during an upgrade.
    const keys = [tag, `${tag}:refusals`]
    if (recruiter !== undefined) keys.push(`${tag}:for:${shortenName(recruiter)}`)
    const args = [now, BUCKET_INDEX[limitClass]!, limitsJson, recruiterTtlMs]
    const [result, wait, count, reset, exceeded, cooldownStarted] = await decide.run(this.#redis, keys, args)
    const limit = limits.buckets[limitClass].minute
    return {
      errorCode: ERROR_CODES[result],
      exceeded: result === RATE_LIMITED ? exceededMeter(exceeded, limitClass, cooldownStarted) : undefined,
      retryAfter: toWholeSeconds(wait),
      limit,
      remaining: Math.max(0, limit - count),
      reset: toWholeSeconds(reset),
    }
  }

  async minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): Promise<MinuteWindow> {
    const start = bucketOffset(limitClass)
    const bucket = await this.#redis.getrangeBuffer(this.#tag(key), start, start + BUCKET_BYTES - 1)
    const { minute: limit } = limits.buckets[limitClass]
    let minute = minuteOf(now)
    let count = 0
    if (bucket.length === BUCKET_BYTES && bucket.readUInt32LE(16) >= minute) {
      count = bucket.readUInt32LE(20)
      // If the clock was set back slightly, the later minute continues.
      if (bucket.readUInt32LE(16) * MINUTE - now <= MINUTE_SLACK_MS) minute = bucket.readUInt32LE(16)
    }
    return { limit, remaining: Math.max(0, limit - count), reset: toWholeSeconds((minute + 1) * MINUTE - now) }
  }

  async cooldown(key: string, now: number): Promise<number> {
    const header = await this.#redis.getrangeBuffer(this.#tag(key), 0, 11)
    if (header.length < 12) return 0
    const start = header.readDoubleLE(0)
    return Math.max(0, Math.min(start, now) + cooldownMs(header.readUInt32LE(8)) - now)
  }

  async recordPage(key: string, limits: KeyLimits, now: number): Promise<LimitError | undefined> {
    const tag = this.#tag(key)
    const keys = [tag, `${tag}:refusals`, `${tag}:pages`]
    const wait = await recordPage.run(this.#redis, keys, [now, limits.browsePagesPerHour])
    return wait > 0 ? { code: 'COOLDOWN', retryAfter: toWholeSeconds(wait) } : undefined
  }

  async recordSkills(
    key: string,
    limits: KeyLimits,
    skills: readonly number[],
    now: number,
  ): Promise<LimitError | undefined> {
    const tag = this.#tag(key)
    const keys = [`${tag}:day`, `${tag}:skills`]
    const wait = await recordSkills.run(this.#redis, keys, [now, limits.skillsPerDay, ...skills])
    return wait > 0 ? { code: 'DAILY_CAP', retryAfter: toWholeSeconds(wait) } : undefined
  }

  take(caller: string, rules: readonly Rule[], now: number): Promise<RuleStates> {
    return this.#caller(caller, rules, now, 'take')
  }

  peek(caller: string, rules: readonly Rule[], now: number): Promise<RuleStates> {
    return this.#caller(caller, rules, now, 'peek')
  }

  charge(caller: string, rules: readonly Rule[], now: number): Promise<RuleStates> {
    return this.#caller(caller, rules, now, 'charge')
  }

  async #caller(caller: string, rules: readonly Rule[], now: number, mode: string): Promise<RuleStates> {
    const tag = this.#tag(caller)
    const keys = rules.map(({ name }) => `${tag}:${name}`)
    const numbers = rules.flatMap((rule) => [rule.kind, rule.limit, rule.seconds * SECOND])
    const [rejectedBy, wait, charged, meters] = await meterCaller.run(this.#redis, keys, [now, mode, ...numbers])
    const states = rules.map((rule, i) => {
      const [ruleWait, remaining, reset] = meters.slice(i * 3, i * 3 + 3) as [number, number, number]
      if (charged && rule.listed && ruleWait > 0) this.#addLimited(caller, rule.name, now + ruleWait)
      return { rule: rule.name, limit: rule.limit, remaining, reset: toWholeSeconds(reset) }
    })
    return { rejectedBy: rules[rejectedBy - 1]?.name, retryAfter: toWholeSeconds(wait), states }
  }

  /** Adds a limited caller. The list has another hash tag and therefore needs a separate command, which is not awaited. */
  #addLimited(caller: string, rule: string, until: number): void {
    addLimited.run(this.#redis, [this.#limitedKey], [MAX_LISTED, until, `${rule} ${caller}`]).catch(() => {})
  }

  async listLimited(now: number): Promise<Limited[]> {
    await this.#redis.zremrangebyscore(this.#limitedKey, '-inf', now)
    const found = await this.#redis.zrange(this.#limitedKey, 0, '-1', 'WITHSCORES')
    const limited: Limited[] = []
    for (let i = 0; i < found.length; i += 2) {
      const [rule, ...caller] = found[i]!.split(' ')
      limited.push({ caller: caller.join(' '), rule: rule!, until: Number(found[i + 1]) })
    }
    return limited
  }

  /** Makes a decision, so that a server that is read-only or out of memory does not pass the probe. */
  async probe(): Promise<void> {
    await this.take('probe', [{ name: 'probe', kind: 'fixed', limit: 1, seconds: 1 }], Date.now())
  }

  close(): void {
    this.#closed = true
    this.#client?.disconnect()
  }

  /** Returns the prefix of all Redis keys of a caller. The hash tag in braces keeps them on one node of a cluster. */
  #tag(caller: string): string {
    return `${this.#prefix}{${caller.includes('}') ? hashName(caller) : shortenName(caller)}}`
  }

  get #limitedKey(): string {
    return `${this.#prefix}{limited}`
  }

  #limitArguments(limits: KeyLimits, limitClass: LimitClass): LimitArguments {
    let byClass = this.#cachedArguments.get(limits)
    if (!byClass) {
      byClass = {}
      this.#cachedArguments.set(limits, byClass)
    }
    byClass[limitClass] ??= toLimitArguments(limits, limitClass)
    return byClass[limitClass]
  }
}

interface LimitArguments {
  /** Refill rate, capacity, minute and day limit of the three buckets, as JSON. */
  limitsJson: string
  /** TTL of a recruiter's counts, renewed by the first call in a minute. */
  recruiterTtlMs: number
}

function toLimitArguments({ buckets }: KeyLimits, limitClass: LimitClass): LimitArguments {
  const { key, recruiter } = buckets
  const numbersOf = (b: Bucket) => [b.refillPerMs, b.capacity, b.minute, b.day === Infinity ? -1 : b.day]
  return {
    limitsJson: JSON.stringify([key, buckets[limitClass], recruiter].flatMap(numbersOf)),
    recruiterTtlMs: recruiter.day === Infinity ? MINUTE + recruiter.fillMs + MINUTE_SLACK_MS : DAY + DAY_SLACK_MS,
  }
}
