// The embedded database and its server are killed repeatedly during writes. All acknowledged rows must exist afterwards.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/until.ts'
import {
  createTemporaryFolder,
  findProcessesIn,
  launchMethods,
  PostgresProcess,
  postgresDataFolder,
  runQuery,
  runQueryUntilSuccess,
} from './postgres-driver.ts'

/** Even rounds of `both` kill the server first, odd ones the database. Run it with KILLS=21 before a release. */
const ROUND_COUNT = Number(process.env.KILLS ?? 9)
/** The second launch method of root differs only in the user, so fewer rounds are enough. */
const ROUND_COUNT_OF_OTHER_METHODS = 3
const processesToKill = ['server', 'postmaster', 'both'] as const

for (const { name, machine } of launchMethods) {
  const roundCount = name === launchMethods[0]!.name ? ROUND_COUNT : ROUND_COUNT_OF_OTHER_METHODS

  test(`${roundCount} kills under load lose no acknowledged row (${name})`, {
    timeout: 90_000 + roundCount * 10_000,
  }, async (t) => {
    const folder = createTemporaryFolder(t)
    const dataDir = join(folder, 'data')
    const startServer = () => new PostgresProcess(t, { dataDir, role: 'server', machine, writers: 4 })
    const acknowledgedIds: string[] = []
    const recoveryMs: Record<string, number[]> = { server: [], postmaster: [], both: [] }

    let server = startServer()
    const connection = await server.up()
    for (let round = 0; round < roundCount; round++) {
      const processToKill = processesToKill[round % processesToKill.length]!
      await until(() => server.written.length > 0)
      await pause(50 + Math.random() * 450)

      const pid = readPostmasterPid(dataDir)
      const killedAt = performance.now()
      const killsServerFirst = processToKill === 'both' && round % 2 === 0
      if (killsServerFirst) server.child.kill('SIGKILL')
      if (processToKill !== 'server') kill(pid, { mayHaveExited: killsServerFirst })
      if (processToKill !== 'postmaster') {
        await server.kill()
        acknowledgedIds.push(...server.written)
        server = startServer()
        await server.up()
      }
      // Orphaned processes of the old postmaster may still write for a moment, so wait for the new postmaster first.
      await until(() => ![pid, undefined].includes(readPostmasterPid(dataDir)), 40_000)
      const writtenBefore = server.written.length
      await until(() => server.written.length > writtenBefore + 4, 40_000)
      recoveryMs[processToKill]!.push(Math.round(performance.now() - killedAt))
      assert.equal(server.child.exitCode, null)
    }
    await server.stop()
    acknowledgedIds.push(...server.written)
    assert.deepEqual(findProcessesIn(folder), [])

    const lastServer = new PostgresProcess(t, { dataDir, role: 'server', machine })
    await lastServer.up()
    const storedIds = new Set((await runQuery(connection, 'select id from written')).map(({ id }) => id))
    const missingIds = acknowledgedIds.filter((id) => !storedIds.has(id))
    assert.deepEqual(
      missingIds.slice(0, 10),
      [],
      `${missingIds.length} of ${acknowledgedIds.length} acknowledged rows are missing`,
    )
    assert.ok(acknowledgedIds.length > roundCount * 10, `only ${acknowledgedIds.length} rows were written`)
    // The index matches the table, and all page checksums are correct.
    await runQuery(connection, 'create extension amcheck')
    await runQuery(connection, `select bt_index_parent_check('written_pkey', true)`)
    await runQueryUntilSuccess(connection, 'select count(*) from written where filler is not null')
    await lastServer.stop()

    t.diagnostic(`${acknowledgedIds.length} rows acknowledged, none lost`)
    for (const [victim, times] of Object.entries(recoveryMs)) {
      t.diagnostic(`${victim} killed: writes succeeded after ${times.join(', ')} ms`)
    }
  })
}

function readPostmasterPid(dataDir: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(postgresDataFolder(dataDir), 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

function kill(pid: number | undefined, { mayHaveExited }: { mayHaveExited: boolean }): void {
  try {
    process.kill(pid!, 'SIGKILL')
  } catch (error) {
    if (!mayHaveExited) throw error
  }
}
