import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { loadBuiltInCatalogue } from '../../server/catalogue/built-in.ts'
import { ensurePartitions } from '../../server/events/partitions.ts'
import { createRestoredErasures, listErasures, queueRestoredErasures } from '../../server/people/erasures.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { migrate, readMigrations } from '../../server/platform/database/migrate.ts'
import { createLog } from '../../server/platform/log.ts'
import { databaseEnv } from '../faults/server-process.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/backups.ts'
import { type Cleanup, withCleanup } from '../support/cleanup.ts'
import { TestClock } from '../support/clock.ts'
import { signIn } from '../support/console.ts'
import { dumpTables } from '../support/dump-tables.ts'
import { findTexts } from '../support/find-texts.ts'
import { until } from '../support/until.ts'
import type { RecordedRead, Recording } from './recording.ts'

/** The last migration of the release that stored personal values in plain text. */
const LAST_PLAIN_MIGRATION = '0035'
const MAIN = new URL('../../server/main.ts', import.meta.url).pathname

async function readRecording(): Promise<Recording> {
  return JSON.parse(gunzipSync(await readFile(new URL('previous-release.json.gz', import.meta.url))).toString())
}

/** Creates a database with the schema and the rows of the previous release. */
async function createPreviousDatabase(t: Cleanup, { tables, now, masterKey }: Recording): Promise<TestDatabase> {
  const database = await createEmptyDatabase(t, masterKey)
  const db = openDatabase({ connection: { connectionString: database.ownerUrl }, name: 'upgrade', onError: () => {} })
  try {
    const migrations = await readMigrations()
    await migrate(
      db.pool,
      migrations.filter(({ name }) => name.slice(0, 4) <= LAST_PLAIN_MIGRATION),
    )
    await loadBuiltInCatalogue(db, systemClock, createLog('silent'))
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
}

async function startUpgraded(t: Cleanup, { ownerUrl }: TestDatabase, recording: Recording): Promise<TestApp> {
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
async function compareReads(
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

test('the rows of the previous release read the same after the upgrade, and no table contains personal values', async (t) => {
  const recording = await readRecording()
  const database = await createPreviousDatabase(t, recording)
  const before = await dumpTables(database.ownerUrl)
  for (const value of recording.personalValues) assert.notEqual(findTexts(before, [value]).length, 0, value)

  const app = await startUpgraded(t, database, recording)
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
  assert.deepEqual(await compareReads(app, recording), [])
  const search = `/orgs/${recording.partnerKey.orgId}/test/recruiter-results?q=quillfeather`
  const { body } = await (await signIn(app)).get(search)
  const names = body.data.items.map(({ candidate }: { candidate: { name: string } }) => candidate.name)
  assert.deepEqual(names, ['Asha Quillfeather'])
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
})

test('an upgrade that is killed continues at the next start', async (t) => {
  const recording = await readRecording()
  const database = await createPreviousDatabase(t, recording)
  const client = new pg.Client({ connectionString: database.ownerUrl })
  await client.connect()
  try {
    await client.query(`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
      select 'EV_waiting', org_id, mode, type, data, created_at from events where type = 'result.completed' and data ~ 'Asha' limit 1`)
    for (const lockedTable of ['verification_reviews', 'mails']) {
      // The process waits for the lock when it has sealed the tables before.
      await client.query(`begin; lock table ${lockedTable} in exclusive mode`)
      const child = spawn(process.execPath, [MAIN], {
        stdio: 'ignore',
        env: {
          ...process.env,
          ...databaseEnv({
            databaseUrl: database.ownerUrl,
            databaseOwnerUrl: undefined,
            masterKey: Buffer.from(recording.masterKey, 'base64'),
          }),
          PORT: '0',
        },
      })
      t.after(() => child.kill('SIGKILL'))
      const exited = once(child, 'exit')
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
        const { rowCount } = await client.query(`select from pg_locks where relation = $1::regclass and not granted`, [
          lockedTable,
        ])
        return rowCount !== 0
      })
      child.kill('SIGKILL')
      await exited
      await client.query('rollback')
    }
  } finally {
    await client.end()
  }
  const app = await startUpgraded(t, database, recording)
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
  const reads = recording.reads.filter(({ path }) => !path.startsWith('/events'))
  assert.deepEqual(await compareReads(app, { ...recording, reads }), [])
  const { body } = await app.as(recording.partnerKey).get('/events?acknowledged=all&limit=100')
  const waiting = body.data.items.find(({ event_id }: { event_id: string }) => event_id === 'EV_waiting')
  assert.equal(waiting.data.candidate.name, 'Asha Quillfeather')
  assert.deepEqual(findTexts(await dumpTables(database.ownerUrl), recording.personalValues), [])
})

test('an erasure is made again in a backup from before the upgrade, in which people had no IDs', async (t) => {
  const recording = await readRecording()
  const { orgId } = recording.partnerKey
  const erasures = await withCleanup(async (cleanup) => {
    const app = await startUpgraded(cleanup, await createPreviousDatabase(cleanup, recording), recording)
    const partner = app.as(await app.fixtures.createPartnerKey(orgId, { mode: 'test' }))
    const { body } = await partner.get('/people?email=asha.quillfeather@example.com')
    const [person] = body.data.items
    const erasure = { basis: 'GDPR Article 17', requested_by: 'the person' }
    assert.equal((await partner.post(`/people/${person.person_id}/erase`, erasure)).status, 200)
    return listErasures(app.context.db.queries)
  })
  const database = await createPreviousDatabase(t, recording)
  const client = new pg.Client({ connectionString: database.ownerUrl })
  await client.connect()
  await createRestoredErasures(client)
  await queueRestoredErasures(client, erasures)
  await client.end()
  const app = await startUpgraded(t, database, recording)
  const { body } = await app.as(recording.partnerKey).get('/results?limit=100')
  const names = body.data.items.map(({ candidate }: { candidate: { name: string } }) => candidate.name)
  assert.ok(names.includes('erased') && names.includes('Bhanu Ostrowick') && !names.includes('Asha Quillfeather'))
})
