import { Command } from 'commander'
import { problem } from '../../server/api/problem.ts'
import {
  type BreachTable,
  breachListCsv,
  breachTables,
  listAffectedPeople,
} from '../../server/offboarding/breach-list.ts'
import { examples } from '../examples.ts'
import { parseTime } from '../options.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface Options {
  org?: string
  tables?: string
  ids?: string
  from?: Date
  to?: Date
}

export function breachListCommand(): Command {
  return new Command('breach-list')
    .description('Print the people affected by a breach as CSV: name, phone number and email address, to inform them')
    .option('--org <org>', 'only people of this organisation, ORG_…')
    .option('--tables <list>', `comma-separated list of ${breachTables.join(', ')} (default: all)`)
    .option('--ids <list>', 'comma-separated IDs of affected records, campaigns or mandates')
    .option('--from <time>', 'only records from this time on', parseTime)
    .option('--to <time>', 'only records before this time', parseTime)
    .addHelpText(
      ...examples(
        'privacy breach-list --org ORG_… --tables messages --from 2026-11-01 --to 2026-11-03',
        'privacy breach-list --ids CMP_…',
      ),
    )
    .action(async ({ org, tables, ids, from, to }: Options) => {
      const filter = {
        orgId: org,
        tables: tables === undefined ? breachTables : tables.split(',').map(parseTable),
        ids: ids?.split(/[\s,]+/).filter(Boolean) ?? [],
        from,
        to,
      }
      await withStore(async ({ db, clock }) => {
        await db.transaction((tx) =>
          recordCliChange(tx, clock, {
            ...(org ? { orgId: org } : {}),
            action: 'breach.list',
            subject: org,
            details: { ...filter, ids: filter.ids.length },
          }),
        )
        for await (const line of breachListCsv(listAffectedPeople(db.queries, clock, filter)))
          process.stdout.write(line)
      })
    })
}

function parseTable(text: string): BreachTable {
  const table = breachTables.find((name) => name === text.trim())
  if (table) return table
  throw problem('VALIDATION_FAILED', `--tables: expected ${breachTables.join(', ')}; got ${JSON.stringify(text)}.`)
}
