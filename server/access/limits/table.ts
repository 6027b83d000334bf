/** How often a key may call: the published table, and the limits one key really has. */

export const LIMIT_CLASSES = [
  'reads',
  'skillsSearch',
  'skillsLookup',
  'skillsMatch',
  'skillRequests',
  'workflowWrites',
  'mandateWrites',
  'campaignWrites',
] as const

export type LimitClass = (typeof LIMIT_CLASSES)[number]
/** `key` is the bucket of the whole key, `recruiter` the one of each recruiter named by x-on-behalf-of. */
export type BucketName = 'key' | LimitClass | 'recruiter'

/** Calls a second (and how many at once), a clock minute, and a day that ends at midnight IST. */
export interface Rates {
  rate: number
  burst: number
  minute: number
  day?: number
}

export const LIVE_RATES: Readonly<Record<BucketName, Readonly<Rates>>> = {
  key: { rate: 150, burst: 300, minute: 6_000 },
  reads: { rate: 20, burst: 40, minute: 1_200 },
  skillsSearch: { rate: 100, burst: 200, minute: 4_000 },
  skillsLookup: { rate: 20, burst: 40, minute: 600 },
  skillsMatch: { rate: 10, burst: 20, minute: 300, day: 50_000 },
  skillRequests: { rate: 2, burst: 5, minute: 60, day: 2_000 },
  workflowWrites: { rate: 5, burst: 10, minute: 60, day: 2_000 },
  mandateWrites: { rate: 10, burst: 20, minute: 300, day: 20_000 },
  campaignWrites: { rate: 2, burst: 5, minute: 30, day: 500 },
  recruiter: { rate: 5, burst: 5, minute: 200 },
}

export const BUCKET_NAMES = Object.keys(LIVE_RATES) as BucketName[]

const LIVE_CAPS = { peoplePerDay: 2_000, skillsPerDay: 15_000, browsePagesPerHour: 200 }

/** What the operator set for one key. Each number replaces one of the table's and is taken as given, also for a TEST key. */
export interface KeyOverrides {
  buckets?: Partial<Record<BucketName, Partial<Rates>>>
  peoplePerDay?: number
}

/** Tokens are counted in ten-thousandths, so that one tenth of a whole rate refills in whole units a millisecond. */
export const TOKEN = 10_000

/** One bucket as the engines read it. */
export interface Bucket extends Rates {
  /** Ten-thousandths of a token that come back each millisecond. */
  readonly refill: number
  /** The burst in ten-thousandths of a token. */
  readonly capacity: number
  /** Infinity where a day has no limit. */
  day: number
  /** Milliseconds in which it fills from empty. */
  readonly fill: number
}

/** The limits in force for one key. Made once for a key record; engines may remember things by its identity. */
export interface KeyLimits {
  readonly buckets: Readonly<Record<BucketName, Readonly<Bucket>>>
  /** Different people that may be contacted in a day. */
  readonly peoplePerDay: number
  /** Different skills that search and browse may return in a day. */
  readonly skillsPerDay: number
  readonly browsePagesPerHour: number
}

export function limitsFor(mode: 'test' | 'live', overrides: KeyOverrides = {}): KeyLimits {
  const scaled = (n: number) => (mode === 'live' ? n : Math.max(1, Math.floor(n / 10)))
  const buckets = {} as Record<BucketName, Bucket>
  for (const name of BUCKET_NAMES) {
    const live = LIVE_RATES[name]
    const own = overrides.buckets?.[name]
    buckets[name] = bucket(
      positive(`${name}.rate`, own?.rate) ?? (mode === 'live' ? live.rate : live.rate / 10),
      whole(`${name}.burst`, own?.burst) ?? scaled(live.burst),
      whole(`${name}.minute`, own?.minute) ?? scaled(live.minute),
      whole(`${name}.day`, own?.day) ?? (live.day === undefined ? Infinity : scaled(live.day)),
    )
  }
  return {
    buckets,
    peoplePerDay: whole('peoplePerDay', overrides.peoplePerDay) ?? scaled(LIVE_CAPS.peoplePerDay),
    skillsPerDay: scaled(LIVE_CAPS.skillsPerDay),
    browsePagesPerHour: scaled(LIVE_CAPS.browsePagesPerHour),
  }
}

function bucket(rate: number, burst: number, minute: number, day: number): Bucket {
  // Rounded, because 0.7 * 10 is not 7: whole units keep the sums exact.
  const refill = Math.max(1, Math.round(rate * TOKEN)) / 1000
  const capacity = burst * TOKEN
  return { rate, burst, minute, day, refill, capacity, fill: Math.ceil(capacity / refill) }
}

/** A limit of zero would ask callers to wait for ever: the operator revokes the key instead. */
function positive(name: string, value: number | undefined | null): number | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(`${name} must be a positive number`)
  return value
}

function whole(name: string, value: number | undefined | null): number | undefined {
  const number = positive(name, value)
  if (number !== undefined && (!Number.isInteger(number) || number > 1_000_000_000))
    throw new RangeError(`${name} must be a whole number of at most 1,000,000,000`)
  return number
}
