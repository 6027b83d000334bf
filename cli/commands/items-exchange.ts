import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { getOrganisation } from '../../server/access/organisations.ts'
import { skillNumber } from '../../server/catalogue/ids.ts'
import type { ImportSummary } from '../../server/items/exchange/import.ts'
import type { ExportFormat } from '../../server/items/items.ts'
import { examples } from '../examples.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

const MAX_ITEM_FILE_BYTES = 64 * 1024 * 1024
const MAX_SHOWN_WARNINGS = 20

interface ImportOptions {
  org: string
  skill?: string
  dryRun?: boolean
}

export function importItemsCommand(): Command {
  return new Command('import')
    .description(
      "Import questions into an organisation's question bank (atomic; re-importing applies only the changes)",
    )
    .argument('<file>', 'CSV file, QTI 3.0 item (XML), or QTI 3.0 content package (ZIP)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--skill <skill>', 'ID or exact name of the skill, for questions that name none')
    .option('--dry-run', 'check the file and show what would change, without changing anything')
    .addHelpText(
      'after',
      `
A CSV file is encoded in UTF-8 and separated by commas. Its first line contains the column names: skill, id, kind, difficulty, and for
each language stem_en, key_en, distractor1_en to distractor5_en. See docs/guides/use-your-own-questions.md.`,
    )
    .addHelpText(
      ...examples(
        'items import --org ORG_… questions.csv --dry-run',
        'items import --org ORG_… questions.csv',
        'items import --org ORG_… --skill sk_1001 item.xml',
      ),
    )
    .action(async (path: string, { org, skill, dryRun = false }: ImportOptions, command: Command) => {
      const { importItems, readItemFile } = await import('../../server/items/exchange/import.ts')
      const bytes = await readSmallFile(path)
      const summary = await withStore(async ({ db, vault, clock }) => {
        await getOrganisation(db.queries, org)
        const file = await readItemFile(db.queries, { name: basename(path), bytes, skill })
        return db.transaction(async (tx) => {
          const imported = await importItems(tx, { vault, clock }, org, file, { dryRun })
          const { warnings: _, skills: __, ...details } = imported
          if (!dryRun) await recordCliChange(tx, clock, { orgId: org, action: 'items.import', details })
          return imported
        })
      })
      print(command, { org_id: org, dry_run: dryRun, ...summary }, () => describeSummary(summary, dryRun))
    })
}

async function readSmallFile(path: string): Promise<Buffer> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isFile()) throw new Error(`${path} is not a file; pass a CSV, XML or ZIP file`)
  if (info.size > MAX_ITEM_FILE_BYTES) throw new Error(`${path} is larger than 64 MB; split it into several files`)
  return readFile(path)
}

function describeSummary({ skills, warnings, ...counts }: ImportSummary, dryRun: boolean): string {
  const omitted = warnings.length - MAX_SHOWN_WARNINGS
  return [
    fieldList([
      ['Questions', counts.items],
      ['Added', counts.added],
      ['Replaced', `${counts.replaced}  (the text changed: new question without statistics)`],
      ['Updated', `${counts.updated}  (other fields changed)`],
      ['Unchanged', counts.unchanged],
      ['Pilot', `${counts.pilot}  (of the added and replaced ones; asked without being scored at first)`],
    ]),
    '',
    table(
      ['SKILL', 'NAME', 'ACTIVE', 'PILOT', 'USED BY NEW MANDATES'],
      skills.map(({ skill_id, name, active, pilot, measurable }) => [skill_id, name, active, pilot, measurable]),
      '',
    ),
    ...(warnings.length > 0
      ? [
          '',
          table(
            ['POSITION', 'WARNING'],
            warnings.slice(0, MAX_SHOWN_WARNINGS).map(({ path, message }) => [path, message]),
            '',
          ),
        ]
      : []),
    ...(omitted > 0
      ? [`… and ${omitted} more ${omitted === 1 ? 'warning' : 'warnings'}; --json lists all of them`]
      : []),
    '',
    dryRun
      ? 'Dry run: nothing was changed. Run the command without --dry-run to import the questions.'
      : 'Import completed. Mandates that are created or updated from now on use these questions.',
  ].join('\n')
}

interface ExportOptions {
  org: string
  format: ExportFormat
  skill?: number
  output?: string
}

export function exportItemsCommand(): Command {
  return new Command('export')
    .description("Write an organisation's imported questions with their answers to a file")
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addOption(
      new Option('--format <format>', 'csv, or qti for a QTI 3.0 content package')
        .choices(['csv', 'qti'])
        .makeOptionMandatory(),
    )
    .option('--skill <skill>', 'only questions about this skill, sk_…', parseSkill)
    .option('--output <file>', 'file to write (default: items.csv or items.zip); it must not exist')
    .addHelpText(
      ...examples('items export --org ORG_… --format qti', 'items export --org ORG_… --format csv --output bank.csv'),
    )
    .action(async ({ org, format, skill, output }: ExportOptions, command: Command) => {
      const { exportItems } = await import('../../server/items/items.ts')
      const { items, path } = await withStore(async ({ db, vault, clock }) => {
        await getOrganisation(db.queries, org)
        return db.transaction(async (tx) => {
          const file = await exportItems(tx, vault, org, { format, skillNumber: skill })
          const details = { format, items: file.items }
          await recordCliChange(tx, clock, { orgId: org, action: 'items.export', details })
          const filePath = output ?? file.fileName
          await writeNewFile(filePath, file.content)
          return { items: file.items, path: filePath }
        })
      })
      const note = 'It contains the answers: store it where candidates cannot read it.'
      const noun = items === 1 ? 'question' : 'questions'
      print(command, { org_id: org, format, items, file: path }, () => `Wrote ${items} ${noun} to ${path}. ${note}`)
    })
}

async function writeNewFile(path: string, content: Buffer): Promise<void> {
  await writeFile(path, content, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new Error(`${path} exists; delete it, or choose another file with --output`)
  })
}

function parseSkill(text: string): number {
  const number = skillNumber(text)
  if (number === undefined) throw new InvalidArgumentError('Expected a skill ID, such as sk_1001.')
  return number
}
