import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp } from '../test/support/app.ts'
import { oncePerFile } from '../test/support/cleanup.ts'
import { TestClock } from '../test/support/clock.ts'
import { createPartner } from '../test/support/partners.ts'
import { AttestryClient, AttestryConfigurationError, AttestryConnectionError, AttestryError } from './index.ts'

const startShared = oncePerFile((t) => startApp(t, { clock: new TestClock(Date.now()) }))

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** Returns a client whose calls receive these replies in turn; an Error represents a broken connection. */
function clientWithReplies(...replies: (Reply | Error)[]) {
  const calls: { method: string; path: string; headers: Headers; body: unknown }[] = []
  const client = new AttestryClient({
    baseUrl: 'https://verify.example.com',
    keyId: 'VFN_TEST_X',
    secret: 'VFN_SK_X',
    sessionKey: 'VSK_TEST_X',
    async fetch(url, init) {
      const { pathname, search } = new URL(String(url))
      calls.push({
        method: init!.method!,
        path: pathname + search,
        headers: new Headers(init!.headers),
        body: init!.body,
      })
      const reply = replies[Math.min(calls.length, replies.length) - 1]!
      if (reply instanceof Error) throw reply
      return new Response(JSON.stringify(reply.body ?? { success: true, data: {} }), reply)
    },
  })
  return { client, calls }
}

test('resources of the partner API create, read, list and archive', async () => {
  const app = await startShared()
  const { key } = await createPartner(app, 'test')
  const client = new AttestryClient({ baseUrl: app.url, keyId: key.keyId, secret: key.secret })

  const first = await client.workflows.create({ name: 'One' }, { idempotencyKey: 'once' })
  const repeated = await client.workflows.create({ name: 'One' }, { idempotencyKey: 'once' })
  assert.equal(repeated.workflow_id, first.workflow_id)
  const second = await client.workflows.create({ name: 'Two' })
  const names: string[] = []
  for await (const workflow of client.workflows.list({ limit: 1 })) names.push(workflow.name)
  assert.deepEqual(names, ['Two', 'One'])
  const page = await client.workflows.list({ limit: 1 })
  assert.deepEqual([page.items.length, typeof page.next_cursor], [1, 'string'])
  assert.equal((await client.workflows.archive(second.workflow_id)).status, 'archived')
  assert.equal((await client.workflows.get(first.workflow_id)).name, 'One')
  const found = await client.skills.search({ q: 'house wiring', limit: 1 })
  assert.match(found.items[0]!.skill_id, /^sk_/)
  await assert.rejects(client.workflows.create({ name: '' }), { code: 'VALIDATION_FAILED', status: 400 })
})

test('the error of a rejected signature says that the secret is wrong, if nothing else can be', async () => {
  const app = await startShared()
  const { key } = await createPartner(app, 'test')
  const secret = `${key.secret.slice(0, -1)}${key.secret.endsWith('A') ? 'B' : 'A'}`
  const client = new AttestryClient({ baseUrl: app.url, keyId: key.keyId, secret, onBehalfOf: 'asha' })
  for (const call of [
    () => client.workflows.create({ name: 'é' }),
    () => client.call('GET', '/skills/search?q=a+b%20c', { onBehalfOf: 'ravi' }),
  ])
    await assert.rejects(call, (error: AttestryError) => {
      assert.equal(error.status, 401)
      assert.ok(error.message.includes(`so the secret does not belong to the key ${key.keyId}.`), error.message)
      assert.ok(!error.message.includes(secret))
      return true
    })
  const otherKey = `${key.keyId.slice(0, -1)}${key.keyId.endsWith('A') ? 'B' : 'A'}`
  const unknown = new AttestryClient({ baseUrl: app.url, keyId: otherKey, secret: key.secret })
  await assert.rejects(unknown.workflows.get('WF_1'), (error: AttestryError) => !error.message.includes('secret does'))
})

test('resources of the verification session and catalogue APIs use their own keys', async () => {
  const app = await startShared()
  const { orgId } = await app.fixtures.createOrg()
  const sessionKey = await app.fixtures.createSessionKey(orgId, 'test')
  const client = new AttestryClient({ baseUrl: app.url, sessionKey, adminKey: ADMIN_KEY })

  const opened = await client.sessions.open({
    externalStudentId: 's-1',
    name: 'Student',
    email: 's@example.com',
    certificates: [{ externalCertificateId: 'c-1', certificateName: 'ITI Electrician' }],
  })
  const session = await client.sessions.get(opened.sessionToken)
  assert.equal(session.serviceVerificationId, opened.serviceVerificationId)
  assert.equal((await client.verifications.get(opened.serviceVerificationId)).status, 'open')
  await client.sessions.storeSkills({ sessionToken: opened.sessionToken, skills: [{ skillId: 'sk_2001' }] })
  const suggestions = await client.sessions.searchSkills(opened.sessionToken, { q: 'wiring' })
  assert.ok(suggestions.skills.length > 0)
  await assert.rejects(client.sessions.get('vst_unknown'), AttestryError)

  const skills: string[] = []
  for await (const skill of client.catalogue.searchSkills({ keyword: 'welding', limit: 2 })) {
    skills.push(skill.skill_id)
    if (skills.length === 5) break
  }
  assert.equal(new Set(skills).size, 5)
  assert.ok((await client.catalogue.getTotals()).skills > 100)
  const error: AttestryError = await client.catalogue.getSkill('sk_999999999').then(
    () => assert.fail('the skill exists'),
    (thrown) => thrown,
  )
  assert.equal(error.status, 404)
  assert.doesNotMatch(error.message, /The server returned status/)
})

test('a write has one random idempotency key in all attempts', async () => {
  const { client, calls } = clientWithReplies(new TypeError('fetch failed'), { status: 503 }, { status: 200 })
  await client.campaigns.create({ mandate_id: 'JM_1' })
  const keys = calls.map(({ headers }) => headers.get('idempotency-key'))
  assert.equal(keys.length, 3)
  assert.match(keys[0]!, /^[\da-f-]{36}$/)
  assert.equal(new Set(keys).size, 1)
  await client.campaigns.create({ mandate_id: 'JM_1' })
  assert.notEqual(calls.at(-1)!.headers.get('idempotency-key'), keys[0])
  // Reading with a POST accepts no key, and is not retried after a broken connection.
  const reading = clientWithReplies(new TypeError('fetch failed'), { status: 200 })
  await assert.rejects(reading.client.skills.lookUp({ skill_ids: ['sk_1'] }), AttestryConnectionError)
  assert.deepEqual(
    reading.calls.map(({ headers }) => headers.get('idempotency-key')),
    [null],
  )
})

test('parameters are encoded, and an empty ID is rejected before the call', async () => {
  const { client, calls } = clientWithReplies({ status: 200, body: { data: { items: [], next_cursor: null } } })
  await client.locations.list({ q: 'new delhi & more', state: undefined })
  await client.results.get('../credits?x=1')
  assert.deepEqual(
    calls.map(({ path }) => path),
    ['/api/v1/partner/locations?q=new%20delhi%20%26%20more', '/api/v1/partner/results/..%2Fcredits%3Fx%3D1'],
  )
  for (const id of ['', '..', undefined])
    assert.throws(() => client.results.get(id!), /resultId must be a non-empty string/)
})

test('pages of the catalogue are fetched until the count is reached', async () => {
  const pageReply = (page: number, data: string[]) => ({ status: 200, body: { data, page, limit: 2, count: 3 } })
  const { client, calls } = clientWithReplies(pageReply(1, ['a', 'b']), pageReply(2, ['c']))
  const items: unknown[] = []
  for await (const item of client.catalogue.listMasterSkills({ limit: 2 })) items.push(item)
  assert.deepEqual(items, ['a', 'b', 'c'])
  assert.equal(calls[1]!.path, '/api/skills/masters?limit=2&page=2')
  assert.equal(calls[0]!.headers.get('x-api-key'), null)
})

test('configuration errors name the option, its variable and where to get the value', async () => {
  const baseUrl = 'http://127.0.0.1:1'
  const cases: [object, RegExp][] = [
    [{}, /^baseUrl is missing: pass it to .* ATTESTRY_URL\. Where to get it: the address that `npm start` prints/],
    [{ baseUrl: 'example.com' }, /baseUrl .* must be an http or https URL/],
    [{ baseUrl, keyId: undefined, secret: undefined }, /keyId is missing.*ATTESTRY_KEY_ID.*`attestry key create`/],
    [{ baseUrl, keyId: 'VFN_TEST_X' }, /secret is missing.*ATTESTRY_SECRET/],
    [{ baseUrl, keyId: 'VFN_TEST_…', secret: 'VFN_SK_X' }, /keyId contains "…": replace the placeholder/],
    [{ baseUrl, keyId: 'VFN_TEST_ X', secret: 'VFN_SK_X' }, /keyId contains a space/],
    [{ baseUrl, keyId: 'VSK_TEST_X', secret: 'VFN_SK_X' }, /keyId .* must be a key ID that starts with VFN_TEST_/],
    [{ baseUrl, keyId: 'VFN_TEST_X', secret: 'VFN_TEST_X' }, /secret .* must be the secret of the key/],
    [{ baseUrl, sessionKey: 'VFN_TEST_X' }, /sessionKey .* must be a session key/],
  ]
  for (const [options, message] of cases)
    assert.throws(() => new AttestryClient(options), { name: 'AttestryConfigurationError', message })
  const catalogueOnly = new AttestryClient({ baseUrl })
  await assert.rejects(catalogueOnly.sessions.open({ externalStudentId: 's', name: 'S', email: 's@example.com' }), {
    message: /sessionKey is missing.*ATTESTRY_SESSION_KEY.*--kind session/,
  })
  await assert.rejects(async () => void (await catalogueOnly.shifts.list()), AttestryConfigurationError)
})

test('an unreachable server is reported with its address', async () => {
  const client = new AttestryClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 })
  const error = await client.catalogue.getSkill('sk_1').catch((thrown) => thrown)
  assert.ok(error instanceof AttestryConnectionError)
  assert.match(error.message, /^No response from http:\/\/127\.0\.0\.1:1 .*: check that baseUrl is correct/)
})
