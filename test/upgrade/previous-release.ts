import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { loadBuiltInCatalogue } from '../../server/catalogue/built-in.ts'
import { ensurePartitions } from '../../server/events/partitions.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { migrate, readMigrations } from '../../server/platform/database/migrate.ts'
import { createLog } from '../../server/platform/log.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/backups.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { TestClock } from '../support/clock.ts'
import { signIn } from '../support/console.ts'
import type { RecordedRead, Recording } from './recording.ts'

/** The last migration of the release that stored personal values in plain text. */
const LAST_PLAIN_MIGRATION = '0035'

/** Columns of later migrations, which the current program needs to load the catalogue of skills. */
const LATER_COLUMNS: Record<string, Record<string, string>> = {
  skills: {
    revision: 'integer not null default 1',
    edited_name: 'text',
    added_aliases: `text[] not null default '{}'`,
    added_alias_keys: `text[] not null default '{}'`,
    removed_aliases: `text[] not null default '{}'`,
    edited_verifiable: 'boolean',
    verification_off: 'boolean not null default false',
    withdrawn: 'boolean not null default false',
  },
  sub_skills: { withdrawn: 'boolean not null default false' },
  master_skills: { withdrawn: 'boolean not null default false' },
  skill_sources: { former_labels: `text[] not null default '{}'` },
}

export async function readRecording(): Promise<Recording> {
  return JSON.parse(gunzipSync(await readFile(new URL('previous-release.json.gz', import.meta.url))).toString())
}

/** Creates a database with the schema and the rows of the previous release. */
export async function createPreviousDatabase(t: Cleanup, { tables, now, masterKey }: Recording): Promise<TestDatabase> {
  const database = await createEmptyDatabase(t, masterKey)
  const db = openDatabase({ connection: { connectionString: database.ownerUrl }, name: 'upgrade', onError: () => {} })
  try {
    const migrations = await readMigrations()
    await migrate(
      db.pool,
      migrations.filter(({ name }) => name.slice(0, 4) <= LAST_PLAIN_MIGRATION),
    )
    await changeColumns((name, definition) => `add column ${name} ${definition}`)
    await loadBuiltInCatalogue(db, systemClock, createLog('silent'))
    await changeColumns((name) => `drop column ${name}`)
    await ensurePartitions(db, new TestClock(now))
    for (const { name, rows } of tables) {
      await db.pool.query(`alter table "${name}" disable trigger user`)
      await db.pool.query(
        `insert into "${name}" overriding system value select * from json_populate_recordset(null::"${name}", $1)`,
        [JSON.stringify(rows)],
      )
      await db.pool.query(`alter table "${name}" enable trigger user`)
    }
    await db.pool.query(`select setval('event_sequence', (select max(sequence) from events))`)
  } finally {
    await db.close()
  }
  return database

  async function changeColumns(change: (name: string, definition: string) => string): Promise<void> {
    for (const [table, columns] of Object.entries(LATER_COLUMNS)) {
      const changes = Object.entries(columns).map(([name, definition]) => change(name, definition))
      await db.pool.query(`alter table ${table} ${changes.join(', ')}`)
    }
  }
}

export async function startUpgraded(t: Cleanup, { ownerUrl }: TestDatabase, recording: Recording): Promise<TestApp> {
  return startApp(t, {
    clock: new TestClock(recording.now),
    config: {
      databaseUrl: ownerUrl,
      masterKey: Buffer.from(recording.masterKey, 'base64'),
      publicUrl: recording.publicUrl,
    },
  })
}

/** Sends the recorded requests and returns a line for each value that differs. Values that the release added are ignored. */
export async function compareReads(
  app: TestApp,
  { reads, partnerKey, sessionKey, holderToken }: Recording,
): Promise<string[]> {
  const operator = await signIn(app)
  const partner = app.as(partnerKey)
  const differences: string[] = []
  for (const { as, path, body } of reads.map(currentRead)) {
    const response = await send(as, path)
    if (response.status !== 200) differences.push(`${path}: ${response.status} ${JSON.stringify(response.body)}`)
    else differences.push(...differencesOf(path, body, response.body))
  }
  return differences

  function send(as: RecordedRead['as'], path: string) {
    if (as === 'partner') return partner.get(path)
    if (as === 'operator') return operator.get(path)
    if (as === 'session_key') return app.fetch(path, { headers: { 'x-api-key': sessionKey } })
    return app.fetch(path, as === 'holder' ? { headers: { authorization: `Bearer ${holderToken}` } } : undefined)
  }
}

/**
 * Returns the read with the path and the response of this release. The console's list of candidates has moved, and no longer contains
 * answers and metadata; the recorded reads of each candidate do.
 */
function currentRead({ as, path, body }: RecordedRead): RecordedRead {
  const currentPath = path.replace(/(\/orgs\/\w+\/\w+)\/people\?/, '$1/recruiter-results?')
  if (currentPath === path) return { as, path, body }
  const { data } = body as { data: { items: any[] } }
  const items = data.items.map(({ candidate, output, flow_version: _, version: __, ...result }) => {
    const { metadata: ___, ...shownCandidate } = candidate
    const { enrichment: ____, ...shownOutput } = output
    return { ...result, candidate: shownCandidate, output: shownOutput }
  })
  return { as, path: currentPath, body: { ...(body as object), message: 'Candidates', data: { ...data, items } } }
}

/** Values that differ between two requests for the same data. */
const CHANGING = new Set(['requestId', 'request_id', 'next_cursor', 'nextCursor'])

function differencesOf(path: string, before: unknown, after: unknown): string[] {
  // Messages are rendered when they are read, and this release adds a link to them.
  const expected = typeof after === 'string' ? after.replace(/Your data and your rights: \S+\n\n/, '') : after
  if (typeof before !== 'object' || before === null)
    return before === expected ? [] : [`${path}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`]
  if (Array.isArray(before) && before.length !== (after as unknown[])?.length)
    return [`${path}: ${before.length} entries became ${(after as unknown[])?.length}`]
  return Object.entries(before).flatMap(([name, value]) =>
    CHANGING.has(name) ? [] : differencesOf(`${path} ${name}`, value, (after as any)?.[name]),
  )
}
