import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { type Erasure, listErasures, queueRestoredErasures } from '../../server/people/erasures.ts'
import { applyRestoredErasures } from '../../server/people/restored-erasures.ts'
import { examples } from '../examples.ts'
import { parseTime } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function erasuresCommand(): Command {
  return new Command('erasures')
    .description(
      'Print the erasures of all organisations as JSON, without personal values. Store them next to backups that "attestry backup" did not make',
    )
    .option('--since <time>', 'only erasures from this time on', parseTime)
    .addHelpText(...examples('privacy erasures --since 2026-11-01 > erasures.json'))
    .action(async ({ since }: { since?: Date }) => {
      const erasures = await withStore(({ db }) => listErasures(db.queries, since))
      process.stdout.write(`${JSON.stringify(erasures, null, 2)}\n`)
    })
}

export function applyErasuresCommand(): Command {
  return new Command('apply-erasures')
    .description(
      'Erase people again in a restored database who were erased after its backup was made. Run it before you start the server',
    )
    .argument('<file>', 'file that "attestry privacy erasures" printed')
    .addHelpText(...examples('privacy apply-erasures erasures.json'))
    .action(async (file: string, _options: object, command: Command) => {
      const erasures = parseErasures(await readFile(file, 'utf8'), file)
      const erased = await withStore(async ({ db, clock, mailboxes, config }) => {
        await db.transaction((tx) =>
          recordCliChange(tx, clock, {
            action: 'privacy.apply_erasures',
            subject: undefined,
            details: { erasures: erasures.length },
          }),
        )
        await queueRestoredErasures(db.pool, erasures)
        return applyRestoredErasures(db, { clock, mailboxes, config }, (text) => console.error(text))
      })
      print(
        command,
        { erasures: erasures.length, erased_people: erased },
        () =>
          `People erased: ${erased}, with ${erasures.length} erasures in the file. The others were erased already, or this database does not have them.`,
      )
    })
}

function parseErasures(text: string, file: string): Erasure[] {
  const isErasure = (value: Partial<Erasure> | null): value is Erasure =>
    typeof value?.person_id === 'string' &&
    typeof value.org_id === 'string' &&
    (value.mode === 'test' || value.mode === 'live') &&
    typeof value.basis === 'string' &&
    typeof value.requested_by === 'string' &&
    (['candidates', 'sessions', 'reviews'] as const).every((name) => Array.isArray(value.records?.[name]))
  let erasures: unknown
  try {
    erasures = JSON.parse(text)
  } catch {
    erasures = undefined
  }
  if (!Array.isArray(erasures) || !erasures.every(isErasure))
    throw new Error(`${file} is not a list of erasures: use a file that "attestry privacy erasures" printed`)
  return erasures
}
