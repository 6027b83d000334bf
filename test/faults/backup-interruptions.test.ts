import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { backupJobs } from '../../server/backup/jobs.ts'
import { startApp } from '../support/app.ts'
import {
  BACKUP_KEY,
  createEmptyDatabase,
  createMigratedDatabase,
  createTemporaryFolder,
  type TestDatabase,
} from '../support/backups.ts'
import { signIn } from '../support/console.ts'
import { nodeOptions } from '../support/node-options.ts'
import { startS3 } from '../support/s3-server.ts'
import { startSmtp } from '../support/smtp.ts'
import { until } from '../support/until.ts'
import { verificationCalls } from '../support/verification.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

/** Starts a command and kills it with SIGKILL when `reached` is resolved. */
async function killAt({ env }: TestDatabase, args: string[], reached: Promise<unknown>): Promise<void> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...nodeOptions, MAIN, ...args], {
    cwd: tmpdir(),
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const first = await Promise.race([reached.then(() => 'reached'), exited.then(() => 'exited')])
  assert.equal(first, 'reached')
  child.kill('SIGKILL')
  await exited
}

async function query({ ownerUrl }: TestDatabase, text: string) {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  return client.query(text).finally(() => client.end())
}

test('kill -9 during a backup stores nothing, and during a restore leaves a database that only a restore accepts', async (t) => {
  const s3 = await startS3(t)
  const source = await createMigratedDatabase(t)
  Object.assign(source.env, s3.env, { BACKUP_KEEP_COUNT: '2' })
  await source.json('org', 'create', '--name', 'Acme')

  const partSent = Promise.withResolvers<void>()
  s3.onRequest = async (request) => {
    if (!request.endsWith(' part')) return
    partSent.resolve()
    await new Promise(() => {}) // no response
  }
  await killAt(source, ['backup'], partSent.promise)
  s3.onRequest = undefined
  assert.equal(s3.objects.size, 0)
  assert.deepEqual(await source.json('backup', 'list'), [])

  for (let number = 0; number < 3; number++) await source.json('backup')
  const listed = await source.json('backup', 'list')
  assert.equal(listed.length, 2, 'the oldest backup was removed')
  assert.deepEqual([...s3.objects.keys()].map((name) => name.slice(name.lastIndexOf('.'))).sort(), [
    '.attestry-backup',
    '.attestry-backup',
    '.attestry-erasures',
  ])
  const address = `s3://backups/attestry/${listed[1].name}`

  const target = await createEmptyDatabase(t, source.env.MASTER_KEY)
  Object.assign(target.env, s3.env)
  // The first half is sent; the restore then waits for the rest, in the middle of its transaction.
  s3.sendsHalf = true
  const isLoading = until(async () => {
    const { rows } = await query(
      target,
      `select from pg_stat_activity where datname = current_database() and query like 'copy %'`,
    )
    return rows.length > 0
  })
  await killAt(target, ['restore', address], isLoading)
  s3.sendsHalf = false
  const refused = await target.run('org', 'list')
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /restoring it was interrupted; wait until it is finished, or run "attestry restore" again/,
  )
  await target.json('restore', address)
  assert.equal((await target.json('org', 'list'))[0].name, 'Acme')

  const again = await target.run('restore', address)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /is not empty: it has \d+ tables/)
  source.env.BACKUP_S3_SECRET_ACCESS_KEY = 'wrong'
  assert.match(
    (await source.run('backup', 'list')).stderr,
    /status 403 SignatureDoesNotMatch: the signature is wrong; check/,
  )
})

test('a damaged backup, a wrong key and a missing master key are reported before anything is written', async (t) => {
  const folder = await createTemporaryFolder(t)
  const source = await createMigratedDatabase(t)
  const path = join(folder, 'a.attestry-backup')
  await source.json('backup', '--to', path)
  assert.match((await source.run('backup', '--to', path)).stderr, /a\.attestry-backup exists and was not changed/)
  assert.deepEqual(await readdir(folder), ['a.attestry-backup'])

  const bytes = await readFile(path)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  await writeFile(join(folder, 'damaged.attestry-backup'), bytes)
  const target = await createEmptyDatabase(t, source.env.MASTER_KEY)
  const damaged = await target.run('restore', join(folder, 'damaged.attestry-backup'))
  assert.equal(damaged.code, 1)
  assert.match(damaged.stderr, /the backup was changed or damaged near byte \d+; use another one/)
  assert.doesNotMatch(damaged.stderr, /\n\s+at /)

  const other = await createEmptyDatabase(t)
  assert.match((await other.run('restore', path)).stderr, /the master key of the backup is not known.*set MASTER_KEY/)
  other.env.BACKUP_KEY = Buffer.alloc(32, 9).toString('base64')
  assert.match(
    (await other.run('restore', path)).stderr,
    /BACKUP_KEY is not the key that this backup was encrypted with/,
  )
  other.env.BACKUP_KEY = ''
  assert.match((await other.run('restore', path)).stderr, /BACKUP_KEY is not set/)

  await target.json('restore', path) // the failed restore can be repeated with a good backup
})

test('after a restore, emails that were waiting are not sent, and the service is off until it is switched on', async (t) => {
  const folder = await createTemporaryFolder(t)
  const smtp = await startSmtp()
  const app = await startApp(t, { config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { session } = await calls.requestReview()
  assert.equal((await calls.listEmails(session))[0]!.status, 'queued')
  const { config } = app.context
  const masterKey = config.masterKey!.toString('base64')
  const target = await createEmptyDatabase(t, masterKey)
  const sourceEnv = { ...target.env, DATABASE_URL: config.databaseUrl!, DATABASE_OWNER_URL: config.databaseOwnerUrl! }
  const path = join(folder, 'a.attestry-backup')
  const source: TestDatabase = { ...target, env: target.env }
  Object.assign(target.env, sourceEnv)
  await source.json('backup', '--to', path)
  Object.assign(target.env, { DATABASE_URL: target.ownerUrl, DATABASE_OWNER_URL: target.ownerUrl })
  const { withheld_emails } = await target.json('restore', path)
  assert.equal(withheld_emails, 1)

  const restored = await startApp(t, {
    worker: true,
    clock: app.clock,
    config: { databaseUrl: target.ownerUrl, masterKey: config.masterKey!, smtpUrl: smtp.url },
  })
  const operator = await signIn(restored)
  assert.equal((await operator.put('/operator/service', { on: true })).status, 200)
  const others = verificationCalls(restored, orgId, await restored.fixtures.createSessionKey(orgId))
  await others.requestReview()
  await until(() => smtp.received.length > 0)
  assert.equal(smtp.received.length, 1, 'only the email that was queued after the restore is sent')
  const emails = await verificationCalls(restored, orgId, 'unused').listEmails(session)
  assert.equal(emails[0]!.status, 'failed')
  assert.match(emails[0]!.last_error!, /may have been sent after the backup was made/)
})

test('the scheduled job makes backups and removes old ones', async (t) => {
  const folder = await createTemporaryFolder(t)
  const backup = {
    key: Buffer.from(BACKUP_KEY, 'base64'),
    to: folder,
    schedule: '30 2 * * *',
    keepCount: undefined,
    keepDays: 7,
    s3: undefined,
  }
  const app = await startApp(t, { worker: true, config: { backup } })
  const { db, queue } = app.context
  const { rows } = await db.pool.query(`select cron, timezone from pgboss.schedule where name = 'back-up'`)
  assert.deepEqual(rows, [{ cron: '30 2 * * *', timezone: 'Asia/Kolkata' }])
  const run = () => db.transaction((tx) => queue.enqueue(tx, backupJobs[0]!, {}))
  await run()
  const first = await until(async () => (await readdir(folder)).find((name) => name.endsWith('-backup')))
  app.clock.advance(8 * 24 * 60 * 60 * 1000)
  await run()
  await until(async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('-backup'))
    return names.length === 1 && names[0] !== first
  })
  assert.match(
    await app.context.metrics.registry.metrics(),
    /attestry_last_backup_timestamp_seconds\{location="[^"]+"\} \d/,
  )
})
