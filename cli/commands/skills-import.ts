import { basename } from 'node:path'
import { Command, Option } from 'commander'
import type { ImportSummary } from '../../server/catalogue/import/import-records.ts'
import { type TaxonomyFormat, taxonomyFormats } from '../../server/catalogue/taxonomy.ts'
import { examples } from '../examples.ts'
import { fieldList, print, table } from '../print.ts'
import { showProgress } from '../progress.ts'
import { withStore } from '../store.ts'
import { cliActor, recordCliChange } from './audit.ts'

interface Options {
  format: TaxonomyFormat
  dryRun?: boolean
}

const MAX_SHOWN_ROWS = 20

export function importCommand(): Command {
  return new Command('import')
    .description('Import a taxonomy (atomic; re-importing applies only the changes)')
    .argument('<path>', 'folder of the ESCO or O*NET download, or the JSON or CSV file')
    .addOption(new Option('--format <format>', 'format of the taxonomy').choices(taxonomyFormats).makeOptionMandatory())
    .option('--dry-run', 'show the changes without making them')
    .addHelpText(
      'after',
      `
A CSV file is encoded in UTF-8 and separated by commas. Its first line contains the column names: id, name and sub_skill are required;
master_skill, description, aliases (separated by ;) and verifiable (true or false) are optional. A row needs a master_skill unless its
sub_skill is the ID of an existing sub-skill (ss_101). See docs/guides/import-a-taxonomy.md.`,
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
      const startedAt = performance.now()
      const isTerminal = process.stderr.isTTY === true
      const showStatus = (text: string) => void (isTerminal && process.stderr.write(`\r${text}\x1b[K`))
      showStatus(`Reading ${path}…`)
      const taxonomy = await readTaxonomy(format, path).finally(() => showStatus(''))
      const progress = showProgress('Writing rows')
      showStatus(`Comparing ${taxonomy.skills.length.toLocaleString('en-US')} rows with the catalogue…`)
      const summary = await withStore(async ({ db, clock }) => {
        const result = await importTaxonomy(db, clock, taxonomy, {
          dryRun,
          progress: progress.update,
          fileName: basename(path),
          startedBy: cliActor(),
        })
        const { import_id, added, changed, merged, version } = result
        const details = { format, added, changed, merged, version }
        if (import_id)
          await db.transaction((tx) =>
            recordCliChange(tx, clock, { action: 'catalogue.import', subject: import_id, details }),
          )
        return result
      }).finally(() => {
        progress.end()
        showStatus('')
      })
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10
      print(command, { format, dry_run: dryRun, ...summary, seconds }, () => describeSummary(summary, dryRun, seconds))
    })
}

function describeSummary(summary: ImportSummary, dryRun: boolean, seconds: number): string {
  const { import_id: importId, rows, version, refused, renamed, kept_names: keptNames, ...counts } = summary
  const newGroups = counts.new_master_skills + counts.new_sub_skills
  const catalogueChanged = counts.added + counts.changed + counts.merged > 0
  const alignedCount = (count: number) => count.toLocaleString('en-US').padStart(9)
  return [
    fieldList([
      ['Rows', alignedCount(rows)],
      ['Added', alignedCount(counts.added)],
      ['Changed', alignedCount(counts.changed)],
      [
        'Merged',
        alignedCount(counts.merged) +
          (counts.merged > 0
            ? '  (the catalogue already has these names: the existing skills get the IDs and aliases)'
            : ''),
      ],
      ['Unchanged', alignedCount(counts.unchanged)],
      ...(newGroups
        ? ([['New groups', `${alignedCount(newGroups)}  (${describeGroups(counts)})`]] as [string, string][])
        : []),
      ['Rejected', alignedCount(refused.length)],
    ]),
    ...truncatedTable(
      ['LINE', 'SKILL', 'OLD NAME', 'NEW NAME'],
      renamed.map(({ at, skill_id, from, to }) => [at, skill_id, from.slice(0, 60), to.slice(0, 60)]),
    ),
    ...(renamed.length > 0
      ? [
          '',
          'The rows above rename existing skills. If a row describes a different skill than the existing one, give the row a new ID.',
        ]
      : []),
    ...truncatedTable(
      ['LINE', 'SKILL', 'NAME', 'NAME IN THE FILE'],
      keptNames.map(({ at, skill_id, name, name_in_file }) => [
        at,
        skill_id,
        name.slice(0, 60),
        name_in_file.slice(0, 60),
      ]),
    ),
    ...(keptNames.length > 0
      ? ['', 'Operators renamed the skills above. They keep their names, and the names in the file become aliases.']
      : []),
    ...truncatedTable(
      ['LINE', 'ROW', 'REASON'],
      refused.map(({ at, row, reason }) => [at, row.slice(0, 60), reason]),
    ),
    ...(refused.length > 0
      ? ['', 'Rejected rows were skipped. Correct them and import the file again; unchanged rows are not affected.']
      : []),
    '',
    dryRun
      ? `Dry run completed in ${seconds} s; nothing was changed. Run the command without --dry-run to apply the changes.`
      : catalogueChanged
        ? `Import completed in ${seconds} s. The catalogue is now at version ${version}; running servers load it in the background. To undo it: npx attestry skills undo-import ${importId}`
        : `Import completed in ${seconds} s. Nothing changed; the catalogue is still at version ${version}.`,
  ].join('\n')
}

type NewGroups = Pick<ImportSummary, 'new_master_skills' | 'new_sub_skills'>

function describeGroups({ new_master_skills: masters, new_sub_skills: subSkills }: NewGroups): string {
  return `${countedNoun(masters, 'master skill')}, ${countedNoun(subSkills, 'sub-skill')}`
}

function countedNoun(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns a table of the first rows, and a line with the number of omitted rows. */
function truncatedTable(head: string[], rows: string[][]): string[] {
  if (rows.length === 0) return []
  const omitted = rows.length - MAX_SHOWN_ROWS
  return [
    '',
    table(head, rows.slice(0, MAX_SHOWN_ROWS), ''),
    ...(omitted > 0 ? [`… and ${omitted} more ${omitted === 1 ? 'row' : 'rows'}; --json lists all rows`] : []),
  ]
}
