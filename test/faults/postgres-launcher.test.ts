// Several processes on one data folder, some of which are killed.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/until.ts'
import {
  dataFolder,
  launchMethods,
  PostgresProcess,
  preparedDataDir,
  processesBelow,
  query,
  queryUntilSuccess,
  temporaryFolder,
} from './postgres-driver.ts'

const canEndWithParent = spawnSync('setpriv', ['--pdeathsig', 'INT', '--', 'true']).status === 0

for (const method of launchMethods) {
  describe(method.name, { concurrency: 2 }, () => suite(method))
}

function suite(method: (typeof launchMethods)[number]): void {
  // The second method of root differs only in permissions, so these tests run with the first one only.
  const testOnce = method === launchMethods[0] ? test : () => {}
  const setUp = async (t: TestContext, { fresh = false } = {}) => {
    const dataDir = fresh ? join(temporaryFolder(t), 'data') : await preparedDataDir(t, method)
    const start = (role: 'server' | 'command' = 'server', more = {}) =>
      new PostgresProcess(t, { dataDir, role, machine: { ...method.machine, ...more } })
    return { folder: dirname(dataDir), dataDir, start }
  }

  testOnce('a second server fails and names the first one; commands can use the database', async (t) => {
    const { folder, start } = await setUp(t)
    const first = start()
    const connection = await first.up()

    const second = start()
    await assert.rejects(second.up(), { message: new RegExp(`Another server \\(pid ${first.pid}\\) is using`) })
    assert.equal(second.event('failed')?.code, 'IN_USE')

    const command = start('command')
    assert.deepEqual(await command.up(), connection)
    await command.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    await first.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test('exactly one of several servers that start concurrently succeeds, with and without an existing cluster', async (t) => {
    const { folder, dataDir, start } = await setUp(t, { fresh: true })
    for (let round = 0; round < 4; round++) {
      const racers = Array.from({ length: 3 }, () => start())
      await until(() => racers.every((racer) => racer.event('up') ?? racer.event('failed')), 60_000)
      const winners = racers.filter((racer) => racer.event('up'))
      assert.equal(winners.length, 1, JSON.stringify(racers.map(({ events }) => events)))
      const failed = racers.flatMap((racer) => racer.event('failed') ?? [])
      assert.deepEqual(
        failed.map(({ code }) => code),
        ['IN_USE', 'IN_USE'],
      )
      assert.ok(failed.every(({ message }) => String(message).includes(`pid ${winners[0]!.pid}`)))
      // The losers did not stop the database of the winner.
      await pause(100)
      assert.equal(winners[0]!.event('log'), undefined)
      await winners[0]!.stop()
      assert.deepEqual(processesBelow(folder), [])
      assert.deepEqual(readdirSync(dataDir), ['postgres'])
    }
  })

  test('a command starts the database if it is not running, and the last process stops it', async (t) => {
    const { folder, start } = await setUp(t)
    const command = start('command')
    const connection = await command.up()
    const other = start('command')
    await other.up()
    await command.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    // A server may start in the meantime; commands do not stop its database.
    const server = start()
    await server.up()
    await other.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    await server.stop()
    assert.deepEqual(processesBelow(folder), [])

    const alone = start('command')
    await alone.up()
    await alone.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test('an orphaned database is taken over, restarted after a crash, and stopped', async (t) => {
    const { folder, dataDir, start } = await setUp(t)
    const command = start('command')
    const connection = await command.up()
    await query(connection, 'create table stored as select 42 as answer')
    await command.kill()
    const orphan = postmasterPid(dataDir)
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])

    const server = start()
    await server.up()
    assert.equal(postmasterPid(dataDir), orphan)
    process.kill(orphan, 'SIGKILL')
    await until(() => server.events.find(({ message }) => message === 'The database is running again.'))
    assert.notEqual(postmasterPid(dataDir), orphan)
    assert.deepEqual(await query(connection, 'select answer from stored'), [{ answer: 42 }])
    await assert.rejects(start().up(), { message: /is using/ }, 'the folder is still in use')
    await server.stop()
    assert.deepEqual(processesBelow(folder), [])

    const second = start('command')
    await second.up()
    await second.kill()
    const server2 = start()
    await server2.up()
    await server2.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  testOnce('a server whose folder was taken over reports it and does not affect the other server', async (t) => {
    const { folder, dataDir, start } = await setUp(t)
    const first = start()
    const connection = await first.up()
    first.child.kill('SIGSTOP')
    process.kill(postmasterPid(dataDir), 'SIGKILL')
    const second = start()
    await second.up()
    first.child.kill('SIGCONT')
    const { message } = await until(() => first.event('lost'))
    assert.match(String(message), new RegExp(`pid ${second.pid}`))
    await first.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    assert.ok(!second.events.some(({ message }) => /went away/.test(String(message))))
    await second.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test('the database of a killed server stops', { skip: !canEndWithParent && 'no setpriv' }, async (t) => {
    const { folder, start } = await setUp(t)
    const server = start()
    await server.up()
    await server.kill()
    await until(() => processesBelow(folder).length === 0)
    const next = start()
    await next.up()
    await next.stop()
  })

  testOnce('the database recovers from a killed backend and from a backend without a postmaster', async (t) => {
    const { dataDir, start } = await setUp(t)
    const server = start()
    const connection = await server.up()
    const countRestarts = () =>
      server.events.filter(({ message }) => message === 'The database is running again.').length

    // The postmaster then ends all sessions, including the one that holds the lock of the folder, and recovers.
    const [{ pid }] = (await query(
      connection,
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    )) as [{ pid: number }]
    process.kill(pid, 'SIGKILL')
    await until(() => countRestarts() === 1)
    await assert.rejects(start().up(), { message: /is using/ })

    // A backend in a long query does not notice that the postmaster died, and keeps the shared memory.
    query(connection, 'select count(*) from generate_series(1, 1e12)').catch(() => {})
    await until(async () => {
      const rows = await query(
        connection,
        `select 1 from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()`,
      )
      return rows.length === 1
    })
    process.kill(postmasterPid(dataDir), 'SIGKILL')
    await until(() => countRestarts() === 2)
    assert.ok(
      server.events.some(({ message }) =>
        /^Killing process \d+ of a PostgreSQL whose postmaster was killed/.test(String(message)),
      ),
    )
    await server.stop()
  })

  test('lock files with the pid of an unrelated process are ignored', async (t) => {
    const { dataDir, start } = await setUp(t)
    const command = start('command')
    await command.up()
    const postmaster = postmasterPid(dataDir)
    await command.kill()
    process.kill(postmaster, 'SIGKILL')
    const unrelated = spawn('sleep', ['100'], { stdio: 'ignore' })
    t.after(() => unrelated.kill('SIGKILL'))
    for (const file of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const path = join(dataFolder(dataDir), file)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\d+/, String(unrelated.pid)))
    }
    const server = start()
    await server.up() // would fail after a timeout if the lock files were trusted
    await server.stop()
    assert.equal(unrelated.exitCode, null)
  })

  testOnce('Ctrl-C reaches the server but not its database', async (t) => {
    const { start } = await setUp(t)
    const server = start()
    const connection = await server.up()
    process.kill(-server.pid, 'SIGINT')
    await until(() => server.event('interrupted'))
    await pause(100)
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    assert.equal(server.event('log'), undefined)
    await server.stop()
  })

  test('a database that does not stop is killed', async (t) => {
    const { folder, dataDir, start } = await setUp(t)
    const server = start('server', { stopTimeouts: { fastMs: 300, immediateMs: 300 } })
    await server.up()
    process.kill(postmasterPid(dataDir), 'SIGSTOP')
    await server.stop()
    assert.ok(server.event('stopped'))
    assert.deepEqual(processesBelow(folder), [])
    assert.match(String(server.event('log')?.message), /was killed/)
    const next = start()
    await next.up()
    await next.stop()
  })

  test('a first start that is killed leaves no incomplete cluster', async (t) => {
    const { folder, dataDir, start } = await setUp(t, { fresh: true })
    for (const delay of [30, 150, 300]) {
      const killed = start()
      // On a busy machine, a start may create the whole cluster before it is killed. The next start then reports no progress.
      await until(() => killed.event('progress') ?? killed.event('up'))
      await pause(delay)
      await killed.kill()
    }
    const successful = start()
    const connection = await successful.up()
    await queryUntilSuccess(connection, 'select 1')
    assert.deepEqual(readdirSync(dataDir), ['postgres'])
    await successful.stop()
    await until(() => processesBelow(folder).length === 0)
  })
}

function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataFolder(dataDir), 'postmaster.pid'), 'utf8'), 10)
}
