import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Cleanup } from '../../test/support/cleanup.ts'
import { runCommand } from '../../test/support/command.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { createDeployment } from '../../test/support/server.ts'

/** Creates an empty folder in which commands run, without any variable of the server. */
async function createFolder(t: Cleanup) {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-init-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return {
    folder,
    file: join(folder, 'attestry.env'),
    run: (args: string[], env: NodeJS.ProcessEnv = {}) => runCommand(args, { cwd: folder, env }),
  }
}

const EXTERNAL = ['--database-url', 'postgres://attestry:p%27w@db.internal/attestry?sslmode=require']

test('init writes the configuration and new secrets to a private file once, and can be repeated', async (t) => {
  const { folder, file, run } = await createFolder(t)
  const args = [
    'init',
    ...EXTERNAL,
    '--operator-email',
    'you@example.com',
    '--public-url',
    'https://verify.example.com',
  ]
  const first = await run(args)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /Store copies of two keys.*MASTER_KEY in .*BACKUP_KEY in /s)
  const text = await readFile(file, 'utf8')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match(text, /^MASTER_KEY=[A-Za-z0-9+/]{43}=$/m)
  assert.match(text, /^BACKUP_KEY=[A-Za-z0-9+/]{43}=$/m)
  assert.match(text, /^ADMIN_API_KEY=adm_[\w-]{43}$/m)
  assert.match(text, /^DATABASE_URL='postgres:\/\/attestry:p%27w@db\.internal\/attestry\?sslmode=require'$/m)
  assert.ok(!first.stdout.includes(/^MASTER_KEY=(.*)$/m.exec(text)![1]!), 'no secret is printed')

  for (const repeated of [args, ['init']]) {
    const { code, stdout } = await run(repeated)
    assert.deepEqual([code, stdout], [0, `${file} exists and was not changed.\n`])
  }
  const other = await run(['init', '--database-url', 'postgres://attestry@other/attestry'])
  assert.equal(other.code, 1)
  assert.match(other.stderr, /exists and was not changed, but its DATABASE_URL differs/)
  assert.equal(await readFile(file, 'utf8'), text)
  assert.deepEqual(await readdir(folder), ['attestry.env'])
})

test('of two inits at the same time, one writes the file', async (t) => {
  const { file, run } = await createFolder(t)
  const results = await Promise.all([1, 2, 3].map(() => run(['init', ...EXTERNAL, '--json'])))
  assert.deepEqual(
    results.map(({ code }) => code),
    [0, 0, 0],
  )
  assert.equal(results.filter(({ stdout }) => JSON.parse(stdout).created).length, 1)
  assert.equal((await readFile(file, 'utf8')).match(/^MASTER_KEY=/gm)!.length, 1)
})

test('init takes over the keys of the environment, and writes nothing if a value is invalid', async (t) => {
  const { folder, file, run } = await createFolder(t)
  const invalid = await run(['init', '--database-url', 'mysql://db/attestry', '--public-url', 'verify'])
  assert.equal(invalid.code, 1)
  assert.match(invalid.stderr, /DATABASE_URL \(value not shown\) is not valid/)
  assert.match(invalid.stderr, /PUBLIC_URL="verify" is not valid/)
  assert.deepEqual(await readdir(folder), [])
  const masterKey = Buffer.alloc(32, 7).toString('base64')
  await run(['init', ...EXTERNAL], { MASTER_KEY: masterKey })
  assert.ok((await readFile(file, 'utf8')).includes(`MASTER_KEY=${masterKey}\n`))
})

test('the configuration is found in the folder or named, and never guessed', async (t) => {
  const { folder, file, run } = await createFolder(t)
  const data = join(folder, 'data')
  const noDatabase = await run(['org', 'list'])
  assert.equal(noDatabase.code, 1)
  assert.match(noDatabase.stderr, /there is no database in \S+\.attestry, and DATABASE_URL is not set/)
  assert.deepEqual(await readdir(folder), [], 'no database is created')
  const unreachable = await run(['org', 'list'], {
    DATABASE_URL: 'postgres://attestry:secret@127.0.0.1:1/attestry',
    ADMIN_API_KEY: 'admin-key-of-the-tests-000',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  assert.match(
    unreachable.stderr,
    /The database cannot be reached: .*127\.0\.0\.1:1\. Check that PostgreSQL is running and that DATABASE_URL has its host and port\./,
  )
  assert.match((await run(['org', 'list'], { DATA_DIR: data })).stderr, /there is no database in /)
  assert.deepEqual(await readdir(folder), [])

  await run(['init', '--data-dir', data])
  // The commands stop, because init creates only the secrets, and name the folder that they read from the file.
  const usesFile = (stderr: string) => assert.match(stderr, new RegExp(`there is no database in ${data}, `))
  usesFile((await run(['doctor'])).stderr)
  const subfolder = join(folder, 'other')
  await mkdir(subfolder)
  for (const [args, env] of [
    [['--env-file', file, 'org', 'list'], {}],
    [['org', 'list', '--env-file', file], {}],
    [['org', 'list'], { ATTESTRY_ENV_FILE: file }],
  ] as const)
    usesFile((await runCommand([...args], { cwd: subfolder, env })).stderr)
  const missing = await run(['org', 'list'], { ATTESTRY_ENV_FILE: 'nowhere.env' })
  assert.match(missing.stderr, /the environment file \S+nowhere\.env does not exist/)
  // Node.js reads the option too, and rejects a missing file itself.
  const missingOption = await run(['org', 'list', '--env-file', 'nowhere.env'])
  assert.notEqual(missingOption.code, 0)
  assert.match(missingOption.stderr, /nowhere\.env/)

  const conflict = await run(['org', 'list'], { DATA_DIR: join(folder, 'else') })
  assert.match(conflict.stderr, /DATA_DIR has different values in the environment and in \S+attestry\.env/)
  await writeFile(join(folder, '.env'), 'ATTESTRY_URL=http://127.0.0.1:9\n')
  usesFile((await run(['org', 'list'])).stderr) // a .env with the key of a client is not a configuration
  await writeFile(join(folder, '.env'), `DATA_DIR=${data}\n`)
  assert.match((await run(['org', 'list'])).stderr, /attestry\.env and \S+\.env both configure a server; name the one/)
  await rm(join(folder, '.env'))
  await chmod(file, 0o644)
  assert.match((await run(['org', 'list'])).stderr, /can be read or changed by other users; run: chmod 600/)
  await chmod(file, 0o600)
  const migrated = await run(['migrate'])
  assert.equal(migrated.code, 0, migrated.stderr)
  const list = await run(['org', 'list'])
  assert.equal(list.code, 0, list.stderr)
  assert.match(list.stderr, new RegExp(`^Database: embedded, ${data}$`, 'm'))
  await writeFile(file, 'DATA_DIR\n')
  assert.match((await run(['org', 'list'])).stderr, /attestry\.env, line 1 is not valid: expected NAME=value/)
})

test('an environment that sets another kind of database than the file is rejected', async (t) => {
  const { run } = await createFolder(t)
  await run(['init', ...EXTERNAL])
  for (const [env, expected] of [
    [{ DATA_DIR: '/srv/attestry' }, /the environment sets DATA_DIR, .* sets DATABASE_URL/],
    [{ DATABASE_URL: 'postgres://attestry@db2/attestry' }, /DATABASE_URL has different values/],
    [
      { DATABASE_URL_FILE: '/run/secrets/database-url' },
      /the environment sets DATABASE_URL_FILE, .* sets DATABASE_URL/,
    ],
    [{ MASTER_KEY: Buffer.alloc(32).toString('base64') }, /MASTER_KEY has different values/],
  ] as const)
    assert.match((await run(['org', 'list'], env)).stderr, expected)
})

test('the server reads the file that --env-file names', async (t) => {
  const { serve, dataDir } = await createDeployment(t, { embedded: true })
  const file = join(dataDir, 'server.env')
  await writeFile(file, 'OPERATOR_EMAIL=meera@example.com\nPUBLIC_URL=http://127.0.0.1:9\n', { mode: 0o600 })
  const server = await serve({ command: [process.execPath, ...nodeOptions, 'server/main.ts', '--env-file', file] })
  assert.match(server.output(), /as meera@example\.com/)
  assert.equal(server.url, 'http://127.0.0.1:9')
  assert.equal(await server.stop(), 0)
  assert.doesNotMatch(server.output(), /"stack"|\n\s+at /, 'stopping prints no stack trace')
})
