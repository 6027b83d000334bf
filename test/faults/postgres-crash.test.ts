// The embedded database and its server are killed repeatedly during writes. All acknowledged rows must exist afterwards.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/until.ts'
import {
  dataFolder,
  launchMethods,
  PostgresProcess,
  processesBelow,
  query,
  queryUntilSuccess,
  temporaryFolder,
} from './postgres-driver.ts'

const ROUNDS = 21
/** The second method of root differs only in the user, so fewer rounds are enough. */
const ROUNDS_OF_OTHER_METHODS = 6
const victims = ['server', 'postmaster', 'both'] as const

for (const { name, machine } of launchMethods) {
  const count = name === launchMethods[0]!.name ? ROUNDS : ROUNDS_OF_OTHER_METHODS

  test(`${count} kills under load lose no acknowledged row (${name})`, { timeout: 180_000 }, async (t) => {
    const folder = temporaryFolder(t)
    const dataDir = join(folder, 'data')
    const start = () => new PostgresProcess(t, { dataDir, role: 'server', machine, writers: 4 })
    const acknowledged: string[] = []
    const recoveryMs: Record<string, number[]> = { server: [], postmaster: [], both: [] }

    let server = start()
    const connection = await server.up()
    for (let round = 0; round < count; round++) {
      const victim = victims[round % victims.length]!
      await until(() => server.written.length > 0)
      await pause(50 + Math.random() * 450)

      const postmaster = postmasterPid(dataDir)
      const killedAt = performance.now()
      const serverFirst = victim === 'both' && round % 2 === 0
      if (serverFirst) server.child.kill('SIGKILL')
      if (victim !== 'server') kill(postmaster, { mayHaveExited: serverFirst })
      if (victim !== 'postmaster') {
        await server.kill()
        acknowledged.push(...server.written)
        server = start()
        await server.up()
      }
      // Orphans of the old postmaster may still write for a moment, so wait for the new one first.
      await until(() => ![postmaster, undefined].includes(postmasterPid(dataDir)), 40_000)
      const before = server.written.length
      await until(() => server.written.length > before + 4, 40_000)
      recoveryMs[victim]!.push(Math.round(performance.now() - killedAt))
      assert.equal(server.child.exitCode, null)
    }
    await server.stop()
    acknowledged.push(...server.written)
    assert.deepEqual(processesBelow(folder), [])

    const last = new PostgresProcess(t, { dataDir, role: 'server', machine })
    await last.up()
    const stored = new Set((await query(connection, 'select id from written')).map(({ id }) => id))
    const missing = acknowledged.filter((id) => !stored.has(id))
    assert.deepEqual(
      missing.slice(0, 10),
      [],
      `${missing.length} of ${acknowledged.length} acknowledged rows are missing`,
    )
    assert.ok(acknowledged.length > count * 10, `only ${acknowledged.length} rows were written`)
    // The index matches the table, and all page checksums are correct.
    await query(connection, 'create extension amcheck')
    await query(connection, `select bt_index_parent_check('written_pkey', true)`)
    await queryUntilSuccess(connection, 'select count(*) from written where filler is not null')
    await last.stop()

    t.diagnostic(`${acknowledged.length} rows acknowledged, none lost`)
    for (const [victim, times] of Object.entries(recoveryMs)) {
      t.diagnostic(`${victim} killed: writes succeeded after ${times.join(', ')} ms`)
    }
  })
}

function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataFolder(dataDir), 'postmaster.pid'), 'utf8'), 10)
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
