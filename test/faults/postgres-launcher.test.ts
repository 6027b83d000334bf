// Several processes on one data folder, and what is left behind when some of them are killed.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  dataFolder,
  eventually,
  Process,
  preparedDataDir,
  processesBelow,
  query,
  temporaryFolder,
  until,
  ways,
} from './postgres-driver.ts'

const canEndWithParent = spawnSync('setpriv', ['--pdeathsig', 'INT', '--', 'true']).status === 0

for (const way of ways) {
  describe(way.name, { concurrency: 2 }, () => suite(way))
}

function suite(way: (typeof ways)[number]): void {
  // The second way of root differs in who may reach, see and signal whom; the rest need not be shown twice.
  const testOnce = way === ways[0] ? test : () => {}
  const setUp = async (t: TestContext, { fresh = false } = {}) => {
    const dataDir = fresh ? join(temporaryFolder(t), 'data') : await preparedDataDir(t, way)
    const start = (role: 'owner' | 'guest' = 'owner', more = {}) =>
      new Process(t, { dataDir, role, machine: { ...way.machine, ...more } })
    return { folder: dirname(dataDir), dataDir, start }
  }

  testOnce('a second server is refused at once and told who is first; guests are welcome', async (t) => {
    const { folder, start } = await setUp(t)
    const first = start()
    const connection = await first.up()

    const second = start()
    await assert.rejects(second.up(), { message: new RegExp(`Another server \\(pid ${first.pid}\\) already uses`) })
    assert.equal(second.event('failed')?.code, 'IN_USE')

    const guest = start('guest')
    assert.deepEqual(await guest.up(), connection)
    await guest.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    await first.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test('of servers that start at once exactly one wins, whether there is a cluster yet or not', async (t) => {
    const { folder, dataDir, start } = await setUp(t, { fresh: true })
    for (let round = 0; round < 4; round++) {
      const racers = Array.from({ length: 3 }, () => start())
      await until(() => racers.every((racer) => racer.event('up') ?? racer.event('failed')), 60_000)
      const winners = racers.filter((racer) => racer.event('up'))
      assert.equal(winners.length, 1, JSON.stringify(racers.map(({ events }) => events)))
      const refused = racers.flatMap((racer) => racer.event('failed') ?? [])
      assert.deepEqual(
        refused.map(({ code }) => code),
        ['IN_USE', 'IN_USE'],
      )
      assert.ok(refused.every(({ message }) => String(message).includes(`pid ${winners[0]!.pid}`)))
      // The winner's database was not pulled away with a loser.
      await pause(100)
      assert.equal(winners[0]!.event('log'), undefined)
      await winners[0]!.stop()
      assert.deepEqual(processesBelow(folder), [])
      assert.deepEqual(readdirSync(dataDir), ['postgres'])
    }
  })

  test('a guest starts what does not run, and the last one shuts it down', async (t) => {
    const { folder, start } = await setUp(t)
    const guest = start('guest')
    const connection = await guest.up()
    const other = start('guest')
    await other.up()
    await guest.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    // A server may come in between, and guests leave it its database.
    const owner = start()
    await owner.up()
    await other.stop()
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    await owner.stop()
    assert.deepEqual(processesBelow(folder), [])

    const alone = start('guest')
    await alone.up()
    await alone.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  test('an orphaned database is taken over, brought back and stopped like an own one', async (t) => {
    const { folder, dataDir, start } = await setUp(t)
    const guest = start('guest')
    const connection = await guest.up()
    await query(connection, 'create table kept as select 42 as answer')
    await guest.kill()
    const orphan = postmasterPid(dataDir)
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])

    const owner = start()
    await owner.up()
    assert.equal(postmasterPid(dataDir), orphan)
    process.kill(orphan, 'SIGKILL')
    await until(() => owner.events.find(({ message }) => message === 'The database is back.'))
    assert.notEqual(postmasterPid(dataDir), orphan)
    assert.deepEqual(await query(connection, 'select answer from kept'), [{ answer: 42 }])
    await assert.rejects(start().up(), { message: /already uses/ }, 'the folder is still taken')
    await owner.stop()
    assert.deepEqual(processesBelow(folder), [])

    const second = start('guest')
    await second.up()
    await second.kill()
    const owner2 = start()
    await owner2.up()
    await owner2.stop()
    assert.deepEqual(processesBelow(folder), [])
  })

  testOnce('a server that finds its place taken says so and leaves the other one alone', async (t) => {
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

  test('a killed server takes its database down', { skip: !canEndWithParent && 'no setpriv' }, async (t) => {
    const { folder, start } = await setUp(t)
    const owner = start()
    await owner.up()
    await owner.kill()
    await until(() => processesBelow(folder).length === 0)
    const next = start()
    await next.up()
    await next.stop()
  })

  testOnce('a backend that was killed or goes on without its postmaster does no harm', async (t) => {
    const { dataDir, start } = await setUp(t)
    const owner = start()
    const connection = await owner.up()
    const backs = () => owner.events.filter(({ message }) => message === 'The database is back.').length

    // The postmaster then ends all sessions and recovers: ours among them, and with it our hold on the folder.
    const [{ pid }] = (await query(
      connection,
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    )) as [{ pid: number }]
    process.kill(pid, 'SIGKILL')
    await until(() => backs() === 1)
    await assert.rejects(start().up(), { message: /already uses/ })

    // Deep in a query it does not notice, and would keep the shared memory for hours.
    query(connection, 'select count(*) from generate_series(1, 1e12)').catch(() => {})
    await until(async () => {
      const rows = await query(
        connection,
        `select 1 from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()`,
      )
      return rows.length === 1
    })
    process.kill(postmasterPid(dataDir), 'SIGKILL')
    await until(() => backs() === 2)
    assert.ok(
      owner.events.some(({ message }) => /^Ending process \d+ of a PostgreSQL that was killed/.test(String(message))),
    )
    await owner.stop()
  })

  test('lock files that name the process of a stranger are seen through', async (t) => {
    const { dataDir, start } = await setUp(t)
    const guest = start('guest')
    await guest.up()
    const postmaster = postmasterPid(dataDir)
    await guest.kill()
    process.kill(postmaster, 'SIGKILL')
    const stranger = spawn('sleep', ['100'], { stdio: 'ignore' })
    t.after(() => stranger.kill('SIGKILL'))
    for (const file of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      const path = join(dataFolder(dataDir), file)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\d+/, String(stranger.pid)))
    }
    const owner = start()
    await owner.up()
    assert.ok((owner.event('up')?.ms as number) < 5_000)
    await owner.stop()
    assert.equal(stranger.exitCode, null)
  })

  testOnce('Ctrl-C reaches the server and not the database under it', async (t) => {
    const { start } = await setUp(t)
    const owner = start()
    const connection = await owner.up()
    process.kill(-owner.pid, 'SIGINT')
    await until(() => owner.event('interrupted'))
    await pause(100)
    assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
    assert.equal(owner.event('log'), undefined)
    await owner.stop()
  })

  test('a database that does not stop is ended by force', async (t) => {
    const { folder, dataDir, start } = await setUp(t)
    const owner = start('owner', { stopPatience: { fastMs: 300, immediateMs: 300 } })
    await owner.up()
    process.kill(postmasterPid(dataDir), 'SIGSTOP')
    await owner.stop()
    assert.ok(owner.event('stopped'))
    assert.deepEqual(processesBelow(folder), [])
    assert.match(String(owner.event('log')?.message), /ended by force/)
    const next = start()
    await next.up()
    await next.stop()
  })

  test('a first start that is killed leaves nothing half made', async (t) => {
    const { folder, dataDir, start } = await setUp(t, { fresh: true })
    for (const delay of [30, 150, 300]) {
      const unlucky = start()
      await until(() => unlucky.event('progress'))
      await pause(delay)
      await unlucky.kill()
    }
    const lucky = start()
    const connection = await lucky.up()
    await eventually(connection, 'select 1')
    assert.deepEqual(readdirSync(dataDir), ['postgres'])
    await lucky.stop()
    await until(() => processesBelow(folder).length === 0)
  })
}

function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataFolder(dataDir), 'postmaster.pid'), 'utf8'), 10)
}
