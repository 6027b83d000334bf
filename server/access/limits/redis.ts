import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { DAY, MINUTE, SECOND } from '../../platform/clock.ts'
import { cooldownMs } from './cooldown.ts'
import {
  type CallerDecision,
  type ExceededMeter,
  type LimitError,
  type LimitedCaller,
  type Limiter,
  MAX_LIMITED_CALLERS,
  METER_NAMES,
  type MinuteWindow,
  type RateLimitDecision,
  type Rule,
} from './limiter.ts'
import { hashName, shortenName } from './names.ts'
import { ADD_LIMITED_CALLER_SCRIPT, METER_CALLER_SCRIPT } from './redis-caller-scripts.ts'
import {
  BUCKET_BYTES,
  BUCKET_INDEX,
  bucketOffset,
  DECIDE_SCRIPT,
  RECORD_PAGE_SCRIPT,
  RECORD_SKILLS_SCRIPT,
} from './redis-scripts.ts'
import type { Bucket, KeyLimits, LimitClass } from './table.ts'
import { DAY_SLACK_MS, MINUTE_SLACK_MS, minuteNumber, toLimitError, toWholeSeconds } from './windows.ts'

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

const decideScript = new Script<
  [result: number, wait: number, count: number, reset: number, exceeded: number, cooldowns: number]
>(DECIDE_SCRIPT)
type Waits = [keyMs: number, sharedMs: number]
const recordPageScript = new Script<Waits>(RECORD_PAGE_SCRIPT)
const recordSkillsScript = new Script<Waits>(RECORD_SKILLS_SCRIPT)
const meterCallerScript = new Script<[rejectedBy: number, wait: number, charged: number, meters: number[]]>(
  METER_CALLER_SCRIPT,
)
const addLimitedScript = new Script<null>(ADD_LIMITED_CALLER_SCRIPT)

/**
 * Creates a client whose commands fail immediately while there is no connection, because a request is waiting for the result. ioredis
 * is imported on demand because it has a subclass of String, which makes `charCodeAt` ten times slower in the whole process.
 */
async function createClient(url: string): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis')
  const sharedOptions = { enableOfflineQueue: false, lazyConnect: true }
  const redisOptions = {
    // Version 2 of the protocol supports the results of the scripts, and is parsed faster than version 3.
    protocol: 2 as const,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times: number) => Math.min(times * 100, SECOND),
    connectTimeout: 2 * SECOND,
  }
  const nodes = url.split(',')
  const client =
    nodes.length > 1
      ? new Cluster(nodes, { ...sharedOptions, redisOptions, clusterRetryStrategy: redisOptions.retryStrategy })
      : new Redis(url, { ...sharedOptions, ...redisOptions })
  // Failed commands reject their promise; without a listener, the event would end the process.
  client.on('error', () => {})
  return client
}

const ERROR_CODES = [undefined, 'RATE_LIMITED', 'COOLDOWN'] as const
const RATE_LIMITED_RESULT = 1

const COOLDOWN_RESULT = 2

/** Bits of the cooldowns that a rejection starts, or that reject a call. */
const KEY_COOLDOWN = 1
const SHARED_COOLDOWN = 2

/**
 * Converts the number of the exceeded meter that the script returns: 1 to 3 for the key, 4 to 6 for the class, 7 to 9 for the
 * recruiter, 10 to 12 for the organisation, 13 to 15 for the class of the organisation.
 */
function toExceededMeter(exceeded: number, limitClass: LimitClass, startedCooldowns: number): ExceededMeter {
  const meterIndex = exceeded - 1
  const bucketIndex = Math.floor(meterIndex / METER_NAMES.length)
  return {
    bucket: (['key', limitClass, 'recruiter', 'key', limitClass] as const)[bucketIndex]!,
    meter: METER_NAMES[meterIndex % METER_NAMES.length]!,
    startsCooldown: (startedCooldowns & KEY_COOLDOWN) !== 0,
    ...(bucketIndex > 2 ? { shared: true } : {}),
    ...(startedCooldowns & SHARED_COOLDOWN ? { startsSharedCooldown: true } : {}),
  }
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

  /** Connects to Redis. After a failure, the client retries in the background. */
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
    const { keyPrefix, sharedPrefix } = this.#prefixes(key, limits)
    const { limitsJson, recruiterTtlMs } = this.#limitArguments(limits, limitClass)
    // Do not rename Redis keys: servers of different versions share them during an upgrade.
    const keys = [keyPrefix, `${keyPrefix}:refusals`]
    if (sharedPrefix !== undefined) keys.push(sharedPrefix, `${sharedPrefix}:refusals`)
    if (recruiter !== undefined) keys.push(`${keyPrefix}:for:${shortenName(recruiter)}`)
    const args = [
      now,
      BUCKET_INDEX[limitClass]!,
      limitsJson,
      recruiterTtlMs,
      limits.rejectionsBeforeCooldown,
      limits.shared?.limits.rejectionsBeforeCooldown ?? 0,
    ]
    const [result, wait, count, reset, exceeded, cooldowns] = await decideScript.run(this.#redis, keys, args)
    const limit = limits.buckets[limitClass].minute
    return {
      errorCode: ERROR_CODES[result],
      exceeded: result === RATE_LIMITED_RESULT ? toExceededMeter(exceeded, limitClass, cooldowns) : undefined,
      ...(result === COOLDOWN_RESULT && cooldowns & SHARED_COOLDOWN ? { isSharedCooldown: true } : {}),
      retryAfter: toWholeSeconds(wait),
      limit,
      remaining: Math.max(0, limit - count),
      reset: toWholeSeconds(reset),
    }
  }

  async minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): Promise<MinuteWindow> {
    const bucketStart = bucketOffset(limitClass)
    const { keyPrefix } = this.#prefixes(key, limits)
    const bucket = await this.#redis.getrangeBuffer(keyPrefix, bucketStart, bucketStart + BUCKET_BYTES - 1)
    const { minute: limit } = limits.buckets[limitClass]
    let minute = minuteNumber(now)
    let count = 0
    const storedMinute = bucket.length === BUCKET_BYTES ? bucket.readUInt32LE(16) : 0
    if (storedMinute >= minute) {
      count = bucket.readUInt32LE(20)
      // If the clock was set back slightly, the later minute continues.
      if (storedMinute * MINUTE - now <= MINUTE_SLACK_MS) minute = storedMinute
    }
    return { limit, remaining: Math.max(0, limit - count), reset: toWholeSeconds((minute + 1) * MINUTE - now) }
  }

  async cooldown(key: string, limits: KeyLimits, now: number): Promise<number> {
    const { keyPrefix, sharedPrefix } = this.#prefixes(key, limits)
    const prefixes = sharedPrefix === undefined ? [keyPrefix] : [keyPrefix, sharedPrefix]
    return Math.max(...(await Promise.all(prefixes.map((prefix) => this.#remainingCooldown(prefix, now)))))
  }

  async #remainingCooldown(redisKey: string, now: number): Promise<number> {
    const cooldownBytes = await this.#redis.getrangeBuffer(redisKey, 0, 11)
    if (cooldownBytes.length < 12) return 0
    const startTime = cooldownBytes.readDoubleLE(0)
    return Math.max(0, Math.min(startTime, now) + cooldownMs(cooldownBytes.readUInt32LE(8)) - now)
  }

  async recordPage(key: string, limits: KeyLimits, now: number): Promise<LimitError | undefined> {
    const keys = this.#keysOf(key, limits, (prefix) => [prefix, `${prefix}:refusals`, `${prefix}:pages`])
    const maxSharedPages = limits.shared?.limits.browsePagesPerHour ?? 0
    const [keyMs, sharedMs] = await recordPageScript.run(this.#redis, keys, [
      now,
      limits.browsePagesPerHour,
      maxSharedPages,
    ])
    return keyMs > 0 || sharedMs > 0 ? toLimitError('COOLDOWN', keyMs, sharedMs) : undefined
  }

  async recordSkills(
    key: string,
    limits: KeyLimits,
    skills: readonly number[],
    now: number,
  ): Promise<LimitError | undefined> {
    const keys = this.#keysOf(key, limits, (prefix) => [`${prefix}:day`, `${prefix}:skills`])
    const maxSharedSkills = limits.shared?.limits.skillsPerDay ?? 0
    const args = [now, limits.skillsPerDay, maxSharedSkills, ...skills]
    const [keyMs, sharedMs] = await recordSkillsScript.run(this.#redis, keys, args)
    return keyMs > 0 || sharedMs > 0 ? toLimitError('DAILY_CAP', keyMs, sharedMs) : undefined
  }

  take(caller: string, rules: readonly Rule[], now: number): Promise<CallerDecision> {
    return this.#decideCaller(caller, rules, now, 'take')
  }

  peek(caller: string, rules: readonly Rule[], now: number): Promise<CallerDecision> {
    return this.#decideCaller(caller, rules, now, 'peek')
  }

  charge(caller: string, rules: readonly Rule[], now: number): Promise<CallerDecision> {
    return this.#decideCaller(caller, rules, now, 'charge')
  }

  async #decideCaller(caller: string, rules: readonly Rule[], now: number, mode: string): Promise<CallerDecision> {
    const keyPrefix = this.#keyPrefix(caller)
    const keys = rules.map(({ name }) => `${keyPrefix}:${name}`)
    const ruleArguments = rules.flatMap((rule) => [rule.kind, rule.limit, rule.seconds * SECOND])
    const [rejectedBy, wait, charged, meters] = await meterCallerScript.run(this.#redis, keys, [
      now,
      mode,
      ...ruleArguments,
    ])
    const states = rules.map((rule, i) => {
      const [ruleWait, remaining, reset] = meters.slice(i * 3, i * 3 + 3) as [number, number, number]
      if (charged && rule.listed && ruleWait > 0) this.#addLimited(caller, rule.name, now + ruleWait)
      return { rule: rule.name, limit: rule.limit, remaining, reset: toWholeSeconds(reset) }
    })
    return { rejectedBy: rules[rejectedBy - 1]?.name, retryAfter: toWholeSeconds(wait), states }
  }

  /** Adds a limited caller. The list has another hash tag and therefore needs a separate command, which is not awaited. */
  #addLimited(caller: string, rule: string, until: number): void {
    addLimitedScript
      .run(this.#redis, [this.#limitedKey], [MAX_LIMITED_CALLERS, until, `${rule} ${caller}`])
      .catch(() => {})
  }

  async listLimited(now: number): Promise<LimitedCaller[]> {
    await this.#redis.zremrangebyscore(this.#limitedKey, '-inf', now)
    // A caller can be added between the two commands, also one whose limit has ended meanwhile.
    const membersAndScores = await this.#redis.zrangebyscore(this.#limitedKey, `(${now}`, '+inf', 'WITHSCORES')
    const limitedCallers: LimitedCaller[] = []
    for (let i = 0; i < membersAndScores.length; i += 2) {
      const [rule, ...caller] = membersAndScores[i]!.split(' ')
      limitedCallers.push({ caller: caller.join(' '), rule: rule!, until: Number(membersAndScores[i + 1]) })
    }
    return limitedCallers
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
  #keyPrefix(caller: string): string {
    return `${this.#prefix}{${caller.includes('}') ? hashName(caller) : shortenName(caller)}}`
  }

  /** Returns the prefixes of a key and of the limits that it shares. They have the same hash tag, because one script reads both. */
  #prefixes(key: string, { shared }: KeyLimits): { keyPrefix: string; sharedPrefix: string | undefined } {
    if (shared === undefined) return { keyPrefix: this.#keyPrefix(key), sharedPrefix: undefined }
    const sharedPrefix = this.#keyPrefix(shared.id)
    return { keyPrefix: `${sharedPrefix}:key:${shortenName(key)}`, sharedPrefix }
  }

  #keysOf(key: string, limits: KeyLimits, names: (prefix: string) => string[]): string[] {
    const { keyPrefix, sharedPrefix } = this.#prefixes(key, limits)
    return sharedPrefix === undefined ? names(keyPrefix) : [...names(keyPrefix), ...names(sharedPrefix)]
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
  /** Refill rate, capacity, minute and day limit of the three buckets and the two shared ones, as JSON. */
  limitsJson: string
  /** TTL of a recruiter's counts, renewed by the first call in a minute. */
  recruiterTtlMs: number
}

function toLimitArguments({ buckets, shared }: KeyLimits, limitClass: LimitClass): LimitArguments {
  const { key, recruiter } = buckets
  const bucketNumbers = ({ refillPerMs, capacity, minute, day }: Bucket) => [
    refillPerMs,
    capacity,
    minute,
    day === Infinity ? -1 : day,
  ]
  const sharedBuckets = shared ? [shared.limits.buckets.key, shared.limits.buckets[limitClass]] : []
  return {
    limitsJson: JSON.stringify([key, buckets[limitClass], recruiter, ...sharedBuckets].flatMap(bucketNumbers)),
    recruiterTtlMs: recruiter.day === Infinity ? MINUTE + recruiter.fillMs + MINUTE_SLACK_MS : DAY + DAY_SLACK_MS,
  }
}
