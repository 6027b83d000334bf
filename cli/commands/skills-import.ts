import { Command, Option } from 'commander'
import type { FormatName, ImportSummary } from '../../server/catalogue/import/import.ts'
import { examples } from '../examples.ts'
import { facts, print, table } from '../print.ts'
import { showProgress } from '../progress.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

interface Options {
  format: FormatName
  dryRun?: boolean
}

const SHOWN_ROWS = 20

export function importCommand(): Command {
  return new Command('import')
    .description('take a taxonomy into the catalogue: all of it or nothing; again, only what changed')
    .argument('<path>', 'the folder of the ESCO or O*NET download, or the JSON or CSV file')
    .addOption(
      new Option('--format <format>', 'what it is').choices(['esco', 'onet', 'lightcast', 'csv']).makeOptionMandatory(),
    )
    .option('--dry-run', 'tell what would happen and change nothing')
    .addHelpText(
      'after',
      `
A CSV file is in UTF-8, separated by commas, and its first line names the columns: id, name, sub_skill, and as wanted
master_skill, description, aliases (separated by ;) and verifiable (true or false). A row needs a master_skill unless its sub_skill
is the id of one that exists (ss_101). docs/guides/import-a-taxonomy.md tells more.`,
    )
    .addHelpText(
      ...examples(
        'skills import --format csv skills.csv --dry-run',
        'skills import --format csv skills.csv',
        'skills import --format esco ./ESCO-dataset-en',
      ),
    )
    .action(async (path: string, { format, dryRun = false }: Options, command: Command) => {
      const { importTaxonomy, readTaxonomy } = await import('../../server/catalogue/import/import.ts')
      const began = performance.now()
      const saying = process.stderr.isTTY === true
      const say = (text: string) => void (saying && process.stderr.write(`\r${text}\x1b[K`))
      say(`Reading ${path}…`)
      const taxonomy = await readTaxonomy(format, path).finally(() => say(''))
      const progress = showProgress('Writing rows')
      say(`Comparing ${taxonomy.skills.length.toLocaleString('en-US')} rows with the catalogue…`)
      const summary = await withStore(async ({ db, clock }) => {
        const done = await importTaxonomy(db, clock, taxonomy, { dryRun, progress: progress.at })
        const { added, changed, merged, version } = done
        const details = { format, added, changed, merged, version }
        if (!dryRun) await db.transaction((tx) => noteCommand(tx, clock, { action: 'catalogue.import', details }))
        return done
      }).finally(() => {
        progress.end()
        say('')
      })
      const seconds = Math.round((performance.now() - began) / 100) / 10
      print(command, { format, dry_run: dryRun, ...summary, seconds }, () => describe(summary, dryRun, seconds))
    })
}

function describe(summary: ImportSummary, dryRun: boolean, seconds: number): string {
  const { rows, version, refused, renamed, ...counts } = summary
  const places = counts.new_master_skills + counts.new_sub_skills
  const written = counts.added + counts.changed + counts.merged > 0
  const number = (count: number) => count.toLocaleString('en-US').padStart(9)
  return [
    facts([
      ['Rows', number(rows)],
      ['Added', number(counts.added)],
      ['Changed', number(counts.changed)],
      [
        'Merged',
        number(counts.merged) + (counts.merged > 0 ? '  (the name was there: id and aliases joined that skill)' : ''),
      ],
      ['Unchanged', number(counts.unchanged)],
      ...(places ? ([['New places', `${number(places)}  (${placesInWords(counts)})`]] as [string, string][]) : []),
      ['Refused', number(refused.length)],
    ]),
    ...listed(
      ['WHERE', 'SKILL', 'WAS CALLED', 'IS CALLED'],
      renamed.map(({ at, skill_id, from, to }) => [at, skill_id, from.slice(0, 60), to.slice(0, 60)]),
    ),
    ...(renamed.length > 0
      ? ['', 'An id stands for the same skill for ever. Where these are other skills, give the rows ids of their own.']
      : []),
    ...listed(
      ['WHERE', 'ROW', 'REFUSED BECAUSE'],
      refused.map(({ at, row, reason }) => [at, row.slice(0, 60), reason]),
    ),
    ...(refused.length > 0
      ? ['', 'Refused rows are left out. Mend them and import the file again: what is there already stays as it is.']
      : []),
    '',
    dryRun
      ? `A dry run of ${seconds} s: nothing was changed. Without --dry-run, this is what happens.`
      : written
        ? `Done in ${seconds} s. The catalogue is at version ${version}; running servers take it up now.`
        : `Done in ${seconds} s. Nothing changed; the catalogue stays at version ${version}.`,
  ].join('\n')
}

type Places = Pick<ImportSummary, 'new_master_skills' | 'new_sub_skills'>

function placesInWords({ new_master_skills: masters, new_sub_skills: subSkills }: Places): string {
  return `${counted(masters, 'master skill')}, ${counted(subSkills, 'sub-skill')} that were not there`
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** A table of the first rows, and how many more there are. */
function listed(head: string[], rows: string[][]): string[] {
  if (rows.length === 0) return []
  const more = rows.length - SHOWN_ROWS
  return [
    '',
    table(head, rows.slice(0, SHOWN_ROWS), ''),
    ...(more > 0 ? [`… and ${more} more; --json lists them all`] : []),
  ]
}
