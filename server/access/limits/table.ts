// Default limits as published, and the effective limits of a key.

export const LIMIT_CLASSES = [
  'reads',
  'skillsSearch',
  'skillsLookup',
  'skillsMatch',
  'skillRequests',
  'workflowWrites',
  'mandateWrites',
  'campaignWrites',
  'itemWrites',
] as const

export type LimitClass = (typeof LIMIT_CLASSES)[number]
/** `key` is the bucket of the whole key; `recruiter` is the bucket of each recruiter named by x-on-behalf-of. */
export type BucketName = 'key' | LimitClass | 'recruiter'

/** Calls per second (with a burst), per clock minute, and per day that ends at midnight IST. */
export interface Rates {
  rate: number
  burst: number
  minute: number
  day?: number
}

const LIVE_RATES: Readonly<Record<BucketName, Readonly<Rates>>> = {
  key: { rate: 150, burst: 300, minute: 6_000 },
  reads: { rate: 20, burst: 40, minute: 1_200 },
  skillsSearch: { rate: 100, burst: 200, minute: 4_000 },
  skillsLookup: { rate: 20, burst: 40, minute: 600 },
  skillsMatch: { rate: 10, burst: 20, minute: 300, day: 50_000 },
  skillRequests: { rate: 2, burst: 5, minute: 60, day: 2_000 },
  workflowWrites: { rate: 5, burst: 10, minute: 60, day: 2_000 },
  mandateWrites: { rate: 10, burst: 20, minute: 300, day: 20_000 },
  campaignWrites: { rate: 2, burst: 5, minute: 30, day: 500 },
  itemWrites: { rate: 2, burst: 5, minute: 60, day: 1_000 },
  recruiter: { rate: 5, burst: 5, minute: 200 },
}

export const BUCKET_NAMES = Object.keys(LIVE_RATES) as BucketName[]

const LIVE_CAPS = { peoplePerDay: 2_000, skillsPerDay: 15_000, browsePagesPerHour: 200 }

/** Named sets of limits. `ci` gives a TEST key the limits of a LIVE key, for automated test suites. */
export const LIMIT_PRESETS = ['ci'] as const
export type LimitPreset = (typeof LIMIT_PRESETS)[number]

/** Limits that the operator set for one key. Each replaces a default and is not scaled down for TEST keys. */
export interface KeyOverrides {
  /** The limits that the other overrides replace. */
  preset?: LimitPreset
  buckets?: Partial<Record<BucketName, Partial<Rates>>>
  peoplePerDay?: number
}

/** Tokens are counted in units of 1/10,000, so that a tenth of a whole rate refills a whole number of units per millisecond. */
export const UNITS_PER_TOKEN = 10_000

/** Effective limits of one bucket. */
export interface Bucket extends Rates {
  /** Token units refilled per millisecond. */
  readonly refillPerMs: number
  /** The burst in token units. */
  readonly capacity: number
  /** Infinity if there is no daily limit. */
  day: number
  /** Time in which an empty bucket fills up. */
  readonly fillMs: number
}

/** Effective limits of one key. Created once per key record; engines can cache derived data by object identity. */
export interface KeyLimits {
  /** The mode whose limits apply: `live` also for TEST keys with the preset `ci`. */
  readonly scale: 'test' | 'live'
  readonly buckets: Readonly<Record<BucketName, Readonly<Bucket>>>
  /** Unique people that can be contacted per day. */
  readonly peoplePerDay: number
  /** Unique skills that search and browse can return per day. */
  readonly skillsPerDay: number
  readonly browsePagesPerHour: number
  /** The rejection with this number within a rolling minute starts a cooldown. */
  readonly rejectionsBeforeCooldown: number
  /** The limits of all keys of the organisation and mode together. A call must be within these limits, too. */
  readonly shared?: SharedLimits
}

/** Limits whose counts several keys share. The buckets of recruiters are not shared. */
interface SharedLimits {
  /** Identifies the counts: the organisation and mode. Different from the ID of every key. */
  readonly id: string
  readonly limits: KeyLimits
  /** The fingerprint of `id`, stored by the in-process engine at the first call, because hashing a name is slow. */
  hashA?: number
  hashB?: number
}

/** The 100th rejection within a rolling minute starts a cooldown, also for TEST keys. */
export const REJECTIONS_BEFORE_COOLDOWN = 100

/** Returns a multiple of the highest limits of several keys, for the limits that they share. */
export function combineLimits(keyLimits: readonly KeyLimits[], factor: number): KeyLimits {
  const highest = (limit: (limits: KeyLimits) => number) => factor * Math.max(...keyLimits.map(limit))
  const buckets = {} as Record<BucketName, Bucket>
  for (const name of BUCKET_NAMES) {
    const highestOf = (rate: 'rate' | 'burst' | 'minute' | 'day') => highest((limits) => limits.buckets[name][rate])
    buckets[name] = createBucket(highestOf('rate'), highestOf('burst'), highestOf('minute'), highestOf('day'))
  }
  return {
    scale: keyLimits.some(({ scale }) => scale === 'live') ? 'live' : 'test',
    buckets,
    peoplePerDay: highest((limits) => limits.peoplePerDay),
    skillsPerDay: highest((limits) => limits.skillsPerDay),
    browsePagesPerHour: highest((limits) => limits.browsePagesPerHour),
    rejectionsBeforeCooldown: highest((limits) => limits.rejectionsBeforeCooldown),
  }
}

export function limitsFor(mode: 'test' | 'live', overrides: KeyOverrides = {}): KeyLimits {
  const scale = overrides.preset === 'ci' ? 'live' : mode
  const scaleForMode = (liveLimit: number) => (scale === 'live' ? liveLimit : Math.max(1, Math.floor(liveLimit / 10)))
  const buckets = {} as Record<BucketName, Bucket>
  for (const name of BUCKET_NAMES) {
    const liveRates = LIVE_RATES[name]
    const override = overrides.buckets?.[name]
    buckets[name] = createBucket(
      requirePositive(`${name}.rate`, override?.rate) ?? (scale === 'live' ? liveRates.rate : liveRates.rate / 10),
      requireWholeNumber(`${name}.burst`, override?.burst) ?? scaleForMode(liveRates.burst),
      requireWholeNumber(`${name}.minute`, override?.minute) ?? scaleForMode(liveRates.minute),
      requireWholeNumber(`${name}.day`, override?.day) ??
        (liveRates.day === undefined ? Infinity : scaleForMode(liveRates.day)),
    )
  }
  return {
    scale,
    buckets,
    peoplePerDay: requireWholeNumber('peoplePerDay', overrides.peoplePerDay) ?? scaleForMode(LIVE_CAPS.peoplePerDay),
    skillsPerDay: scaleForMode(LIVE_CAPS.skillsPerDay),
    browsePagesPerHour: scaleForMode(LIVE_CAPS.browsePagesPerHour),
    rejectionsBeforeCooldown: REJECTIONS_BEFORE_COOLDOWN,
  }
}

function createBucket(rate: number, burst: number, minute: number, day: number): Bucket {
  // Rounded because 0.7 * 10 is not exactly 7; whole units keep the sums exact.
  const refillPerMs = Math.max(1, Math.round(rate * UNITS_PER_TOKEN)) / 1000
  const capacity = burst * UNITS_PER_TOKEN
  return { rate, burst, minute, day, refillPerMs, capacity, fillMs: Math.ceil(capacity / refillPerMs) }
}

/** Rejects zero: callers would wait forever. To block a key, operators revoke it. */
function requirePositive(name: string, value: number | undefined | null): number | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`${name} must be a positive number`)
  return value
}

function requireWholeNumber(name: string, value: number | undefined | null): number | undefined {
  const number = requirePositive(name, value)
  if (number !== undefined && (!Number.isInteger(number) || number > 1_000_000_000))
    throw new RangeError(`${name} must be a whole number of at most 1,000,000,000`)
  return number
}
