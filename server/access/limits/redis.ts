import { createHash } from 'node:crypto'
import type { Cluster, Redis } from 'ioredis'
import { DAY, MINUTE, SECOND } from '../../platform/clock.ts'
import { cooldownLength } from './cooldown.ts'
import {
  type Decision,
  type Limited,
  type Limiter,
  METERS,
  type MinuteWindow,
  MOST_LISTED,
  type Over,
  type Refusal,
  type Rule,
  type Standings,
} from './limiter.ts'
import { digestOf, shortName } from './names.ts'
import { CALLER, LIST_LIMITED } from './redis-caller-scripts.ts'
import { BROWSE_PAGE, BUCKET_BYTES, bucketStart, DECIDE, PLACE, SEE_SKILLS } from './redis-scripts.ts'
import type { Bucket, KeyLimits, LimitClass } from './table.ts'
import { DAY_SLACK, minuteOf, SLACK, seconds } from './windows.ts'

class Script<Answer> {
  readonly lua: string
  readonly sha: string

  constructor(lua: string) {
    this.lua = lua
    this.sha = createHash('sha1').update(lua).digest('hex')
  }

  /** By its hash, which is short; a server that does not know the script is sent it whole, once. */
  async run(redis: Redis | Cluster, keys: string[], args: (string | number)[]): Promise<Answer> {
    try {
      return (await redis.evalsha(this.sha, keys.length, ...keys, ...args)) as Answer
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (await redis.eval(this.lua, keys.length, ...keys, ...args)) as Answer
    }
  }
}

const decide = new Script<[answer: number, wait: number, count: number, reset: number, over: number, began: number]>(
  DECIDE,
)
const browsePage = new Script<number>(BROWSE_PAGE)
const seeSkills = new Script<number>(SEE_SKILLS)
const meterCaller = new Script<[refused: number, wait: number, charged: number, meters: number[]]>(CALLER)
const listLimited = new Script<null>(LIST_LIMITED)

/**
 * A command fails at once while there is no connection: whoever asks has somebody waiting. The client is loaded only here, because
 * it holds a subclass of String, and that makes `charCodeAt` ten times slower in the whole process.
 */
async function clientOf(url: string): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis')
  const shared = { enableOfflineQueue: false, lazyConnect: true }
  const redisOptions = {
    // Answers of scripts need nothing newer, and are read faster.
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
  // Whoever sends a command hears of the failure; without a listener the process would end.
  client.on('error', () => {})
  return client
}

const REFUSED = [undefined, 'RATE_LIMITED', 'COOLDOWN'] as const
const RATE_LIMITED = 1

function overOf(over: number, limitClass: LimitClass, began: number): Over {
  const place = over - 1
  const bucket = (['key', limitClass, 'recruiter'] as const)[Math.floor(place / METERS.length)]!
  return { bucket, meter: METERS[place % METERS.length]!, rests: began === 1 }
}

/** Counts in Redis, shared by all processes of a deployment: one script and one round trip a decision. */
export class RedisLimiter implements Limiter {
  readonly #url: string
  readonly #prefix: string
  #client: Redis | Cluster | undefined
  #closed = false
  /** A key's limits as the script takes them, for each class. */
  readonly #packed = new WeakMap<KeyLimits, Partial<Record<LimitClass, Packed>>>()

  /** One URL is a single server; several separated by commas are nodes of a cluster. */
  constructor(url: string, prefix = 'attestry:limits:') {
    this.#url = url
    this.#prefix = prefix
  }

  /** Connects; where that fails it is tried again and again in the background. */
  async connect(): Promise<void> {
    this.#client ??= await clientOf(this.#url)
    if (!this.#closed) await this.#client.connect()
  }

  get #redis(): Redis | Cluster {
    if (!this.#client) throw new Error('not connected yet')
    return this.#client
  }

  async decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): Promise<Decision> {
    const tag = this.#tag(key)
    const { numbers, life } = this.#pack(limits, limitClass)
    const keys = [tag, `${tag}:refusals`]
    if (recruiter !== undefined) keys.push(`${tag}:for:${shortName(recruiter)}`)
    const args = [now, PLACE[limitClass]!, numbers, life]
    const [answer, wait, count, reset, over, began] = await decide.run(this.#redis, keys, args)
    const limit = limits.buckets[limitClass].minute
    return {
      refused: REFUSED[answer],
      over: answer === RATE_LIMITED ? overOf(over, limitClass, began) : undefined,
      retryAfter: seconds(wait),
      limit,
      remaining: Math.max(0, limit - count),
      reset: seconds(reset),
    }
  }

  async minute(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): Promise<MinuteWindow> {
    const start = bucketStart(limitClass)
    const bucket = await this.#redis.getrangeBuffer(this.#tag(key), start, start + BUCKET_BYTES - 1)
    const { minute: limit } = limits.buckets[limitClass]
    let minute = minuteOf(now)
    let count = 0
    if (bucket.length === BUCKET_BYTES && bucket.readUInt32LE(16) >= minute) {
      count = bucket.readUInt32LE(20)
      // A clock that ran back a little stays in the later minute.
      if (bucket.readUInt32LE(16) * MINUTE - now <= SLACK) minute = bucket.readUInt32LE(16)
    }
    return { limit, remaining: Math.max(0, limit - count), reset: seconds((minute + 1) * MINUTE - now) }
  }

  async cooldown(key: string, now: number): Promise<number> {
    const header = await this.#redis.getrangeBuffer(this.#tag(key), 0, 11)
    if (header.length < 12) return 0
    const start = header.readDoubleLE(0)
    return Math.max(0, Math.min(start, now) + cooldownLength(header.readUInt32LE(8)) - now)
  }

  async browsePage(key: string, limits: KeyLimits, now: number): Promise<Refusal | undefined> {
    const tag = this.#tag(key)
    const keys = [tag, `${tag}:refusals`, `${tag}:pages`]
    const wait = await browsePage.run(this.#redis, keys, [now, limits.browsePagesPerHour])
    return wait > 0 ? { code: 'COOLDOWN', retryAfter: seconds(wait) } : undefined
  }

  async seeSkills(
    key: string,
    limits: KeyLimits,
    skills: readonly number[],
    now: number,
  ): Promise<Refusal | undefined> {
    const tag = this.#tag(key)
    const keys = [`${tag}:day`, `${tag}:skills`]
    const wait = await seeSkills.run(this.#redis, keys, [now, limits.skillsPerDay, ...skills])
    return wait > 0 ? { code: 'DAILY_CAP', retryAfter: seconds(wait) } : undefined
  }

  take(caller: string, rules: readonly Rule[], now: number): Promise<Standings> {
    return this.#caller(caller, rules, now, 'take')
  }

  peek(caller: string, rules: readonly Rule[], now: number): Promise<Standings> {
    return this.#caller(caller, rules, now, 'peek')
  }

  charge(caller: string, rules: readonly Rule[], now: number): Promise<Standings> {
    return this.#caller(caller, rules, now, 'charge')
  }

  async #caller(caller: string, rules: readonly Rule[], now: number, mode: string): Promise<Standings> {
    const tag = this.#tag(caller)
    const keys = rules.map(({ name }) => `${tag}:${name}`)
    const numbers = rules.flatMap((rule) => [rule.kind, rule.limit, rule.seconds * SECOND])
    const [refused, wait, charged, meters] = await meterCaller.run(this.#redis, keys, [now, mode, ...numbers])
    const standings = rules.map((rule, i) => {
      const [own, remaining, reset] = meters.slice(i * 3, i * 3 + 3) as [number, number, number]
      if (charged && rule.listed && own > 0) this.#list(caller, rule.name, now + own)
      return { rule: rule.name, limit: rule.limit, remaining, reset: seconds(reset) }
    })
    return { refused: rules[refused - 1]?.name, retryAfter: seconds(wait), standings }
  }

  /** The list lives under a hash tag of its own, so it takes a command of its own, which nobody waits for. */
  #list(caller: string, rule: string, until: number): void {
    listLimited.run(this.#redis, [this.#limitedKey], [MOST_LISTED, until, `${rule} ${caller}`]).catch(() => {})
  }

  async limited(now: number): Promise<Limited[]> {
    await this.#redis.zremrangebyscore(this.#limitedKey, '-inf', now)
    const found = await this.#redis.zrange(this.#limitedKey, 0, '-1', 'WITHSCORES')
    const limited: Limited[] = []
    for (let i = 0; i < found.length; i += 2) {
      const [rule, ...caller] = found[i]!.split(' ')
      limited.push({ caller: caller.join(' '), rule: rule!, until: Number(found[i + 1]) })
    }
    return limited
  }

  /** Does once what every decision does, so that a server which only reads, or is full, does not pass for working. */
  async probe(): Promise<void> {
    await this.take('probe', [{ name: 'probe', kind: 'fixed', limit: 1, seconds: 1 }], Date.now())
  }

  close(): void {
    this.#closed = true
    this.#client?.disconnect()
  }

  /** What every key of a caller begins with. What stands in braces keeps them together on one node of a cluster. */
  #tag(caller: string): string {
    return `${this.#prefix}{${caller.includes('}') ? digestOf(caller) : shortName(caller)}}`
  }

  get #limitedKey(): string {
    return `${this.#prefix}{limited}`
  }

  #pack(limits: KeyLimits, limitClass: LimitClass): Packed {
    let packed = this.#packed.get(limits)
    if (!packed) {
      packed = {}
      this.#packed.set(limits, packed)
    }
    packed[limitClass] ??= pack(limits, limitClass)
    return packed[limitClass]
  }
}

interface Packed {
  /** Refill, capacity, minute and day of the three buckets, as JSON. */
  numbers: string
  /** How long a recruiter's counts are kept after the first of a minute. */
  life: number
}

function pack({ buckets }: KeyLimits, limitClass: LimitClass): Packed {
  const { key, recruiter } = buckets
  const numbers = (b: Bucket) => [b.refill, b.capacity, b.minute, b.day === Infinity ? -1 : b.day]
  return {
    numbers: JSON.stringify([key, buckets[limitClass], recruiter].flatMap(numbers)),
    life: recruiter.day === Infinity ? MINUTE + recruiter.fill + SLACK : DAY + DAY_SLACK,
  }
}
