import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { Command } from 'commander'
import {
  eraseOrganisation,
  eraseOrganisationJob,
  getErasureProgress,
  requestErasure,
} from '../../server/offboarding/erase-organisation.ts'
import { exportOrganisation } from '../../server/offboarding/export-organisation.ts'
import { MINUTE } from '../../server/platform/clock.ts'
import { openQueue } from '../../server/platform/jobs/queue.ts'
import { createLog } from '../../server/platform/log.ts'
import { createMetrics } from '../../server/platform/metrics.ts'
import { examples } from '../examples.ts'
import { parseName } from '../options.ts'
import { print } from '../print.ts'
import { type CliStore, withStore } from '../store.ts'
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
      const { run, erased } = await withStore(async (store) => {
        const { db, clock } = store
        const requestedBy = `cli:${accountName()}`
        await using queue = await openEnqueueOnlyQueue(store)
        await db.transaction(async (tx) => {
          const request = { confirmName: confirm, basis, requestedBy }
          await requestErasure(tx, { ...store, queue }, orgId, request, clock.now() + SERVER_CONTINUES_AFTER_MS)
          await recordCliChange(tx, clock, {
            orgId,
            action: 'org.erase_requested',
            subject: orgId,
            details: { basis },
          })
        })
        const run = await eraseOrganisation(
          db,
          store,
          orgId,
          { basis, requestedBy },
          {
            onPersonErased: reportProgress,
            onErased: (tx, details) =>
              recordCliChange(tx, clock, {
                orgId,
                action: 'org.erase',
                subject: orgId,
                details: { ...details, basis },
              }),
          },
        )
        return { run, erased: await getErasureProgress(db.queries, orgId) }
      })
      print(command, { ...erased, status: run.erased_at === null ? 'held' : 'erased' }, () =>
        run.erased_at === null
          ? `${people(run.people_erased)} of ${orgId} ${run.people_erased === 1 ? 'is' : 'are'} erased. ${describeHeld(run.people_held)} run the command again.`
          : `Erased ${orgId} and ${people(run.people_erased)}. If the customer returns, create a new organisation.`,
      )
    })
}

function people(count: number): string {
  return count === 1 ? '1 person' : `${count} people`
}

function describeHeld(count: number): string {
  return count === 1
    ? '1 person is not, because the person or the organisation has a legal hold. End the legal hold and'
    : `${people(count)} are not, because they or the organisation have a legal hold. End the legal holds and`
}

/** If the command is interrupted, a server continues the erasure after this time. */
const SERVER_CONTINUES_AFTER_MS = MINUTE
const PEOPLE_PER_PROGRESS_LINE = 1000

function reportProgress(peopleErased: number): void {
  if (peopleErased % PEOPLE_PER_PROGRESS_LINE === 0) console.error(`${peopleErased} people erased…`)
}

/** Opens the job queue, only to enqueue the job that continues the erasure on a server. */
async function openEnqueueOnlyQueue({ db, clock, connection, pooledConnection }: CliStore) {
  const queue = await openQueue({
    connection: pooledConnection ?? connection,
    isPooled: pooledConnection !== undefined,
    db,
    clock,
    log: createLog('warn', { write: (line) => process.stderr.write(line) }),
    metrics: createMetrics(),
    jobs: [eraseOrganisationJob],
  })
  return Object.assign(queue, { [Symbol.asyncDispose]: () => queue.stop() })
}
