import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { AttestryClient } from '../sdk/index.ts'
import { deploy } from '../test/support/server.ts'
import { until } from '../test/support/until.ts'
import { commands } from './commands.ts'

test('organisations and keys can be created, used for signed calls, rotated and revoked', async (t) => {
  const { serve, json, cli, env, dataDir } = await deploy(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme Staffing')
  assert.match(org.org_id, /^ORG_[0-9A-HJKMNP-TV-Z]{26}$/)
  const key = await json(
    'key',
    'create',
    '--org',
    org.org_id,
    '--mode',
    'live',
    '--scopes',
    'skills:read,mandates:write',
  )
  assert.match(key.key_id, /^VFN_LIVE_/)
  assert.match(key.secret, /^VFN_SK_/)
  assert.deepEqual(key.scopes, ['skills:read', 'mandates:write'])

  const call = async (secret = key.secret) =>
    (await new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret }).request('GET', '/shifts')).status
  /** Waits for a change to take effect: within one second, or a few more on a busy machine. */
  const expectStatus = (status: number, secret?: string) => until(async () => (await call(secret)) === status)
  await expectStatus(200)

  const rotated = await json('key', 'rotate', key.key_id)
  await expectStatus(200, rotated.secret)
  assert.equal(await call(), 200, 'the old secret is still valid')
  const now = await json('key', 'rotate', key.key_id, '--grace-hours', '0')
  await expectStatus(200, now.secret)
  await expectStatus(401, rotated.secret)

  await json('service', 'off', '--org', org.org_id)
  await expectStatus(503, now.secret)
  await json('service', 'on', '--org', org.org_id)
  await expectStatus(200, now.secret)

  env.ATTESTRY_URL = server.url
  env.ATTESTRY_KEY_ID = key.key_id
  env.ATTESTRY_SECRET = now.secret
  const response = await cli('request', 'GET', '/shifts', '-i')
  assert.equal(response.code, 0, response.stderr)
  assert.match(response.stdout, /^HTTP 200/)
  const missing = await cli('request', 'GET', '/nowhere')
  assert.equal(missing.code, 1)
  assert.match(missing.stdout, /NOT_FOUND/)
  const picked = await cli('request', 'GET', '/shifts', '--pick', 'items[0].value')
  assert.deepEqual(
    [picked.code, picked.stdout],
    [0, `${JSON.parse(response.stdout.slice(response.stdout.indexOf('{'))).data.items[0].value}\n`],
  )
  const absent = await cli('request', 'GET', '/shifts', '--pick', 'items[0].nome')
  assert.deepEqual([absent.code, absent.stdout], [1, ''])
  assert.match(absent.stderr, /^attestry: data\.items\[0\] has no property nome; expected one of value, label\.$/m)
  const failed = await cli('request', 'GET', '/nowhere', '--pick', 'items')
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(failed.stderr, /NOT_FOUND/)

  const path = join(dataDir, 'names.json')
  await writeFile(path, '{"names":["Bricklaying"]}')
  const lookup = ['request', 'POST', '/skills/lookup', '--pick', 'found[0].skill_id', '--data']
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const piped = (input: string) => spawnSync(process.execPath, [main, ...lookup, '-'], { env, input, encoding: 'utf8' })
  assert.equal((await cli(...lookup, `@${path}`)).stdout, 'sk_1001\n', 'body from a file')
  assert.equal(piped('{"names":["Bricklaying"]}').stdout, 'sk_1001\n', 'body from standard input')
  assert.match(piped('no JSON').stderr, /Standard input is not valid JSON/)

  await json('key', 'revoke', key.key_id)
  await expectStatus(401, now.secret)
  const listed = await json('key', 'list', '--org', org.org_id)
  assert.equal(listed.length, 1)
  assert.ok(listed[0].revoked_at)
  assert.ok(!JSON.stringify(listed).includes('VFN_SK_'))
})

test('session keys are listed by a prefix, and can be revoked by the whole key', async (t) => {
  const { json, cli } = await deploy(t)
  const org = await json('org', 'create', '--name', 'College')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'test', '--kind', 'session')
  assert.match(key.key, /^VSK_TEST_[\w-]{43}$/)
  const [listed] = await json('key', 'list', '--org', org.org_id)
  assert.equal(listed.kind, 'session')
  assert.equal(listed.key_id, key.key_id)
  assert.ok(!JSON.stringify(listed).includes(key.key))
  assert.equal((await json('key', 'revoke', key.key)).key_id, key.key_id)
  const rejected = await cli(
    'key',
    'create',
    '--org',
    org.org_id,
    '--mode',
    'test',
    '--kind',
    'session',
    '--scopes',
    'skills:read',
  )
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /no scopes/)
})

test('invalid arguments produce an error message without a stack trace', async (t) => {
  const { cli, json } = await deploy(t)
  const org = await json('org', 'create', '--name', 'Acme')
  const cases: [string[], RegExp][] = [
    [['org', 'create'], /required option '--name <name>'/],
    [['org', 'create', '--name', '   '], /1 to 200 characters/],
    [['key', 'create', '--org', 'ORG_X', '--mode', 'test'], /Organisation ORG_X not found/],
    [['key', 'list', '--org', 'ORG_X'], /Organisation ORG_X not found\.\n.*`npx attestry org list`/],
    [['key', 'list'], /required option '--org <org>' not specified\n.*`npx attestry org list`/],
    [['key', 'create', '--org', org.org_id, '--mode', 'prod'], /Expected test or live/],
    [
      ['key', 'create', '--org', org.org_id, '--mode', 'test', '--scopes', 'skills:write'],
      /Unknown: skills:write.*Expected all, or a list of: skills:read/s,
    ],
    [['key', 'create', '--org', org.org_id, '--mode', 'test', '--expires', 'tomorrow'], /ISO 8601/],
    [['key', 'create', '--org', org.org_id, '--mode', 'test', '--expires', '2001-01-01T00:00:00Z'], /in the future/],
    [['key', 'revoke', 'VFN_LIVE_NOPE'], /Key VFN_LIVE_NOPE not found/],
    [['key', 'limits', 'VFN_LIVE_NOPE'], /Partner key VFN_LIVE_NOPE not found/],
    [['kee'], /unknown command 'kee'/],
    [['request', 'GET', 'shifts'], /no API key found|must start with/],
    [['request', 'FETCH', '/shifts'], /Expected GET, POST/],
    [['request', 'POST', '/mandates', '--data', '{bad'], /Expected JSON/],
    [['request', 'POST', '/mandates', '--data', '@nowhere.json'], /File not found: nowhere\.json/],
    [['request', 'POST', '/mandates', '--data', '@README.md'], /README\.md is not valid JSON/],
    [['key', 'limits', 'VFN_LIVE_NOPE', '--class', 'reads', '--per-second', '0'], /a number above 0/],
    [['key', 'limits', 'VFN_LIVE_NOPE', '--class', 'reads', '--per-second', '0.00001'], /a number above 0/],
  ]
  for (const [args, expected] of cases) {
    const { code, stderr } = await cli(...args)
    assert.notEqual(code, 0, args.join(' '))
    assert.match(stderr, expected, args.join(' '))
    assert.ok(!/\n\s+at /.test(stderr), stderr)
  }
})

test('the help lists the commands and their options', async (t) => {
  const { cli } = await deploy(t)
  const { code, stdout } = await cli('--help')
  assert.equal(code, 0)
  for (const word of ['serve', 'migrate', 'org', 'key', 'service', 'request', 'doctor', 'DATA_DIR'])
    assert.ok(stdout.includes(word), word)
  assert.match((await cli('key', 'create', '--help')).stdout, /skills:read/)
})

test('the help of every command ends with an example', async () => {
  const checked: string[] = []
  const checkHelp = (command: Command, path: string) => {
    const help: string[] = []
    command.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp()
    assert.match(help.join(''), new RegExp(`\\n {2}\\$ npx attestry ${path}\\b.*`), `attestry ${path} --help`)
    checked.push(path)
    for (const inner of command.commands) checkHelp(inner, `${path} ${inner.name()}`)
  }
  for (const [name, load] of Object.entries(commands)) checkHelp(await load(), name)
  assert.ok(checked.length > 40, checked.join(', '))
})

test('the limits of a key can be shown, changed one by one, and reset', async (t) => {
  const { json, cli } = await deploy(t)
  const org = await json('org', 'create', '--name', 'Acme')
  const { key_id } = await json('key', 'create', '--org', org.org_id, '--mode', 'test')
  const before = await json('key', 'limits', key_id)
  assert.deepEqual(before.limits.classes.mandateWrites, { per_second: 1, burst: 2, per_minute: 30, per_day: 2000 })
  const raised = await json('key', 'limits', key_id, '--class', 'mandateWrites', '--per-minute', '500')
  assert.deepEqual(raised.limits.classes.mandateWrites, { per_second: 1, burst: 2, per_minute: 500, per_day: 2000 })
  const slow = await json('key', 'limits', key_id, '--class', 'skillRequests', '--per-second', '0.05')
  assert.equal(slow.limits.classes.skillRequests.per_second, 0.05)
  const people = await json('key', 'limits', key_id, '--people-per-day', '20000')
  assert.equal(people.limits.people_per_day, 20_000)
  assert.equal(people.limits.classes.mandateWrites.per_minute, 500)
  assert.deepEqual((await json('key', 'limits', key_id, '--reset')).limits, before.limits)
  assert.match((await cli('key', 'limits', key_id, '--per-minute', '5')).stderr, /Use --class together with/)
  assert.match((await cli('key', 'limits', key_id)).stdout, /CLASS +PER SECOND/)
})

test('the profile file must be private', async (t) => {
  const { cli, dataDir, env } = await deploy(t)
  env.ATTESTRY_PROFILE = join(dataDir, 'profile.json')
  const profile = { baseUrl: 'http://127.0.0.1:9', keyId: 'VFN_TEST_X', secret: 'VFN_SK_X' }
  await writeFile(env.ATTESTRY_PROFILE, JSON.stringify(profile))
  await chmod(env.ATTESTRY_PROFILE, 0o644)
  assert.match((await cli('request', 'GET', '/shifts')).stderr, /can be read by other users; run: chmod 600/)
  await chmod(env.ATTESTRY_PROFILE, 0o600)
  assert.match((await cli('request', 'GET', '/shifts')).stderr, /Connecting to \S+ failed: .*Is the server running/)

  env.ATTESTRY_PROFILE = join(dataDir, 'new', 'profile.json')
  await cli('request', 'GET', '/shifts', '--save').then(({ stderr }) => assert.match(stderr, /no API key found/))
  Object.assign(env, { ATTESTRY_KEY_ID: 'VFN_TEST_X', ATTESTRY_SECRET: 'VFN_SK_X', ATTESTRY_URL: 'http://127.0.0.1:9' })
  await cli('request', 'GET', '/shifts', '--save')
  assert.equal((await stat(env.ATTESTRY_PROFILE)).mode & 0o777, 0o600)
})

test('the master key can be rotated while a server runs, which loads the new key on restart', async (t) => {
  const { serve, json, cli, env, external } = await deploy(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const call = async (url: string) =>
    (await new AttestryClient({ baseUrl: url, keyId: key.key_id, secret: key.secret }).request('GET', '/shifts')).status
  const rotated = await json('master-key', 'rotate')
  assert.equal(await call(server.url), 200)
  await server.stop()
  if (external) {
    env.MASTER_KEY = rotated.master_key
    assert.equal((await json('master-key', 'finish')).forgotten, 1)
  }
  const restarted = await serve()
  assert.equal(await call(restarted.url), 200)
  const repeated = await cli('master-key', 'finish')
  assert.equal(repeated.code, 0, repeated.stderr)
  assert.match(repeated.stdout, /^Nothing to finish/)
})

test('doctor reports the state of every dependency', async (t) => {
  const { cli, json, env } = await deploy(t)
  const findings = await json<{ check: string; state: string; message: string }[]>('doctor')
  assert.deepEqual(
    findings.map(({ check, state }) => `${check} ${state}`),
    ['configuration ok', 'database ok', 'redis ok', 'mail ok', 'ai ok'],
  )
  Object.assign(env, { SMTP_URL: 'smtp://127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9' })
  const bad = await cli('doctor')
  assert.equal(bad.code, 1)
  assert.match(bad.stdout, /✗ redis .*not reachable/)
  assert.match(bad.stdout, /✗ mail .*ECONNREFUSED/)
})
