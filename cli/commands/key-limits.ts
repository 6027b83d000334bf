import { Command, Option } from 'commander'
import { getLimits, setLimits } from '../../server/access/key-limits.ts'
import { type Mode, ownerOfKey } from '../../server/access/keys.ts'
import { BUCKET_NAMES, type BucketName, type KeyLimits, type Rates } from '../../server/access/limits/table.ts'
import { problem } from '../../server/api/problem.ts'
import { examples } from '../examples.ts'
import { rate, wholeNumber } from '../options.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

interface Options {
  class?: BucketName
  perSecond?: number
  burst?: number
  perMinute?: number
  perDay?: number
  peoplePerDay?: number
  reset?: boolean
}

const MOST = 1_000_000_000

export function limitsCommand(): Command {
  return new Command('limits')
    .description('how often a partner key may call; without options, shows it')
    .argument('<key>', 'VFN_…')
    .addOption(
      new Option(
        '--class <class>',
        'the bucket to change: key is the whole key, recruiter each x-on-behalf-of',
      ).choices(BUCKET_NAMES),
    )
    .option('--per-second <n>', 'calls a second, in the long run; 0.2 is one in 5 seconds', rate(MOST))
    .option('--burst <n>', 'calls at once', wholeNumber(1, MOST))
    .option('--per-minute <n>', 'calls a clock minute', wholeNumber(1, MOST))
    .option('--per-day <n>', 'calls a day, until midnight IST', wholeNumber(1, MOST))
    .option('--people-per-day <n>', 'different people that may be contacted a day', wholeNumber(1, MOST))
    .option('--reset', 'back to the published table')
    .addHelpText(
      ...examples(
        'key limits VFN_LIVE_…',
        'key limits VFN_LIVE_… --class skillsMatch --per-second 0.5 --burst 10',
        'key limits VFN_LIVE_… --people-per-day 5000',
        'key limits VFN_LIVE_… --reset',
      ),
    )
    .action(async (keyId: string, options: Options, command: Command) => {
      const change = readChange(options)
      const found = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          if (!change) return getLimits(tx, keyId)
          const set = await setLimits(tx, keyId, change)
          const owner = await ownerOfKey(tx, keyId)
          await noteCommand(tx, clock, { ...owner, action: 'key.limits', subject: keyId, details: change })
          return set
        }),
      )
      print(
        command,
        { key_id: keyId, mode: found.mode, limits: published(found.limits), overrides: found.overrides },
        () => describe(keyId, found.mode, found.limits),
      )
    })
}

function readChange(options: Options) {
  const rates: Partial<Rates> = {}
  if (options.perSecond !== undefined) rates.rate = options.perSecond
  if (options.burst !== undefined) rates.burst = options.burst
  if (options.perMinute !== undefined) rates.minute = options.perMinute
  if (options.perDay !== undefined) rates.day = options.perDay
  const some = Object.keys(rates).length > 0
  if (some !== (options.class !== undefined)) {
    throw problem(
      'VALIDATION_FAILED',
      'Name the class with --class, and what to change with --per-second, --burst, --per-minute or --per-day.',
    )
  }
  if (options.reset) {
    if (some || options.peoplePerDay !== undefined) throw problem('VALIDATION_FAILED', '--reset stands alone.')
    return { reset: true as const }
  }
  if (!some && options.peoplePerDay === undefined) return undefined
  return { ...(options.class ? { bucket: options.class, rates } : {}), peoplePerDay: options.peoplePerDay }
}

function published(limits: KeyLimits) {
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

function describe(keyId: string, mode: Mode, limits: KeyLimits) {
  const rows = BUCKET_NAMES.map((name) => {
    const { rate, burst, minute, day } = limits.buckets[name]
    return [name, rate, burst, minute, Number.isFinite(day) ? day : '-']
  })
  const cramped = BUCKET_NAMES.filter((name) => limits.buckets[name].rate * 60 < limits.buckets[name].minute / 2)
  return [
    `${keyId} (${mode})`,
    '',
    table(['CLASS', 'PER SECOND', 'BURST', 'PER MINUTE', 'PER DAY'], rows, ''),
    '',
    `People contacted a day: ${limits.peoplePerDay}. Different skills read a day: ${limits.skillsPerDay}. Browse pages an hour: ${limits.browsePagesPerHour}.`,
    ...cramped.map(
      (name) =>
        `Note: ${limits.buckets[name].rate} a second let at most ${Math.floor(limits.buckets[name].rate * 60 + limits.buckets[name].burst)} calls of ${name} through in a minute; raise --per-second and --burst too.`,
    ),
  ].join('\n')
}
