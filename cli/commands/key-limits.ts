import { Command, Option } from 'commander'
import { getKeyLimits, setKeyLimits } from '../../server/access/key-limits.ts'
import { findKeyScope, type Mode } from '../../server/access/keys.ts'
import {
  BUCKET_NAMES,
  type BucketName,
  type KeyLimits,
  LIMIT_PRESETS,
  type LimitPreset,
  type Rates,
} from '../../server/access/limits/table.ts'
import { problem } from '../../server/api/problem.ts'
import { examples } from '../examples.ts'
import { rateParser, wholeNumberParser } from '../options.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface Options {
  class?: BucketName
  perSecond?: number
  burst?: number
  perMinute?: number
  perDay?: number
  peoplePerDay?: number
  preset?: LimitPreset
  reset?: boolean
}

const MAX_LIMIT = 1_000_000_000

export function limitsCommand(): Command {
  return new Command('limits')
    .description('Show the rate limits of a partner key, or change them')
    .argument('<key>', 'key ID, VFN_…')
    .addOption(
      new Option(
        '--class <class>',
        'class of calls whose limits change; key: all calls of the key, recruiter: calls per x-on-behalf-of value',
      ).choices(BUCKET_NAMES),
    )
    .option('--per-second <n>', 'sustained calls per second; 0.2 is one call in 5 seconds', rateParser(MAX_LIMIT))
    .option('--burst <n>', 'maximum calls in a burst', wholeNumberParser(1, MAX_LIMIT))
    .option('--per-minute <n>', 'calls per clock minute', wholeNumberParser(1, MAX_LIMIT))
    .option('--per-day <n>', 'calls per day, reset at midnight IST', wholeNumberParser(1, MAX_LIMIT))
    .option(
      '--people-per-day <n>',
      'maximum number of different people enrolled per day, reset at midnight IST',
      wholeNumberParser(1, MAX_LIMIT),
    )
    .addOption(
      new Option('--preset <preset>', 'ci: give a TEST key the limits of a LIVE key, for automated tests').choices(
        LIMIT_PRESETS,
      ),
    )
    .option('--reset', 'restore the default limits')
    .addHelpText(
      ...examples(
        'key limits VFN_LIVE_…',
        'key limits VFN_LIVE_… --class skillsMatch --per-second 0.5 --burst 10',
        'key limits VFN_LIVE_… --people-per-day 5000',
        'key limits VFN_TEST_… --preset ci',
        'key limits VFN_LIVE_… --reset',
      ),
    )
    .action(async (keyId: string, options: Options, command: Command) => {
      const change = readChange(options)
      const keyLimits = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          if (!change) return getKeyLimits(tx, keyId)
          const updatedLimits = await setKeyLimits(tx, keyId, change)
          const scope = await findKeyScope(tx, keyId)
          await recordCliChange(tx, clock, { ...scope, action: 'key.limits', subject: keyId, details: change })
          return updatedLimits
        }),
      )
      print(
        command,
        { key_id: keyId, mode: keyLimits.mode, limits: limitsRecord(keyLimits.limits), overrides: keyLimits.overrides },
        () => describeLimits(keyId, keyLimits.mode, keyLimits.limits),
      )
    })
}

function readChange(options: Options) {
  const rates: Partial<Rates> = {}
  if (options.perSecond !== undefined) rates.rate = options.perSecond
  if (options.burst !== undefined) rates.burst = options.burst
  if (options.perMinute !== undefined) rates.minute = options.perMinute
  if (options.perDay !== undefined) rates.day = options.perDay
  const changesRates = Object.keys(rates).length > 0
  if (changesRates !== (options.class !== undefined)) {
    throw problem(
      'VALIDATION_FAILED',
      'Use --class together with at least one of --per-second, --burst, --per-minute and --per-day.',
    )
  }
  if (options.reset || options.preset) {
    if (changesRates || options.peoplePerDay !== undefined || (options.reset && options.preset))
      throw problem('VALIDATION_FAILED', '--reset and --preset cannot be combined with other options.')
    return options.preset ? { preset: options.preset } : { reset: true as const }
  }
  if (!changesRates && options.peoplePerDay === undefined) return undefined
  return { ...(options.class ? { bucket: options.class, rates } : {}), peoplePerDay: options.peoplePerDay }
}

function limitsRecord(limits: KeyLimits) {
  const classes = Object.fromEntries(
    BUCKET_NAMES.map((name) => {
      const { rate, burst, minute, day } = limits.buckets[name]
      return [name, { per_second: rate, burst, per_minute: minute, per_day: Number.isFinite(day) ? day : null }]
    }),
  )
  return {
    classes,
    people_per_day: limits.peoplePerDay,
    skills_per_day: limits.skillsPerDay,
    browse_pages_per_hour: limits.browsePagesPerHour,
  }
}

function describeLimits(keyId: string, mode: Mode, limits: KeyLimits) {
  const rows = BUCKET_NAMES.map((name) => {
    const { rate, burst, minute, day } = limits.buckets[name]
    return [name, rate, burst, minute, Number.isFinite(day) ? day : '-']
  })
  const unreachableMinuteLimits = BUCKET_NAMES.filter(
    (name) => limits.buckets[name].rate * 60 + limits.buckets[name].burst < limits.buckets[name].minute,
  )
  return [
    `${keyId} (${mode})`,
    '',
    table(['CLASS', 'PER SECOND', 'BURST', 'PER MINUTE', 'PER DAY'], rows, ''),
    '',
    `Other limits: ${limits.peoplePerDay} different people enrolled per day, ${limits.skillsPerDay} different skills returned per day, ${limits.browsePagesPerHour} pages of GET /skills per hour.`,
    ...unreachableMinuteLimits.map((name) => {
      const { rate, burst, minute } = limits.buckets[name]
      const maxCalls = Math.floor(rate * 60 + burst)
      return `Note: ${name} can never reach its limit of ${minute} calls per minute: ${rate} per second with a burst of ${burst} allows at most ${maxCalls}. Raise --per-second or --burst.`
    }),
  ].join('\n')
}
