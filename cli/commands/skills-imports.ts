import { Command } from 'commander'
import { type CatalogueImport, importRecord, listImports } from '../../server/catalogue/import/import-records.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'

const MAX_LISTED_IMPORTS = 50

export function importsCommand(): Command {
  return new Command('imports')
    .description(`List the latest ${MAX_LISTED_IMPORTS} imports of taxonomies, newest first`)
    .addHelpText(...examples('skills imports'))
    .action(async (_options: unknown, command: Command) => {
      const imports = await withStore(({ db, clock }) => listImports(db.queries, clock, { limit: MAX_LISTED_IMPORTS }))
      print(command, imports.map(importRecord), () =>
        table(
          ['IMPORT', 'STARTED', 'FORMAT', 'FILE', 'BY', 'ADDED', 'CHANGED', 'MERGED', 'STATE'],
          imports.map((each) => [
            each.import_id,
            each.started_at,
            each.format,
            each.file_name,
            each.started_by,
            ...['added', 'changed', 'merged'].map((name) => countIn(each.summary, name)),
            describeState(each),
          ]),
          'No imports yet.',
        ),
      )
    })
}

function countIn(summary: CatalogueImport['summary'], name: string): string {
  return typeof summary?.[name] === 'number' ? summary[name].toLocaleString('en-US') : '–'
}

function describeState({ status, dry_run, undone_at, undone_by, can_undo }: CatalogueImport): string {
  if (undone_at) return `undone on ${undone_at.toISOString().slice(0, 10)} by ${undone_by}`
  if (status !== 'done') return status
  if (dry_run) return 'dry run'
  return can_undo ? 'done, can be undone' : 'done'
}
