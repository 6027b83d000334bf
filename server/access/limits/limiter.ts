import type { BucketName, KeyLimits, LimitClass } from './table.ts'

/** The in-process engine returns values, the Redis engine returns promises. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Rate limiter. There are two engines, one in the process and one in Redis. Both take the time from the caller, in milliseconds since
 * 1970, and return the same results.
 */
export interface Limiter {
  /**
   * Decides one call of the partner API: checks the cooldown, then the buckets of the whole key, the rate limit class and the
   * recruiter, and the shared buckets of all keys of the organisation. Charges every meter or none. A rejection counts towards the
   * cooldown of the key and of the organisation.
   */
  decide(
    key: string,
    limits: KeyLimits,
    limitClass: LimitClass,
    recruiter: string | undefined,
    now: number,
  ): MaybePromise<RateLimitDecision>

  /** Returns the minute window of a rate limit class without charging it. */
  minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number): MaybePromise<MinuteWindow>

  /** Returns the milliseconds left of the cooldown of the key or its organisation, or 0 if there is none. */
  cooldown(key: string, limits: KeyLimits, now: number): MaybePromise<number>

  /** Counts a page of the catalogue that the key browses. Exceeding the hourly limit starts a cooldown. */
  recordPage(key: string, limits: KeyLimits, now: number): MaybePromise<LimitError | undefined>

  /** Counts skills that are about to be returned. Counts none of them if that would exceed the daily cap. */
  recordSkills(
    key: string,
    limits: KeyLimits,
    skills: readonly number[],
    now: number,
  ): MaybePromise<LimitError | undefined>

  /** Charges one call of a caller to all rules, or to none if one of them is exhausted. */
  take(caller: string, rules: readonly Rule[], now: number): MaybePromise<CallerDecision>
  /** Returns the decision that `take` would return, without charging. */
  peek(caller: string, rules: readonly Rule[], now: number): MaybePromise<CallerDecision>
  /** Charges a call to all rules even if they are exhausted; for events that are known only after the call was handled. */
  charge(caller: string, rules: readonly Rule[], now: number): MaybePromise<CallerDecision>

  /** Lists the callers whose next call would be rejected by a rule marked `listed`. */
  listLimited(now: number): MaybePromise<LimitedCaller[]>

  close(): MaybePromise<void>
}

export interface RateLimitDecision extends MinuteWindow {
  errorCode: 'RATE_LIMITED' | 'COOLDOWN' | undefined
  /** The exceeded meter if the error is RATE_LIMITED, else undefined. */
  exceeded: ExceededMeter | undefined
  /** Set if the error is COOLDOWN and all keys of the organisation are in cooldown, for longer than the key itself. */
  isSharedCooldown?: true
  /** Whole seconds until the call can succeed; 0 if it is allowed. */
  retryAfter: number
}

/** The exhausted meter with the longest wait. Ties are resolved in the order key, class, recruiter, shared key, shared class. */
export interface ExceededMeter {
  bucket: BucketName
  meter: MeterName
  /** Set if the meter counts the calls of all keys of the organisation. */
  shared?: true
  /** Whether the rejection started a cooldown of the key. */
  startsCooldown: boolean
  /** Set if the rejection started a cooldown of all keys of the organisation. */
  startsSharedCooldown?: true
}

export const METER_NAMES = ['second', 'minute', 'day'] as const
export type MeterName = (typeof METER_NAMES)[number]

/** The minute window of the call's class, for the RateLimit headers; `reset` in seconds. */
export interface MinuteWindow {
  limit: number
  remaining: number
  reset: number
}

/** Error for a browse page or for skills that were not counted because of a limit; `retryAfter` in seconds. */
export interface LimitError {
  code: 'COOLDOWN' | 'DAILY_CAP'
  retryAfter: number
  /** Set if the limit of all keys of the organisation was exceeded, and not the limit of the key. */
  shared?: true
}

/** A limit on a caller other than a partner key: an address, a session key or a session token. */
export interface Rule {
  /** Callers are counted separately for each name. A name always has the same kind, limit and seconds. */
  readonly name: string
  /**
   * `fixed`: a window that starts with the caller's first call. `rolling`: the last `seconds` seconds. `tokens`: a bucket of `limit`
   * tokens that fills from empty within `seconds`.
   */
  readonly kind: 'fixed' | 'rolling' | 'tokens'
  readonly limit: number
  readonly seconds: number
  /** Whether `listLimited` includes the callers. Do not set it if callers are identified by a secret. */
  readonly listed?: boolean
}

/** State of one rule for a caller. */
export interface RuleState {
  readonly rule: string
  readonly limit: number
  remaining: number
  /** Seconds until the window ends, the oldest call leaves it, or the bucket is full. */
  reset: number
}

/** Decision on a call of a caller, and the state of its rules. */
export interface CallerDecision {
  /** The exhausted rule with the longest wait; undefined if the call is allowed. */
  rejectedBy: string | undefined
  /** Whole seconds until the call can succeed; 0 if it is allowed. */
  retryAfter: number
  /** State of each rule, in the order of the `rules` argument. */
  states: RuleState[]
}

/** A caller whose next call would be rejected. */
export interface LimitedCaller {
  caller: string
  rule: string
  /** Time from which calls are allowed again, in milliseconds since 1970. */
  until: number
}

/** Maximum number of callers that `listLimited` returns. */
export const MAX_LIMITED_CALLERS = 10_000
