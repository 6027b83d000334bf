import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { AttestryClient } from '../sdk/index.ts'
import { createDeployment } from '../test/support/server.ts'
import { until } from '../test/support/until.ts'
import { commands } from './commands.ts'
import { operatorCommandNames, partnerCommands, withCompletion } from './partner-commands.ts'

test('organisations and keys can be created, used for signed calls, rotated and revoked', async (t) => {
  const { serve, json, cli, env, dataDir } = await createDeployment(t)
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
  /** Waits until calls with the secret return the status: up to one second, or a few more on a busy machine. */
  const expectStatus = (status: number, secret?: string) => until(async () => (await call(secret)) === status)
  await expectStatus(200)

  const rotatedKey = await json('key', 'rotate', key.key_id)
  await expectStatus(200, rotatedKey.secret)
  assert.equal(await call(), 200, 'the old secret is still valid')
  const rotatedWithoutGrace = await json('key', 'rotate', key.key_id, '--grace-hours', '0')
  await expectStatus(200, rotatedWithoutGrace.secret)
  await expectStatus(401, rotatedKey.secret)

  const switchedOff = await json('service', 'off', '--org', org.org_id, '--reason', 'unpaid')
  assert.deepEqual(switchedOff, { service: 'off', api_only: false, org_id: org.org_id, reason: 'unpaid' })
  await expectStatus(503, rotatedWithoutGrace.secret)
  const { all, organisations } = await json('service', 'status')
  assert.deepEqual(all, { service: 'on', api_only: false, since: null, reason: null })
  assert.deepEqual(
    organisations.map(({ since, ...status }: any) => [status, typeof since]),
    [[{ org_id: org.org_id, service: 'off', api_only: false, reason: 'unpaid' }, 'string']],
  )
  await json('service', 'off', '--org', org.org_id, '--api-only')
  assert.equal((await json('service', 'status', '--org', org.org_id)).organisations[0].api_only, true)
  assert.match((await cli('service', 'status')).stdout, /off \(partner API only\) .* unpaid/)
  await json('service', 'on', '--org', org.org_id)
  await expectStatus(200, rotatedWithoutGrace.secret)

  env.ATTESTRY_URL = server.url
  env.ATTESTRY_KEY_ID = key.key_id
  env.ATTESTRY_SECRET = rotatedWithoutGrace.secret
  const response = await cli('request', 'GET', '/shifts', '-i')
  assert.equal(response.code, 0, response.stderr)
  assert.match(response.stdout, /^HTTP 200/)
  const notFound = await cli('request', 'GET', '/nowhere')
  assert.equal(notFound.code, 1)
  assert.match(notFound.stdout, /NOT_FOUND/)
  const pickedValue = await cli('request', 'GET', '/shifts', '--pick', 'items[0].value')
  assert.deepEqual(
    [pickedValue.code, pickedValue.stdout],
    [0, `${JSON.parse(response.stdout.slice(response.stdout.indexOf('{'))).data.items[0].value}\n`],
  )
  const unknownProperty = await cli('request', 'GET', '/shifts', '--pick', 'items[0].nome')
  assert.deepEqual([unknownProperty.code, unknownProperty.stdout], [1, ''])
  assert.match(
    unknownProperty.stderr,
    /^attestry: data\.items\[0\] has no property nome; expected one of value, label\.$/m,
  )
  const failedPick = await cli('request', 'GET', '/nowhere', '--pick', 'items')
  assert.deepEqual([failedPick.code, failedPick.stdout], [1, ''])
  assert.match(failedPick.stderr, /NOT_FOUND/)

  const path = join(dataDir, 'names.json')
  await writeFile(path, '{"names":["Bricklaying"]}')
  const lookupArgs = ['request', 'POST', '/skills/lookup', '--pick', 'found[0].skill_id', '--data']
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const lookupFromStdin = (input: string) =>
    spawnSync(process.execPath, [main, ...lookupArgs, '-'], { env, input, encoding: 'utf8' })
  assert.equal((await cli(...lookupArgs, `@${path}`)).stdout, 'sk_1001\n', 'body from a file')
  assert.equal(lookupFromStdin('{"names":["Bricklaying"]}').stdout, 'sk_1001\n', 'body from standard input')
  assert.match(lookupFromStdin('no JSON').stderr, /Standard input is not valid JSON/)

  await json('key', 'revoke', key.key_id)
  await expectStatus(401, rotatedWithoutGrace.secret)
  const listedKeys = await json('key', 'list', '--org', org.org_id)
  assert.equal(listedKeys.length, 1)
  assert.ok(listedKeys[0].revoked_at)
  assert.ok(!JSON.stringify(listedKeys).includes('VFN_SK_'))
})

test('session keys are listed by a prefix, and can be revoked by the whole key', async (t) => {
  const { json, cli } = await createDeployment(t)
  const org = await json('org', 'create', '--name', 'College')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'test', '--kind', 'session')
  assert.match(key.key, /^VSK_TEST_[\w-]{43}$/)
  const [listedKey] = await json('key', 'list', '--org', org.org_id)
  assert.equal(listedKey.kind, 'session')
  assert.equal(listedKey.key_id, key.key_id)
  assert.ok(!JSON.stringify(listedKey).includes(key.key))
  assert.equal((await json('key', 'revoke', key.key)).key_id, key.key_id)
  const rejectedScopes = await cli(
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
  assert.equal(rejectedScopes.code, 1)
  assert.match(rejectedScopes.stderr, /no scopes/)
})

test('invalid arguments produce an error message without a stack trace', async (t) => {
  const { cli, json } = await createDeployment(t)
  const org = await json('org', 'create', '--name', 'Acme')
  const cases: [string[], RegExp][] = [
    [['org', 'create'], /required option '--name <name>'/],
    [['org', 'create', '--name', '   '], /1 to 200 characters/],
    [['key', 'create', '--org', 'ORG_X', '--mode', 'test'], /Organisation ORG_X not found/],
    [['key', 'list', '--org', 'ORG_X'], /Organisation ORG_X not found\.\n.*`npx attestry org list`/],
    [
      ['key', 'list'],
      /^attestry: required option '--org <org>' not specified\n.*`npx attestry key list --help`.*\n.*`npx attestry org list`/m,
    ],
    [['key', 'create', '--org', org.org_id, '--mode', 'prod'], /Expected test or live/],
    [
      ['key', 'create', '--org', org.org_id, '--mode', 'test', '--scopes', 'skills:write'],
      /Unknown scopes: skills:write.*Expected "all" or a comma-separated list of: skills:read/s,
    ],
    [['key', 'create', '--org', org.org_id, '--mode', 'test', '--expires', 'tomorrow'], /ISO 8601/],
    [['key', 'create', '--org', org.org_id, '--mode', 'test', '--expires', '2001-01-01T00:00:00Z'], /in the future/],
    [['key', 'revoke', 'VFN_LIVE_NOPE'], /Key VFN_LIVE_NOPE not found/],
    [['key', 'limits', 'VFN_LIVE_NOPE'], /Partner key VFN_LIVE_NOPE not found/],
    [['kee'], /^attestry: unknown command 'kee'\n.*\nRun `npx attestry --help` to list the commands/m],
    [['request'], /^attestry: missing required argument 'method'\nRun `npx attestry request --help` to list its arg/m],
    [
      ['request', 'GET', '/shifts', '--idempotency-key'],
      /^attestry: option '--idempotency-key <key>' argument missing\nRun `npx attestry request --help`/m,
    ],
    [
      ['clocks', 'advanse'],
      /^attestry: unknown command 'advanse'[\s\S]*Run `npx attestry clocks --help` to list its commands/m,
    ],
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

test('the help lists the commands, and the help of a command lists its options', async (t) => {
  const { cli } = await createDeployment(t)
  const { code, stdout } = await cli('--help')
  assert.equal(code, 0)
  for (const word of ['serve', 'migrate', 'org', 'key', 'service', 'request', 'doctor', 'DATA_DIR'])
    assert.ok(stdout.includes(word), word)
  assert.match((await cli('key', 'create', '--help')).stdout, /skills:read/)
  assert.match((await cli('help', 'key', 'create')).stdout, /^Usage: attestry key create .*skills:read/s)
})

test('the package of the commands for partners knows the names of the other commands', () => {
  const partnerNames = Object.keys(withCompletion(partnerCommands))
  const otherNames = Object.keys(commands).filter((name) => !partnerNames.includes(name))
  assert.deepEqual(operatorCommandNames, otherNames)
})

test('the help of every command ends with an example', async () => {
  const checkedPaths: string[] = []
  const checkHelp = (command: Command, path: string) => {
    const helpTexts: string[] = []
    command.configureOutput({ writeOut: (text) => void helpTexts.push(text) }).outputHelp()
    assert.match(helpTexts.join(''), new RegExp(`\\n {2}\\$ npx attestry ${path}\\b.*`), `attestry ${path} --help`)
    checkedPaths.push(path)
    for (const inner of command.commands) checkHelp(inner, `${path} ${inner.name()}`)
  }
  for (const [name, load] of Object.entries(commands)) checkHelp(await load(), name)
  assert.ok(checkedPaths.length > 40, checkedPaths.join(', '))
})

test('the limits of a key can be shown, changed one by one, and reset', async (t) => {
  const { json, cli } = await createDeployment(t)
  const org = await json('org', 'create', '--name', 'Acme')
  const { key_id } = await json('key', 'create', '--org', org.org_id, '--mode', 'test')
  const defaultLimits = await json('key', 'limits', key_id)
  assert.deepEqual(defaultLimits.limits.classes.mandateWrites, {
    per_second: 1,
    burst: 2,
    per_minute: 30,
    per_day: 2000,
  })
  const withMinuteLimit = await json('key', 'limits', key_id, '--class', 'mandateWrites', '--per-minute', '500')
  assert.deepEqual(withMinuteLimit.limits.classes.mandateWrites, {
    per_second: 1,
    burst: 2,
    per_minute: 500,
    per_day: 2000,
  })
  assert.match(
    (await cli('key', 'limits', key_id)).stdout,
    /^Note: mandateWrites can never reach its limit of 500 calls per minute: 1 per second with a burst of 2 allows at most 62\. Raise --per-second or --burst\.$/m,
  )
  const withSecondLimit = await json('key', 'limits', key_id, '--class', 'skillRequests', '--per-second', '0.05')
  assert.equal(withSecondLimit.limits.classes.skillRequests.per_second, 0.05)
  const withPeopleLimit = await json('key', 'limits', key_id, '--people-per-day', '20000')
  assert.equal(withPeopleLimit.limits.people_per_day, 20_000)
  assert.equal(withPeopleLimit.limits.classes.mandateWrites.per_minute, 500)
  assert.deepEqual((await json('key', 'limits', key_id, '--reset')).limits, defaultLimits.limits)
  assert.match((await cli('key', 'limits', key_id, '--per-minute', '5')).stderr, /Use --class together with/)
  const { stdout } = await cli('key', 'limits', key_id)
  assert.match(stdout, /CLASS +PER SECOND/)
  assert.doesNotMatch(stdout, /Note:/)
})

test('the profile file must be readable and private', async (t) => {
  const { cli, dataDir, env } = await createDeployment(t)
  env.ATTESTRY_PROFILE = join(dataDir, 'profile.json')
  const profile = { baseUrl: 'http://127.0.0.1:9', keyId: 'VFN_TEST_X', secret: 'VFN_SK_X' }
  await writeFile(env.ATTESTRY_PROFILE, JSON.stringify(profile))
  await chmod(env.ATTESTRY_PROFILE, 0o644)
  assert.match((await cli('request', 'GET', '/shifts')).stderr, /can be read by other users; run: chmod 600/)
  await chmod(env.ATTESTRY_PROFILE, 0o600)
  assert.match(
    (await cli('request', 'GET', '/shifts')).stderr,
    /Connecting to \S+ failed: bad port\. Check the URL of the server, and that the server is running\.\n/,
  )
  const connectionErrors: [string, RegExp][] = [
    [
      'http://127.0.0.1:45997',
      /: no program is listening at 127\.0\.0\.1:45997 \(ECONNREFUSED\)\. Is the server running\?\n/,
    ],
    [
      'http://server.invalid',
      /: the host server\.invalid was not found \(ENOTFOUND\)\. Check the URL of the server\.\n/,
    ],
  ]
  for (const [baseUrl, message] of connectionErrors) {
    await writeFile(env.ATTESTRY_PROFILE, JSON.stringify({ ...profile, baseUrl }))
    for (const command of [
      ['request', 'GET', '/shifts'],
      ['clocks', 'list'],
    ])
      assert.match((await cli(...command)).stderr, message)
  }

  env.ATTESTRY_PROFILE = dataDir
  assert.match((await cli('request', 'GET', '/shifts')).stderr, /the profile \S+ cannot be read: EISDIR/)

  env.ATTESTRY_PROFILE = join(dataDir, 'new', 'profile.json')
  await cli('request', 'GET', '/shifts', '--save').then(({ stderr }) => assert.match(stderr, /no API key found/))
  await writeFile(join(dataDir, 'demo-keys.json'), '{')
  assert.match((await cli('request', 'GET', '/shifts')).stderr, /the demo keys in \S+ cannot be read: .*JSON/)
  await writeFile(join(dataDir, 'demo-keys.json'), JSON.stringify({ key_id: 'VFN_TEST_X', secret: 'VFN_SK_X' }))
  env.ATTESTRY_URL = 'https://verify.example.com'
  assert.match(
    (await cli('request', 'GET', '/shifts')).stderr,
    /ATTESTRY_URL is set without a key: set ATTESTRY_KEY_ID/,
  )
  Object.assign(env, { ATTESTRY_KEY_ID: 'VFN_TEST_X', ATTESTRY_SECRET: 'VFN_SK_X', ATTESTRY_URL: 'http://127.0.0.1:9' })
  await cli('request', 'GET', '/shifts', '--save')
  assert.equal((await stat(env.ATTESTRY_PROFILE)).mode & 0o777, 0o600)
})
