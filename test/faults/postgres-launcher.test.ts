// Runs several processes on one data folder and kills some of them.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/until.ts'
import {
  copyPreparedDataDir,
  createTemporaryFolder,
  findProcessesIn,
  launchMethods,
  PostgresProcess,
  postgresDataFolder,
  runQuery,
  runQueryUntilSuccess,
} from './postgres-driver.ts'

const hasSetpriv = spawnSync('setpriv', ['--pdeathsig', 'INT', '--', 'true']).status === 0

for (const method of launchMethods) {
  describe(method.name, { concurrency: 2 }, () => addTests(method))
}

function addTests(method: (typeof launchMethods)[number]): void {
  // The second launch method of root differs only in permissions, so these tests run with the first method only.
  const testOnce = method === launchMethods[0] ? test : () => {}
  const setUp = async (t: TestContext, { fresh = false } = {}) => {
    const dataDir = fresh ? join(createTemporaryFolder(t), 'data') : await copyPreparedDataDir(t, method)
    const startProcess = (role: 'server' | 'command' = 'server', extraOptions = {}) =>
      new PostgresProcess(t, { dataDir, role, machine: { ...method.machine, ...extraOptions } })
    return { folder: dirname(dataDir), dataDir, startProcess }
  }

  testOnce('a second server fails and names the first one; commands can use the database', async (t) => {
    const { folder, startProcess } = await setUp(t)
    const firstServer = startProcess()
    const connection = await firstServer.up()

    const secondServer = startProcess()
    await assert.rejects(secondServer.up(), {
      message: new RegExp(`Another server \\(pid ${firstServer.pid}\\) is using`),
    })
    assert.equal(secondServer.event('failed')?.code, 'IN_USE')

    const command = startProcess('command')
    assert.deepEqual(await command.up(), connection)
    await command.stop()
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])
    await firstServer.stop()
    assert.deepEqual(findProcessesIn(folder), [])
  })

  test('exactly one of several servers that start concurrently succeeds, with and without an existing cluster', async (t) => {
    const { folder, dataDir, startProcess } = await setUp(t, { fresh: true })
    for (let round = 0; round < 4; round++) {
      const servers = Array.from({ length: 3 }, () => startProcess())
      await until(() => servers.every((server) => server.event('up') ?? server.event('failed')), 60_000)
      const startedServers = servers.filter((server) => server.event('up'))
      assert.equal(startedServers.length, 1, JSON.stringify(servers.map(({ events }) => events)))
      const failedEvents = servers.flatMap((server) => server.event('failed') ?? [])
      assert.deepEqual(
        failedEvents.map(({ code }) => code),
        ['IN_USE', 'IN_USE'],
      )
      assert.ok(failedEvents.every(({ message }) => String(message).includes(`pid ${startedServers[0]!.pid}`)))
      // The servers that failed to start did not stop the database of the one that started.
      await pause(100)
      assert.equal(startedServers[0]!.event('log'), undefined)
      await startedServers[0]!.stop()
      assert.deepEqual(findProcessesIn(folder), [])
      assert.deepEqual(readdirSync(dataDir), ['postgres'])
    }
  })

  test('a command starts the database if it is not running, and the last process stops it', async (t) => {
    const { folder, startProcess } = await setUp(t)
    const command = startProcess('command')
    const connection = await command.up()
    const otherCommand = startProcess('command')
    await otherCommand.up()
    await command.stop()
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])
    // A server may start in the meantime; commands do not stop its database.
    const server = startProcess()
    await server.up()
    await otherCommand.stop()
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])
    await server.stop()
    assert.deepEqual(findProcessesIn(folder), [])

    const lastCommand = startProcess('command')
    await lastCommand.up()
    await lastCommand.stop()
    assert.deepEqual(findProcessesIn(folder), [])
  })

  test('an orphaned database is taken over, restarted after a crash, and stopped', async (t) => {
    const { folder, dataDir, startProcess } = await setUp(t)
    const command = startProcess('command')
    const connection = await command.up()
    await runQuery(connection, 'create table stored as select 42 as answer')
    await command.kill()
    const orphanedPid = readPostmasterPid(dataDir)
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])

    const server = startProcess()
    await server.up()
    assert.equal(readPostmasterPid(dataDir), orphanedPid)
    process.kill(orphanedPid, 'SIGKILL')
    await until(() => server.events.find(({ message }) => message === 'The database is running again.'))
    assert.notEqual(readPostmasterPid(dataDir), orphanedPid)
    assert.deepEqual(await runQuery(connection, 'select answer from stored'), [{ answer: 42 }])
    await assert.rejects(startProcess().up(), { message: /is using/ }, 'the folder is still in use')
    await server.stop()
    assert.deepEqual(findProcessesIn(folder), [])

    const secondCommand = startProcess('command')
    await secondCommand.up()
    await secondCommand.kill()
    const secondServer = startProcess()
    await secondServer.up()
    await secondServer.stop()
    assert.deepEqual(findProcessesIn(folder), [])
  })

  testOnce('a server whose folder was taken over reports it and does not affect the other server', async (t) => {
    const { folder, dataDir, startProcess } = await setUp(t)
    const firstServer = startProcess()
    const connection = await firstServer.up()
    firstServer.child.kill('SIGSTOP')
    process.kill(readPostmasterPid(dataDir), 'SIGKILL')
    const secondServer = startProcess()
    await secondServer.up()
    firstServer.child.kill('SIGCONT')
    const { message } = await until(() => firstServer.event('lost'))
    assert.match(String(message), new RegExp(`pid ${secondServer.pid}`))
    await firstServer.stop()
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])
    assert.ok(!secondServer.events.some(({ message }) => /went away/.test(String(message))))
    await secondServer.stop()
    assert.deepEqual(findProcessesIn(folder), [])
  })

  test('the database of a killed server stops', { skip: !hasSetpriv && 'no setpriv' }, async (t) => {
    const { folder, startProcess } = await setUp(t)
    const server = startProcess()
    await server.up()
    await server.kill()
    await until(() => findProcessesIn(folder).length === 0)
    const nextServer = startProcess()
    await nextServer.up()
    await nextServer.stop()
  })

  testOnce('the database recovers from a killed backend and from a backend without a postmaster', async (t) => {
    const { dataDir, startProcess } = await setUp(t)
    const server = startProcess()
    const connection = await server.up()
    const countRestarts = () =>
      server.events.filter(({ message }) => message === 'The database is running again.').length

    // The postmaster then ends all sessions, including the one that holds the lock of the data folder, and recovers.
    const [{ pid }] = (await runQuery(
      connection,
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    )) as [{ pid: number }]
    process.kill(pid, 'SIGKILL')
    await until(() => countRestarts() === 1)
    await assert.rejects(startProcess().up(), { message: /is using/ })

    // A backend in a long query does not notice that the postmaster died, and keeps the shared memory.
    runQuery(connection, 'select count(*) from generate_series(1, 1e12)').catch(() => {})
    await until(async () => {
      const rows = await runQuery(
        connection,
        `select 1 from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()`,
      )
      return rows.length === 1
    })
    process.kill(readPostmasterPid(dataDir), 'SIGKILL')
    await until(() => countRestarts() === 2)
    assert.ok(server.events.some(({ message }) => /^Killing the orphaned PostgreSQL process \d+/.test(String(message))))
    await server.stop()
  })

  test('lock files with the pid of an unrelated process are ignored', async (t) => {
    const { dataDir, startProcess } = await setUp(t)
    const command = startProcess('command')
    await command.up()
    const formerPid = readPostmasterPid(dataDir)
    await command.kill()
    process.kill(formerPid, 'SIGKILL')
    const unrelatedProcess = spawn('sleep', ['100'], { stdio: 'ignore' })
    t.after(() => unrelatedProcess.kill('SIGKILL'))
    for (const file of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const path = join(postgresDataFolder(dataDir), file)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\d+/, String(unrelatedProcess.pid)))
    }
    const server = startProcess()
    await server.up() // would fail after a timeout if the lock files were trusted
    await server.stop()
    assert.equal(unrelatedProcess.exitCode, null)
  })

  testOnce('Ctrl-C reaches the server but not its database', async (t) => {
    const { startProcess } = await setUp(t)
    const server = startProcess()
    const connection = await server.up()
    process.kill(-server.pid, 'SIGINT')
    await until(() => server.event('interrupted'))
    await pause(100)
    assert.deepEqual(await runQuery(connection, 'select 1 as one'), [{ one: 1 }])
    assert.equal(server.event('log'), undefined)
    await server.stop()
  })

  test('a database that does not stop is killed', async (t) => {
    const { folder, dataDir, startProcess } = await setUp(t)
    const server = startProcess('server', { stopTimeouts: { fastMs: 300, immediateMs: 300 } })
    await server.up()
    process.kill(readPostmasterPid(dataDir), 'SIGSTOP')
    await server.stop()
    assert.ok(server.event('stopped'))
    assert.deepEqual(findProcessesIn(folder), [])
    assert.match(String(server.event('log')?.message), /was killed/)
    const nextServer = startProcess()
    await nextServer.up()
    await nextServer.stop()
  })

  test('a first start that is killed leaves no incomplete cluster', async (t) => {
    const { folder, dataDir, startProcess } = await setUp(t, { fresh: true })
    for (const delay of [30, 150, 300]) {
      const killedServer = startProcess()
      // On a busy machine, a start may create the whole cluster before it is killed. The next start then reports no progress.
      await until(() => killedServer.event('progress') ?? killedServer.event('up'))
      await pause(delay)
      await killedServer.kill()
    }
    const nextServer = startProcess()
    const connection = await nextServer.up()
    await runQueryUntilSuccess(connection, 'select 1')
    assert.deepEqual(readdirSync(dataDir), ['postgres'])
    await nextServer.stop()
    await until(() => findProcessesIn(folder).length === 0)
  })
}

function readPostmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(postgresDataFolder(dataDir), 'postmaster.pid'), 'utf8'), 10)
}
