import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Command } from 'commander'
import { verifyWebhook } from '../sdk/index.ts'
import type { DemoKeys } from '../server/access/demo-files.ts'
import { oncePerFile } from '../test/support/cleanup.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { buildPartnerCli } from '../test/support/partner-cli.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { createDeployment } from '../test/support/server.ts'
import { until } from '../test/support/until.ts'
import { partnerCommands, withCompletion } from './partner-commands.ts'

/** The program of the package @attestry/cli, and a server with demo keys. */
const setUp = oncePerFile(async (t) => {
  const deployment = await createDeployment(t, { embedded: true })
  const { url } = await deployment.serve()
  const keys: DemoKeys = JSON.parse(readFileSync(join(deployment.dataDir, 'demo-keys.json'), 'utf8'))
  const cli = buildPartnerCli(t)
  const saved = await cli.run(['profile', 'save', 'acme', '--url', url, '--key-id', keys.key_id], keys.secret)
  assert.equal(saved.code, 0, saved.errors)
  return { url, keyId: keys.key_id, secret: keys.secret, cli }
})

test('profiles are saved, listed, used and removed; each call names the server and the key', async () => {
  const { url, keyId, secret, cli } = await setUp()
  const response = await cli.run(['request', 'GET', '/shifts', '--profile', 'acme'])
  assert.equal(response.code, 0, response.errors)
  assert.equal(response.errors, `Using the TEST key ${keyId} of the profile acme, server ${url}.\n`)
  const wrongSecret = await cli.run(['profile', 'save', 'other', '--url', url, '--key-id', keyId], 'secret')
  assert.deepEqual(
    [wrongSecret.code, wrongSecret.errors],
    [1, 'attestry: the secret must start with VFN_SK_; nothing was saved\n'],
  )
  const noSecret = await cli.run(['profile', 'save', 'other', '--url', url, '--key-id', keyId])
  assert.deepEqual([noSecret.code, noSecret.errors.split(';')[0]], [1, 'attestry: standard input is empty'])
  const unchecked = await cli.run(
    ['profile', 'save', 'other', '--url', 'http://127.0.0.1:9', '--key-id', keyId],
    secret,
  )
  assert.equal(unchecked.code, 0)
  assert.match(
    unchecked.errors,
    /^Warning: the key could not be checked\. Connecting to http:\/\/127\.0\.0\.1:9 failed/,
  )
  const { output } = await cli.run(['profile', 'list', '--json'])
  assert.deepEqual(JSON.parse(output), [
    { name: 'acme', url: url, key_id: keyId },
    { name: 'other', url: 'http://127.0.0.1:9', key_id: keyId },
  ])
  const show = async (...args: string[]) => (await cli.run(['profile', 'show', '--profile', 'acme', ...args])).output
  assert.equal(await show(), `Commands use the TEST key ${keyId} of the profile acme, server ${url}.\n`)
  assert.deepEqual(JSON.parse(await show('--json')), { url, key_id: keyId, source: 'the profile acme' })
  assert.equal((await cli.run(['profile', 'remove', 'other'])).code, 0)
  const unknown = await cli.run(['request', 'GET', '/shifts', '--profile', 'other'])
  assert.equal(unknown.errors, 'attestry: there is no profile other; expected one of acme\n')
})

test('the key comes from the environment or .env, and the server is never guessed', async (t) => {
  const { url, keyId, secret, cli } = await setUp()
  const envFile = join(cli.folder, '.env')
  t.after(() => rmSync(envFile, { force: true }))
  assert.match((await cli.run(['request', 'GET', '/shifts'])).errors, /^attestry: no API key found: set ATTESTRY_URL/m)
  writeFileSync(envFile, `ATTESTRY_KEY_ID=${keyId}\nATTESTRY_SECRET="${secret}"\nDATABASE_URL=postgres://ignored\n`)
  assert.match(
    (await cli.run(['request', 'GET', '/shifts'])).errors,
    /^attestry: the file \.env has a key but no server: set ATTESTRY_URL/m,
  )
  writeFileSync(envFile, `OTHER: program\nATTESTRY_URL=${url}\nATTESTRY_KEY_ID ${keyId}\nATTESTRY_SECRET="${secret}"\n`)
  const malformed = await cli.run(['request', 'GET', '/shifts'])
  assert.equal(malformed.errors, 'attestry: the file .env, line 3 is not valid: expected NAME=value\n')
  writeFileSync(envFile, `ATTESTRY_URL=${url}\nATTESTRY_SECRET="${secret}"\n`)
  assert.match(
    (await cli.run(['request', 'GET', '/shifts'])).errors,
    /^attestry: ATTESTRY_KEY_ID is missing in the file \.env, which has ATTESTRY_SECRET: set both, or neither\n/,
  )
  writeFileSync(envFile, `ATTESTRY_URL=${url}\nATTESTRY_KEY_ID=${keyId}\nATTESTRY_SECRET="${secret}"\n`)
  const response = await cli.run(['request', 'GET', '/shifts'])
  assert.deepEqual([response.code, response.errors.includes('of the file .env')], [0, true], response.errors)
})

test('a secret that does not belong to the key is named as the cause', async (t) => {
  const { url, keyId, secret, cli } = await setUp()
  const wrongSecret = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`
  const cause = `so the secret does not belong to the key ${keyId}.`
  const saved = await cli.run(['profile', 'save', 'wrong', '--url', url, '--key-id', keyId], wrongSecret)
  assert.equal(saved.code, 1)
  assert.match(saved.errors, /^attestry: the server rejects this key; nothing was saved\./)
  assert.ok(saved.errors.includes(cause), saved.errors)
  const unknownKey = ['profile', 'save', 'wrong', '--url', url, '--key-id', 'VFN_TEST_AAAAAAAAAAAAAAAAAAAAAAAA']
  assert.match((await cli.run(unknownKey, secret)).errors, /headers\.x-api-key: is not a TEST key of this server/)

  Object.assign(cli.env, { ATTESTRY_URL: url, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: wrongSecret })
  t.after(() => {
    for (const name of ['ATTESTRY_URL', 'ATTESTRY_KEY_ID', 'ATTESTRY_SECRET']) delete cli.env[name]
  })
  const requests = [
    ['request', 'GET', '/skills/search?q=a+b%20c'],
    ['request', 'POST', '/workflows', '--data', '{"name":"é"}', '--idempotency-key', 'one', '--on-behalf-of', 'asha'],
    ['clocks', 'list'],
    ['mcp'],
  ]
  for (const args of requests) {
    const { code, errors } = await cli.run(args)
    assert.deepEqual([code, errors.includes(cause)], [1, true], `${args.join(' ')}: ${errors}`)
    assert.ok(!errors.includes(wrongSecret))
  }
  await until(async () => {
    cli.env.ATTESTRY_SECRET = secret
    const { output } = await cli.run(['logs', 'list', '--failed', '--limit', '5'])
    return /^ {4}headers\.x-signature: The server expected[^\n]*\n {6}VFN1\n {6}\d+\n {6}(GET|POST)\n/m.test(output)
  })
})

test('a command that is not in the package is named as one for operators', async () => {
  const { cli } = await setUp()
  const { code, errors } = await cli.run(['org', 'list'])
  assert.equal(code, 1)
  assert.equal(
    errors,
    "attestry: unknown command 'org'\nThis package has the commands for partners. Operators run `npx attestry org` in the checkout of the server.\n",
  )
})

test('fixtures run a TEST campaign to its results, logs show its calls, and a failed step says why', async () => {
  const { cli } = await setUp()
  const run = await cli.run(['fixtures', 'campaign', '--profile', 'acme', '--run', 'one', '--json'])
  assert.equal(run.code, 0, run.errors)
  const { results, enrolment } = JSON.parse(run.output)
  assert.equal(results.items.length, 11)
  const states = new Set(results.items.map(({ status }: { status: string }) => status))
  assert.deepEqual(states, new Set(['completed', 'declined', 'failed']))
  const repeated = await cli.run(['fixtures', 'campaign', '--profile', 'acme', '--run', 'one', '--json'])
  assert.equal(JSON.parse(repeated.output).enrolment.campaign.campaign_id, enrolment.campaign.campaign_id)
  const path = join(cli.folder, 'broken.json')
  writeFileSync(
    path,
    JSON.stringify({ steps: [{ name: 'a', method: 'POST', path: '/workflows', body: { name: '', colour: 'red' } }] }),
  )
  const broken = await cli.run(['fixtures', path, '--profile', 'acme'])
  assert.equal(broken.code, 1)
  assert.match(broken.errors, /^attestry: step a: The request has 2 validation errors:\n {2}colour: .*\n {2}name: /m)
  await until(async () => {
    const { output } = await cli.run(['logs', 'list', '--failed', '--profile', 'acme'])
    return /400 {2}POST {4}\/api\/v1\/partner\/workflows {2}VALIDATION_FAILED/.test(stripVTControlCharacters(output))
  })
  const { campaign_id } = enrolment.campaign
  const missing = campaign_id.replace(/.{4}$/, '0000')
  for (const id of [campaign_id, missing, '+919812345678'])
    await cli.run(['request', 'GET', `/campaigns/${encodeURIComponent(id)}`, '--profile', 'acme'])
  const list = async (...options: string[]) =>
    stripVTControlCharacters(
      (await cli.run(['logs', 'list', '--limit', '100', ...options, '--profile', 'acme'])).output,
    )
  await until(async () => {
    const logged = await list()
    return [campaign_id, missing, ':campaign_id'].every((id) => logged.includes(`/api/v1/partner/campaigns/${id}  `))
  })
  const notFound = await list('--status', '404')
  assert.match(notFound, new RegExp(`404 {2}GET {5}/api/v1/partner/campaigns/${missing} {2}NOT_FOUND`))
  assert.ok(!/ (200|201|400) {2}/.test(notFound), notFound)
  const rejected = await list('--status', '4xx')
  assert.match(rejected, /400 {2}POST {4}\/api\/v1\/partner\/workflows /)
  assert.match(rejected, /GET {5}\/api\/v1\/partner\/campaigns\/:campaign_id {2}/)
  assert.ok(!rejected.includes('9812345678') && !/ 20\d {2}/.test(rejected), rejected)
  const unknown = await cli.run(['logs', 'list', '--status', 'bad', '--profile', 'acme'])
  assert.match(unknown.errors, /must be an HTTP status such as 404, or a class such as 4xx; got bad/)
})

test('listen forwards only new events unless --from is given, and signs every run with the same secret', async (t) => {
  const { cli } = await setUp()
  const receiver = await startReceiver(t)
  const createReadyMandate = async (run: string) => {
    const path = join(cli.folder, 'mandate.json')
    const { steps } = JSON.parse(readFileSync(new URL('fixtures/campaign.json', import.meta.url), 'utf8'))
    writeFileSync(path, JSON.stringify({ steps: steps.slice(0, 3) }))
    const { output } = await cli.run(['fixtures', path, '--profile', 'acme', '--run', run, '--json'])
    return JSON.parse(output).mandate.mandate_id as string
  }
  const listen = (...args: string[]) => cli.start('listen', '--forward-to', receiver.url, '--profile', 'acme', ...args)
  const wrongType = await cli.run([
    'listen',
    '--forward-to',
    receiver.url,
    '--profile',
    'acme',
    '--types',
    'result.complet',
  ])
  assert.equal(wrongType.code, 1)
  assert.match(wrongType.errors, /^attestry: .*result\.complet/m)
  assert.doesNotMatch(wrongType.errors, /Forwarding/)
  const oldMandateId = await createReadyMandate('old')
  await setTimeout(1100) // the start of `listen` is known to the second
  const first = listen()
  await until(() => /not acknowledged/.test(first.errors()))
  const newMandateId = await createReadyMandate('new')
  await until(() => receiver.received.length > 0)
  const [secret] = /whsec_\S+/.exec(first.errors())!
  const { text, headers } = receiver.received[0]!
  const event = await verifyWebhook<{ type: string; data: { mandate_id: string } }>(text, headers, secret)
  assert.deepEqual([event.type, event.data.mandate_id], ['mandate.ready', newMandateId])
  assert.equal(receiver.received.length, 1)
  first.kill('SIGINT')

  const second = listen('--from', 'beginning', '--ack')
  await until(() => receiver.received.some(({ body }) => body.data.mandate_id === oldMandateId))
  assert.ok(second.errors().includes(`signed with ${secret}`))
  assert.match(second.errors(), /^Warning: events accepted with 2xx are acknowledged for the consumer "default"/m)
  second.kill('SIGINT')
})

test('trigger lists the event types and sends a signed sample', async (t) => {
  const { url, cli } = await setUp()
  const receiver = await startReceiver(t)
  const list = await cli.run(['trigger', '--profile', 'acme'])
  assert.equal(list.errors, `Using the server ${url} of the profile acme.\n`)
  const types = list.output.trim().split('\n')
  assert.ok(types.includes('result.completed') && types.includes('verification.expired'), types.join())
  const secret = `whsec_${Buffer.from('a secret of the test').toString('base64')}`
  const target = ['--forward-to', receiver.url, '--secret', secret, '--profile', 'acme']
  const sent = await cli.run(['trigger', 'result.completed', ...target])
  assert.deepEqual([sent.code, /^The target responded with 204/.test(sent.output)], [0, true], sent.errors)
  const { text, headers } = receiver.received[0]!
  const event = await verifyWebhook<{ type: string; data: { output: object } }>(text, headers, secret)
  assert.equal(event.type, 'result.completed')
  assert.ok(event.data.output)
  receiver.respond = () => 500
  assert.equal((await cli.run(['trigger', 'result.failed', ...target])).code, 1)
  const unknown = await cli.run(['trigger', 'result.unknown', ...target])
  assert.match(unknown.errors, /^attestry: unknown event type result\.unknown; expected one of campaign\.completed, /m)
  const host = `localhost:${await findFreePort()}`
  const refused = await cli.run(['trigger', 'result.completed', '--forward-to', host, '--profile', 'acme'])
  assert.equal(refused.code, 1)
  assert.ok(
    refused.errors.endsWith(
      `attestry: no program is listening at ${host} (ECONNREFUSED); start your webhook endpoint, or check the port in --forward-to\n`,
    ),
    refused.errors,
  )
})

test('test clocks are created, listed, shown, advanced and archived', async () => {
  const { cli } = await setUp()
  const clocks = async (...args: string[]) => {
    const { code, output, errors } = await cli.run(['clocks', ...args, '--profile', 'acme', '--no-wait'])
    return { code, output, errors }
  }
  const json = async (...args: string[]) => JSON.parse((await clocks(...args, '--json')).output)
  const created = await clocks('create', '--name', 'Follow-ups', '--at', '2030-01-31T09:00:00+05:30')
  assert.match(created.output, /^Clock +TC_\w+\nName +Follow-ups\nStatus +ready\nTime +2030-01-31T03:30:00\.000Z\n$/)
  const id = /TC_\w+/.exec(created.output)![0]
  const { test_clock_id: newest } = await json('create')
  assert.deepEqual(
    (await json('list', '--limit', '1')).map((clock: any) => clock.test_clock_id),
    [newest],
  )
  assert.match((await clocks('list')).output, new RegExp(`^${id} +ready +2030-01-31T03:30:00\\.000Z +Follow-ups$`, 'm'))
  assert.equal((await clocks('show', id)).output, created.output)
  assert.equal((await json('show', id)).name, 'Follow-ups')

  const advanced = await json('advance', id, '--days', '1', '--hours', '2', '--seconds', '3')
  assert.deepEqual([advanced.status, advanced.now], ['ready', '2030-02-01T05:30:03.000Z'])
  assert.equal((await json('advance', id, '--to', '2030-02-28T09:00:00Z')).now, '2030-02-28T09:00:00.000Z')
  assert.match((await clocks('advance', id)).errors, /Set --to, or at least one of --days, --hours and --seconds\./)
  for (const time of ['28 February', '2030-02-40'])
    assert.equal((await clocks('advance', id, '--to', time)).code, 1, time)
  assert.equal((await clocks('advance', id, '--to', '2030-03-01T00:00:00Z', '--days', '1')).code, 1)
  assert.equal((await json('archive', id)).status, 'archived')
  assert.match((await clocks('show', 'TC_NONE')).errors, /TC_NONE/)
})

test('events are listed with their deliveries, and replayed by ID, time or failure', async (t) => {
  const { cli } = await setUp()
  const receiver = await startReceiver(t)
  const run = (...args: string[]) => cli.run([...args, '--profile', 'acme'])
  const pick = async (path: string, method: string, target: string, body: object) =>
    (await run('request', method, target, '--data', JSON.stringify(body), '--pick', path)).output.trim()
  const webhook = await pick('webhook_id', 'POST', '/webhooks', { url: `${receiver.url}/` })
  assert.match(webhook, /^WH_/)
  await run('request', 'POST', `/webhooks/${webhook}/test`)
  await until(() => receiver.received.length === 1)
  const list = async (...args: string[]) => JSON.parse((await run('events', 'list', ...args, '--json')).output)
  const all = ['--acknowledged', 'all', '--types', 'webhook.test']
  const [event] = await until(async () => {
    const events = await list(...all)
    return events[0]?.delivery.acknowledged_by && events
  })
  assert.deepEqual(
    [event.type, event.delivery.acknowledged_by, event.delivery.attempts],
    ['webhook.test', 'webhook', 1],
  )
  assert.match(
    (await run('events', 'list', ...all)).output,
    new RegExp(`^${event.event_id} +webhook\\.test .* webhook +1 `, 'm'),
  )
  assert.deepEqual(await list('--types', 'webhook.test'), [])
  assert.match((await run('events', 'list', '--types', 'webhook.test')).output, /No unacknowledged events\./)
  const ofOther = await list('--types', 'webhook.test', '--consumer', 'other')
  assert.equal(ofOther[0].event_id, event.event_id)
  assert.equal((await list('--acknowledged', 'all', '--limit', '1')).length, 1)

  const replay = (...args: string[]) => run('events', 'replay', '--webhook', webhook, ...args)
  assert.equal((await replay(event.event_id)).output, 'Queued 1 event for delivery.\n')
  await until(() => receiver.received.filter(({ body }) => body.event_id === event.event_id).length === 2)
  const day = event.created_at.slice(0, 10)
  assert.equal((await replay('--to', day)).output, 'Queued 0 events for delivery.\n')
  assert.match((await replay('--only-failed', '--from', day)).output, /^Queued 0 events/)
  for (const [args, message] of [
    [[], /select events either by their IDs, or with at least one of --from, --to and --only-failed/],
    [[event.event_id, '--only-failed'], /select events either by their IDs/],
    [['--from', 'yesterday'], /Expected an ISO 8601 time/],
  ] as const) {
    const rejected = await replay(...args)
    assert.deepEqual([rejected.code, message.test(rejected.errors)], [1, true], rejected.errors)
  }
  await run('request', 'DELETE', `/webhooks/${webhook}`)
})

test('request prints the status and the headers with --include', async () => {
  const { cli } = await setUp()
  const { output } = await cli.run(['request', 'GET', '/shifts', '--include', '--profile', 'acme'])
  assert.match(output, /^HTTP 200\n(?:[\w-]+: .*\n)*content-type: application\/json.*\n(?:[\w-]+: .*\n)*\n\{\n/)
  const rejected = await cli.run(['request', 'GET', '/nothing', '-i', '--profile', 'acme'])
  assert.deepEqual([rejected.code, rejected.output.split('\n')[0]], [1, 'HTTP 404'])
})

test('logs tail prints new requests once, without its own calls, until it is stopped', async () => {
  const { cli } = await setUp()
  const tail = cli.start('logs', 'tail', '--json', '--profile', 'acme')
  const closed = once(tail, 'close')
  await until(() => tail.errors().includes('Waiting for requests.'))
  const printed = () =>
    tail
      .output()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const statusesOf = (route: string) => printed().flatMap((each) => (each.route.endsWith(route) ? [each.status] : []))
  // A first request may be logged before the command has read where the log ends.
  await until(async () => {
    await cli.run(['request', 'GET', '/shifts', '--profile', 'acme'])
    return statusesOf('/shifts').length > 0
  })
  await cli.run(['request', 'POST', '/workflows', '--data', '{"name":""}', '--profile', 'acme'])
  await until(() => statusesOf('/workflows').length > 0)
  assert.deepEqual(statusesOf('/workflows'), [400])
  const ids = printed().map(({ id }) => id)
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  )
  assert.deepEqual(statusesOf('/request-log'), [])
  tail.kill('SIGINT')
  assert.deepEqual(await closed, [0, null])
})

test('completion scripts offer commands, subcommands and options', async (t) => {
  const { cli } = await setUp()
  const scripts = new Map<string, string>()
  for (const shell of ['bash', 'zsh', 'fish']) scripts.set(shell, (await cli.run(['completion', shell])).output)
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ')
    const program = `${scripts.get('bash')}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _attestry; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', program], { encoding: 'utf8' }).stdout.trim().split(' ')
  }
  assert.deepEqual(complete('attestry', 'fi'), ['fixtures'])
  assert.deepEqual(complete('attestry', '--json', 'logs', ''), ['list', 'tail', '--help'])
  assert.deepEqual(complete('attestry', 'listen', '--fo'), ['--forward-to'])

  assert.doesNotMatch(scripts.get('zsh')!, /\bpath=/, 'in zsh, a variable "path" replaces PATH')
  const offered = await listWords()
  assert.ok(offered.has('') && offered.has('logs tail') && offered.get('clocks advance')!.includes('--days'))
  for (const [path, words] of offered) {
    // The function of the zsh script that lists the words runs in bash too.
    const program = `compdef() { :; }\n${scripts.get('zsh')}\n_attestry_words '${path}'`
    const { stdout } = spawnSync('bash', ['-c', program], { encoding: 'utf8' })
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0]),
      words,
      `zsh: attestry ${path}`,
    )
    const condition = `complete -c attestry -n 'test (__attestry_path) = "${path}"' `
    const lines = scripts
      .get('fish')!
      .split('\n')
      .filter((line) => line.startsWith(condition))
    const fishWords = lines.map((line) => /^(?:-l (\S+)|-f -a '(\S+)') -d '/.exec(line.slice(condition.length)))
    assert.deepEqual(
      fishWords.map((match) => (match?.[1] ? `--${match[1]}` : match?.[2])),
      words,
      `fish: attestry ${path}`,
    )
  }
  for (const [shell, script] of scripts) {
    const path = join(cli.folder, `completion.${shell}`)
    writeFileSync(path, script)
    const { status, stderr, error } = spawnSync(shell, ['-n', path], { encoding: 'utf8' })
    if (error) t.diagnostic(`${shell} is not installed, so the syntax of its script was not checked`)
    else assert.equal(status, 0, `${shell}: ${stderr}`)
  }
  const fishProgram = `source ${join(cli.folder, 'completion.fish')}; complete -C 'attestry clocks '`
  const fish = spawnSync('fish', ['-c', fishProgram], { encoding: 'utf8' })
  if (!fish.error) assert.match(fish.stdout, /^advance\t.*\narchive\t/)
})

/** Returns the subcommands and options of every command of the package, by the names of the command and its parents. */
async function listWords(): Promise<Map<string, string[]>> {
  const commands = await Promise.all(Object.values(withCompletion(partnerCommands)).map((load) => load()))
  const words = new Map([['', [...commands.map((command) => command.name()), '--json', '--profile', '--help']]])
  const add = (command: Command, parents: string[]) => {
    const path = [...parents, command.name()]
    const options = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
    words.set(path.join(' '), [...command.commands.map((each) => each.name()), ...options, '--help'])
    for (const subcommand of command.commands) add(subcommand, path)
  }
  for (const command of commands) add(command, [])
  return words
}
