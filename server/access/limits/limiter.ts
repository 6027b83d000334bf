import type { BucketName, KeyLimits, LimitClass } from './table.ts'

/** Engines in the process answer at once, the shared one after a round trip. */
export type Maybe<T> = T | Promise<T>

/**
 * Decides how often somebody may call. Two engines keep the counts, one in the process and one in Redis; both are told the time by
 * the caller, in milliseconds since 1970, and give the same answers.
 */
export interface Limiter {
  /**
   * One call of the partner API: the key's cooldown, then the buckets of the whole key, the class and the recruiter. Charges
   * every meter or none; a refusal counts towards the cooldown.
   */
  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): Maybe<Decision>

  /** The minute window of a class as it stands, for an answer that comes before the limits; charges nothing. */
  minute(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): Maybe<MinuteWindow>

  /** Milliseconds that the key's cooldown has left, 0 where there is none. */
  cooldown(key: string, now: number): Maybe<number>

  /** One page of the catalogue is about to be browsed. One page too many within the hour starts the cooldown. */
  browsePage(key: string, limits: KeyLimits, now: number): Maybe<Refusal | undefined>

  /** These skills are about to be returned. Adds none of them where that would exceed the day's cap. */
  seeSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number): Maybe<Refusal | undefined>

  /** Charges all rules, or none where one of them has no room. */
  take(caller: string, rules: readonly Rule[], now: number): Maybe<Standings>
  /** Whether `take` would pass; charges nothing. */
  peek(caller: string, rules: readonly Rule[], now: number): Maybe<Standings>
  /** Charges all rules whether they have room or not; for what is known only after the call was served. */
  charge(caller: string, rules: readonly Rule[], now: number): Maybe<Standings>

  /** Callers whose next call a rule marked `listed` would refuse. */
  limited(now: number): Maybe<Limited[]>

  close(): Maybe<void>
}

export interface Decision extends MinuteWindow {
  refused: 'RATE_LIMITED' | 'COOLDOWN' | undefined
  /** What a call is RATE_LIMITED by. */
  over: Over | undefined
  /** Whole seconds until the call could pass; 0 where it passed. */
  retryAfter: number
}

/** The meter without room that takes longest to get some; of several, the first of the key, the class, the recruiter. */
export interface Over {
  bucket: BucketName
  meter: MeterName
  /** The refusal started a cooldown. */
  rests: boolean
}

export const METERS = ['second', 'minute', 'day'] as const
export type MeterName = (typeof METERS)[number]

/** The minute window of the call's class, for the RateLimit headers; `reset` in seconds. */
export interface MinuteWindow {
  limit: number
  remaining: number
  reset: number
}

export interface Refusal {
  code: 'COOLDOWN' | 'DAILY_CAP'
  retryAfter: number
}

/** A limit on a caller that is not a partner key: an address, a session key, a session token. */
export interface Rule {
  /** Callers are counted apart for each name; a name always has the same kind and numbers. */
  readonly name: string
  /**
   * `fixed`: a window that starts with the caller's first call. `rolling`: the last so many seconds. `tokens`: a bucket of
   * `limit` tokens that fills from empty within `seconds`.
   */
  readonly kind: 'fixed' | 'rolling' | 'tokens'
  readonly limit: number
  readonly seconds: number
  /** Shown by `limited`. Never for callers that are secrets. */
  readonly listed?: boolean
}

/** What one rule has left for a caller. */
export interface Standing {
  readonly rule: string
  readonly limit: number
  remaining: number
  /** Seconds until the window ends, the oldest call leaves it, or the bucket is full. */
  reset: number
}

export interface Standings {
  /** The rule without room that takes longest to get some; undefined where the call passes. */
  refused: string | undefined
  /** Whole seconds until the call could pass; 0 where it passed. */
  retryAfter: number
  /** In the order of the rules. */
  standings: Standing[]
}

export interface Limited {
  caller: string
  rule: string
  /** Milliseconds since 1970. */
  until: number
}

/** The 100th refusal within a rolling minute starts a cooldown, for TEST keys too. */
export const REFUSALS_BEFORE_COOLDOWN = 100

/** How many limited callers an engine remembers for the list. */
export const MOST_LISTED = 10_000
