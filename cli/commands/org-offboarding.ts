import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { Command } from 'commander'
import { eraseOrganisation } from '../../server/offboarding/erase-organisation.ts'
import { exportOrganisation } from '../../server/offboarding/export-organisation.ts'
import { examples } from '../examples.ts'
import { parseName } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { accountName, recordCliChange } from './audit.ts'

export function orgExportCommand(): Command {
  return new Command('export')
    .description(
      'Write everything that is stored about an organisation and its people to a file, one JSON object per line',
    )
    .argument('<org>', 'organisation ID, ORG_…')
    .requiredOption('--output <file>', 'file to create; it must not exist')
    .addHelpText(...examples('org export ORG_… --output acme.ndjson'))
    .action(async (orgId: string, { output }: { output: string }, command: Command) => {
      const counts = await withStore(async (store) => {
        const { db, clock } = store
        await db.transaction((tx) => recordCliChange(tx, clock, { orgId, action: 'org.export', subject: orgId }))
        const file = createWriteStream(output, { flags: 'wx', mode: 0o600 })
        const written = await exportOrganisation(db, store, orgId, async (entry) => {
          if (!file.write(`${JSON.stringify(entry)}\n`)) await once(file, 'drain')
        })
        file.end()
        await finished(file)
        return written
      })
      print(
        command,
        { org_id: orgId, file: output, ...counts },
        () => `Wrote ${counts.rows} rows and ${counts.people} people of ${orgId} to ${output}.`,
      )
    })
}

interface EraseOptions {
  confirm: string
  basis: string
}

export function orgEraseCommand(): Command {
  return new Command('erase')
    .description('Erase an organisation at the end of its contract: its people, keys, members, emails and logs')
    .argument('<org>', 'organisation ID, ORG_…')
    .requiredOption('--confirm <name>', 'the name of the organisation')
    .requiredOption('--basis <text>', 'why it is erased, for the audit log', parseName)
    .addHelpText(...examples('org erase ORG_… --confirm "Acme Staffing" --basis "End of contract 2026-11"'))
    .action(async (orgId: string, { confirm, basis }: EraseOptions, command: Command) => {
      const result = await withStore(async (store) => {
        const { db, clock } = store
        const request = { confirmName: confirm, basis, requestedBy: `cli:${accountName()}` }
        await db.transaction((tx) =>
          recordCliChange(tx, clock, { orgId, action: 'org.erase_requested', subject: orgId, details: { basis } }),
        )
        const erased = await eraseOrganisation(db, store, orgId, request)
        await db.transaction((tx) =>
          recordCliChange(tx, clock, { orgId, action: 'org.erase', subject: orgId, details: { ...erased, basis } }),
        )
        return erased
      })
      print(command, result, () =>
        result.people_held > 0
          ? `Erased ${result.people_erased} people of ${orgId}. ${result.people_held} people have a legal hold; end it and run the command again.`
          : `Erased ${orgId} and ${result.people_erased} people. Restart with a new organisation if the customer returns.`,
      )
    })
}
