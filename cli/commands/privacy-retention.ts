import { Command, InvalidArgumentError, Option } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { RETENTION_RULES, type RetentionClass, retentionClasses } from '../../server/notices/retention-classes.ts'
import {
  changeRetentionBound,
  changeRetentionPeriods,
  getRetentionBounds,
  getRetentionPeriods,
} from '../../server/notices/retention-periods.ts'
import { createLog } from '../../server/platform/log.ts'
import { enforceRetention } from '../../server/privacy/retention/enforce.ts'
import { PREVIEW_DAYS, previewRetention } from '../../server/privacy/retention/preview.ts'
import { examples } from '../examples.ts'
import { parseMode, wholeNumberParser } from '../options.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

const MAX_DAYS = 36_500

export function retentionCommand(): Command {
  const retention = new Command('retention')
    .description('Show, set, preview and enforce retention periods')
    .addHelpText(
      ...examples('privacy retention show --org ORG_…', 'privacy retention set --org ORG_… contact_data=365'),
    )

  retention
    .command('show')
    .description('Show the retention periods of an organisation')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('privacy retention show --org ORG_…'))
    .action(async ({ org }: { org: string }, command: Command) => {
      const periods = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, org)
        return { periods: await getRetentionPeriods(db.queries, org), bounds: await getRetentionBounds(db.queries) }
      })
      print(command, periods, () =>
        table(
          ['CLASS', 'DAYS', 'DEFAULT', 'ALLOWED', 'DATA'],
          retentionClasses.map((name) => [
            name,
            periods.periods[name],
            RETENTION_RULES[name].defaultDays,
            `${periods.bounds[name].min_days} to ${periods.bounds[name].max_days}`,
            RETENTION_RULES[name].description,
          ]),
          '',
        ),
      )
    })

  retention
    .command('set')
    .description('Set retention periods of an organisation in days, within the bounds of the operator')
    .argument('<periods...>', 'CLASS=DAYS, or CLASS=default', collectAssignment)
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('privacy retention set --org ORG_… contact_data=365 mails=default'))
    .action(async (change: PeriodChange, { org }: { org: string }, command: Command) => {
      const periods = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const changed = await changeRetentionPeriods(tx, clock, org, change)
          await recordCliChange(tx, clock, { orgId: org, action: 'privacy.retention', subject: org, details: change })
          return changed
        }),
      )
      print(command, periods, () => retentionClasses.map((name) => `${name}: ${periods[name]} days`).join('\n'))
    })

  retention
    .command('preview')
    .description(`Show the people and records that will be erased in the next ${PREVIEW_DAYS} days`)
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live', parseMode, 'live')
    .addHelpText(...examples('privacy retention preview --org ORG_… --mode live'))
    .action(async ({ org, mode }: { org: string; mode: Mode }, command: Command) => {
      const preview = await withStore(async ({ db, clock }) => {
        await getOrganisation(db.queries, org)
        return previewRetention(db.queries, clock, { orgId: org, mode })
      })
      print(command, preview, () => {
        const lines = preview.people.map(
          ({ date, count }) => `${count} ${count === 1 ? 'person' : 'people'} will be erased on ${date}.`,
        )
        const others = retentionClasses
          .filter((name) => name !== 'contact_data')
          .map((name) => `${name}: ${preview.due[name]} records in the next ${PREVIEW_DAYS} days`)
        return [
          ...(lines.length > 0 ? lines : [`No people will be erased in the next ${PREVIEW_DAYS} days.`]),
          ...others,
        ].join('\n')
      })
    })

  retention
    .command('run')
    .description('Enforce all retention periods now; the server does this every hour')
    .addHelpText(...examples('privacy retention run'))
    .action(async (_options: object, command: Command) => {
      const log = createLog('warn', { write: (line) => process.stderr.write(line) })
      const counts = await withStore((store) => enforceRetention({ ...store, log }))
      print(command, counts, () => retentionClasses.map((name) => `${name}: ${counts[name]} erased`).join('\n'))
    })

  retention
    .command('bounds')
    .description('Show the bounds of the retention periods of all organisations, or change those of one class')
    .addOption(new Option('--class <class>', 'class of data').choices([...retentionClasses]))
    .option('--min-days <n>', 'shortest period', wholeNumberParser(1, MAX_DAYS))
    .option('--max-days <n>', 'longest period', wholeNumberParser(1, MAX_DAYS))
    .option('--reset', 'restore the defaults of the class')
    .addHelpText(...examples('privacy retention bounds --class contact_data --min-days 30 --max-days 1095'))
    .action(async (options: BoundsOptions, command: Command) => {
      const change = readBound(options)
      const bounds = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          if (!change) return getRetentionBounds(tx)
          const changed = await changeRetentionBound(tx, clock, change.name, change.bound)
          const details = change.bound ?? {}
          await recordCliChange(tx, clock, { action: 'retention.bounds', subject: change.name, details })
          return changed
        }),
      )
      print(command, bounds, () =>
        retentionClasses.map((name) => `${name}: ${bounds[name].min_days} to ${bounds[name].max_days} days`).join('\n'),
      )
    })

  return retention
}

interface BoundsOptions {
  class?: RetentionClass
  minDays?: number
  maxDays?: number
  reset?: boolean
}

function readBound({ class: name, minDays, maxDays, reset }: BoundsOptions) {
  if (name === undefined) {
    if (minDays !== undefined || maxDays !== undefined || reset)
      throw problem('VALIDATION_FAILED', 'To change bounds, name the class with --class.')
    return undefined
  }
  if (reset) return { name, bound: null }
  if (minDays === undefined || maxDays === undefined)
    throw problem('VALIDATION_FAILED', 'Set both --min-days and --max-days, or use --reset.')
  return { name, bound: { min_days: minDays, max_days: maxDays } }
}

type PeriodChange = { [Class in RetentionClass]?: number | null }

/** Adds the period of one argument to those of the arguments before it. */
function collectAssignment(text: string, previous: PeriodChange | undefined): PeriodChange {
  const [, name, value] = /^(\w+)=(default|\d{1,5})$/.exec(text) ?? []
  if (!retentionClasses.some((each) => each === name))
    throw new InvalidArgumentError(`Expected CLASS=DAYS, with a class of ${retentionClasses.join(', ')}.`)
  return { ...previous, [name as RetentionClass]: value === 'default' ? null : Number(value) }
}
