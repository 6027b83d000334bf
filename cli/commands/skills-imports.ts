import { Command } from 'commander'
import { type CatalogueImport, importRecord, listImports } from '../../server/catalogue/import/import-records.ts'
import type { undoRecord } from '../../server/catalogue/import/undo.ts'
import { examples } from '../examples.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { cliActor, recordCliChange } from './audit.ts'

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

export function undoImportCommand(): Command {
  return new Command('undo-import')
    .description('Show the effects of undoing the latest import; with --yes, undo it (atomic)')
    .argument('<import>', 'import ID, IM_…; skills imports lists them')
    .option('--yes', 'undo the import (takes effect immediately)')
    .addHelpText(...examples('skills imports', 'skills undo-import IM_…', 'skills undo-import IM_… --yes'))
    .action(async (importId: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { describeUndo, undoAuditDetails, undoImport, undoRecord } = await import(
        '../../server/catalogue/import/undo.ts'
      )
      const effects = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          if (!yes) return undoRecord(await describeUndo(tx, importId))
          const undone = await undoImport(tx, clock, importId, cliActor())
          const details = undoAuditDetails(undone)
          await recordCliChange(tx, clock, { action: 'catalogue.undo_import', subject: importId, details })
          return undoRecord(undone)
        }),
      )
      print(command, { undone: yes, ...effects }, () => formatUndo(effects, yes))
    })
}

function formatUndo(effects: ReturnType<typeof undoRecord>, isUndone: boolean): string {
  const { import_id, file_name, started_at, started_by, records, skills_in_use } = effects
  const count = (value: number) => value.toLocaleString('en-US').padStart(9)
  return [
    `${isUndone ? 'Undid' : 'Would undo'} the import ${import_id} (${file_name}, ${started_at}, ${started_by}).`,
    fieldList([
      [
        'Skills withdrawn',
        `${count(effects.withdrawn_skills)}  (added by the import; no longer found, their IDs stay valid)`,
      ],
      ['  in use', `${count(skills_in_use)}  (${describeRecords(records)})`],
      ['Skills kept', `${count(effects.kept_skills)}  (added by the import, and requested or shipped since)`],
      ['Skills restored', count(effects.restored_skills)],
      ['  names', count(effects.restored_names)],
      ['  aliases', count(effects.restored_aliases)],
      ['  places', count(effects.restored_places)],
      ['  descriptions', count(effects.restored_descriptions)],
      ['Groups withdrawn', `${count(effects.withdrawn_groups)}  (listed only while they contain skills)`],
      ['Groups restored', count(effects.restored_groups)],
    ]),
    ...(effects.first_renamed.length > 0
      ? [
          '',
          table(
            ['SKILL', 'NAME', 'RESTORED NAME'],
            effects.first_renamed.map(({ skill_id, name, restored_name }) => [skill_id, name, restored_name]),
            '',
          ),
        ]
      : []),
    ...(effects.first_skills_in_use.length > 0
      ? [
          '',
          table(
            ['SKILL IN USE', 'NAME'],
            effects.first_skills_in_use.map(({ skill_id, name }) => [skill_id, name]),
            '',
          ),
        ]
      : []),
    '',
    isUndone
      ? 'Running servers load the catalogue in the background. Importing the same file again gives the skills the same IDs.'
      : `Nothing was changed. To undo the import: npx attestry skills undo-import ${import_id} --yes`,
  ].join('\n')
}

function describeRecords(records: ReturnType<typeof undoRecord>['records']): string {
  const { mandates, sessions, endorsements, credentials, questions, selected_skills: selections } = records
  return `${mandates} mandates, ${sessions} verifications, ${endorsements} endorsements, ${credentials} credentials, ${questions} questions, ${selections} selections`
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
