import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createDecipheriv } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { ADMIN_KEY, startApp, type TestApp } from '../../test/support/app.ts'
import { connectAts } from '../../test/support/ats/connection.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { until } from '../../test/support/until.ts'
import { queueEmail } from '../mail/mail.ts'
import { sealedColumns } from '../sealed-columns.ts'
import { rotateDataKey } from './data-key-rotation.ts'
import { openVault } from './vault.ts'

const CLI = new URL('../../cli/main.ts', import.meta.url).pathname

function startCommand({ context: { config } }: TestApp, ...args: string[]): ChildProcess {
  const env = {
    ...process.env,
    DATABASE_URL: config.databaseUrl,
    MASTER_KEY: config.masterKey!.toString('base64'),
    ADMIN_API_KEY: ADMIN_KEY,
  }
  return spawn(process.execPath, [...nodeOptions, CLI, ...args, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function runCommand(app: TestApp, ...args: string[]): Promise<any> {
  const child = startCommand(app, ...args)
  const [stdout, stderr] = [child.stdout!.setEncoding('utf8').toArray(), child.stderr!.setEncoding('utf8').toArray()]
  const [code] = await once(child, 'close')
  assert.equal(code, 0, (await stderr).join(''))
  return JSON.parse((await stdout).join(''))
}

/** Decrypts AES-256-GCM as an attacker would who knows the format: nonce, tag and text, wherever they begin. */
function tryDecrypt(key: Buffer, sealed: Buffer, purpose: string): Buffer | undefined {
  for (const start of [0, 12]) {
    const bytes = sealed.subarray(start)
    if (bytes.length < 28) continue
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
    } catch {
      // Another key or another beginning.
    }
  }
  return undefined
}

/** Returns all encrypted texts in the database with their purposes. */
async function readSealedTexts({ context: { db } }: TestApp) {
  const texts: { place: string; sealed: Buffer; purpose: string }[] = []
  for (const { table, column, id, purpose } of sealedColumns) {
    const { rows } = await sql<{ id: string[]; sealed: Buffer }>`
      select array[${sql.join(id.map((name) => sql.ref(name)))}]::text[] as id, ${sql.ref(column)} as sealed
      from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db.queries)
    for (const row of rows) texts.push({ place: `${table}.${column}`, sealed: row.sealed, purpose: purpose(...row.id) })
  }
  return texts
}

/** Returns the data keys that a dump of the database and a master key reveal. */
async function stealDataKeys({ context: { db, config } }: TestApp): Promise<Buffer[]> {
  const rows = await db.queries.selectFrom('data_keys').select('wrapped').execute()
  return rows.flatMap(({ wrapped }) => tryDecrypt(config.masterKey!, wrapped, 'data key') ?? [])
}

function dataKeyStatuses({ context: { db } }: TestApp) {
  return db.queries
    .selectFrom('data_keys')
    .select('status')
    .execute()
    .then((rows) => rows.map(({ status }) => status).sort())
}

async function queueEmails({ context }: TestApp, count: number) {
  await context.db.transaction(async (tx) => {
    for (let i = 0; i < count; i++)
      await queueEmail(tx, context, {
        kind: 'sign_in',
        to: { address: `person${i}@example.com` },
        subject: 'Subject',
        text: 'Text',
        html: '<p>Text</p>',
      })
  })
}

async function startAppWithSecrets(t: TestContext) {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const response = await app
    .as(key)
    .post('/webhooks', { url: 'https://example.com/hook' }, { idempotencyKey: 'create the webhook' })
  assert.equal(response.status, 201, JSON.stringify(response.body))
  await connectAts(app, { orgId: key.orgId, mode: 'test' }, 'greenhouse') // its key is stored sealed, too
  return { app, key }
}

test('a dump and the old master key decrypt nothing that was encrypted after a rotation of the data key', async (t) => {
  const { app, key } = await startAppWithSecrets(t)
  const leakedKeys = await stealDataKeys(app)
  assert.equal(leakedKeys.length, 1)
  const before = await readSealedTexts(app)
  assert.ok(before.length >= 3, `only ${before.length} encrypted texts`)
  for (const { place, sealed, purpose } of before)
    assert.ok(tryDecrypt(leakedKeys[0]!, sealed, purpose), `${place} can be decrypted before the rotation`)

  const rotation = await runCommand(app, 'master-key', 'rotate', '--data-key')
  assert.equal(rotation.data_key.resealed, before.length)
  const { key: newKey } = await app.fixtures.createOrg('Metro Ltd')

  const after = await readSealedTexts(app)
  assert.ok(after.length > before.length)
  for (const { place, sealed, purpose } of after)
    assert.equal(tryDecrypt(leakedKeys[0]!, sealed, purpose), undefined, `${place} can still be decrypted`)
  // Calls with the old and the new secret succeed, without a restart.
  assert.equal((await app.as(key).get('/shifts')).status, 200)
  assert.equal((await app.as(newKey).get('/shifts')).status, 200)
  const replayed = await app
    .as(key)
    .post('/webhooks', { url: 'https://example.com/hook' }, { idempotencyKey: 'create the webhook' })
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
})

test('a cursor from before a rotation stays valid', async (t) => {
  const { app, key } = await startAppWithSecrets(t)
  await app.as(key).post('/webhooks', { url: 'https://example.com/second' })
  const { next_cursor } = (await app.as(key).get('/webhooks?limit=1')).body.data
  assert.ok(next_cursor)
  await runCommand(app, 'master-key', 'rotate', '--data-key')
  await until(() => app.context.vault.dataKeyIds.length === 1)
  assert.equal((await app.as(key).get(`/webhooks?limit=1&cursor=${next_cursor}`)).status, 200)
})

test('a rotation that was killed is completed by the next run, and no secret is lost', async (t) => {
  const { app, key } = await startAppWithSecrets(t)
  await queueEmails(app, 1500)
  // A lock on one email holds the rotation in the middle of the emails.
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const lock = app.context.db.transaction(async (tx) => {
    await sql`
      select from mails where mail_id = (select mail_id from mails order by mail_id offset 1200 limit 1) for update`.execute(
      tx,
    )
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const child = startCommand(app, 'master-key', 'rotate', '--data-key')
  const closed = once(child, 'close')
  await until(async () => {
    const { rows } = await sql<{ waiting: boolean }>`
      select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%update "mails"%') as waiting`.execute(
      app.context.db.queries,
    )
    return rows[0]!.waiting
  })
  child.kill('SIGKILL')
  await closed
  held.resolve()
  await lock
  assert.deepEqual(await dataKeyStatuses(app), ['active', 'retiring'])
  assert.equal((await app.as(key).get('/shifts')).status, 200)
  for (const { sealed, purpose } of await readSealedTexts(app)) app.context.vault.open(sealed, purpose)

  const rotation = await runCommand(app, 'master-key', 'rotate', '--data-key')
  assert.equal(rotation.data_key.resumed, true)
  assert.ok(rotation.data_key.resealed < 1500, 'batches of the first run are kept')
  await until(() => app.context.vault.dataKeyIds.length === 1)
  const texts = await readSealedTexts(app)
  assert.ok(texts.length > 1500)
  for (const { sealed, purpose } of texts) app.context.vault.open(sealed, purpose)
})

test('the database rejects secrets of a process that missed the rotation, and its next attempt uses the new key', async (t) => {
  const { app } = await startAppWithSecrets(t)
  const { db, clock, config } = app.context
  const missed = await openVault(db, async () => config.masterKey!, clock)
  await runCommand(app, 'master-key', 'rotate', '--data-key')
  const write = (text: string) =>
    sql`update webhooks set secret = ${missed.seal(text, 'webhook secret')}`.execute(db.queries)
  await assert.rejects(write('lost'), { code: '40001', message: /data key that was rotated/ })
  config.masterKey = Buffer.from((await runCommand(app, 'master-key', 'rotate')).master_key, 'base64')
  await missed.reload()
  await write('kept')
})

test('a server process that has not loaded the new key stops the rotation before anything is encrypted with it', async (t) => {
  const { app, key } = await startAppWithSecrets(t)
  const { db, clock, vault, config } = app.context
  const process = {
    roles: ['api'],
    shared_limits: true,
    started_at: new Date(clock.now()),
    seen_at: new Date(clock.now()),
  }
  await db.queries
    .insertInto('processes')
    .values({ process_id: 'PR_old', ...process })
    .execute()
  const options = { db, vault, clock, masterKey: config.masterKey!, columns: sealedColumns }
  await assert.rejects(
    rotateDataKey({ ...options, waitTimeoutMs: 0 }),
    /1 server process did not load the new data key; restart/,
  )
  assert.deepEqual(await dataKeyStatuses(app), ['active', 'next'])
  await db.queries.deleteFrom('processes').execute()
  assert.equal((await rotateDataKey(options)).resumed, true)
  assert.deepEqual(await dataKeyStatuses(app), ['active'])
  assert.equal((await app.as(key).get('/shifts')).status, 200)
})

test('a secret that cannot be decrypted keeps the old data key', async (t) => {
  const { app } = await startAppWithSecrets(t)
  const { db, clock, vault, config } = app.context
  await sql`update webhooks set secret = set_byte(secret, 40, 255 - get_byte(secret, 40))`.execute(db.queries)
  const rotate = () => rotateDataKey({ db, vault, clock, masterKey: config.masterKey!, columns: sealedColumns })
  await assert.rejects(
    rotate(),
    /1 secret cannot be decrypted, so the old data key was not deleted: webhooks\.secret WH_/,
  )
  assert.deepEqual(await dataKeyStatuses(app), ['active', 'retiring'])
})

test('every column of type bytea is encrypted again, or known to contain no encrypted text', async (t) => {
  const { context } = await startApp(t)
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where data_type = 'bytea' and table_schema = 'public'`.execute(context.db.queries)
  // Values that are sealed with the key of a person stay as they are: that key is encrypted again.
  const sealedPerPerson = /(\.personal|verification_reviews\.words|candidate_list\.note|proof_files\.content)$/
  const unencrypted =
    /(hash|_index|opt_outs\.address|person_addresses\.address|fingerprint|stamp|code_mac|content_digest|\.person|mail_suppressions\.mailbox|branding\.logo|console_passkeys\.(credential_id|public_key)|data_keys\.wrapped)$/
  const encrypted = sealedColumns.map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(
    rows
      .map(({ name }) => name)
      .filter((name) => !unencrypted.test(name) && !sealedPerPerson.test(name))
      .sort(),
    encrypted.sort(),
    'list new columns in server/sealed-columns.ts, and add the trigger require_open_data_key to their table',
  )
  const { rows: triggers } = await sql<{ table: string }>`
    select distinct event_object_table as table from information_schema.triggers
    where trigger_name = 'require_open_data_key'`.execute(context.db.queries)
  const protectedTables = new Set(triggers.map(({ table }) => table))
  assert.deepEqual(
    sealedColumns.map(({ table }) => table).filter((table) => !protectedTables.has(table)),
    [],
    'add the trigger require_open_data_key to these tables',
  )
})
