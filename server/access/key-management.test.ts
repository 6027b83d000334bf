import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { type ConsoleUser, signInMember } from '../../test/support/console.ts'
import { until } from '../../test/support/until.ts'
import { eraseAuditValue } from '../console/audit.ts'
import { remindOfExpiringKeys } from '../console/organisation/key-expiry.ts'
import { getEmail, listEmails } from '../mail/mail.ts'
import { DAY, MINUTE } from '../platform/clock.ts'
import { parseAllowedRange } from './allowed-addresses.ts'
import { setKeyLimits } from './key-limits.ts'
import { setAllowedAddresses } from './keys.ts'
import { organisationLimits } from './organisations.ts'
import { allScopes } from './scopes.ts'

async function signInOwner(app: TestApp, orgId: string): Promise<ConsoleUser> {
  return signInMember(app, orgId, 'owner', `owner-${orgId.toLowerCase()}@example.com`)
}

test('the number of active keys of an organisation is limited per mode and kind, also after the operator changes the limit', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg() // has one LIVE partner key
  const owner = await signInOwner(app, orgId)
  const create = (mode: 'live' | 'test', kind: 'partner' | 'session') =>
    owner.post(`/orgs/${orgId}/${mode}/keys`, { kind })
  await app.context.db.transaction((tx) => organisationLimits(tx, orgId, { maxKeys: 20 }))
  const responses = await Promise.all(Array.from({ length: 24 }, () => create('live', 'partner')))
  assert.equal(responses.filter(({ status }) => status === 201).length, 19, 'also if keys are created at the same time')
  const rejected = responses.find(({ status }) => status !== 201)!
  assert.equal(rejected.status, 422)
  assert.equal(rejected.body.error.code, 'LIMIT_EXCEEDED')
  assert.match(
    rejected.body.error.message,
    /has 20 active LIVE partner keys; the limit is 20\. Revoke a key that is not used, or ask the operator to raise the limit with `attestry org limits ORG_\w+ --max-keys 40`/,
  )
  app.clock.advance(MINUTE)
  const testKey = await create('test', 'partner')
  assert.equal(testKey.status, 201)
  const sessionKey = await create('live', 'session')
  assert.equal(sessionKey.status, 201)
  const list = async (mode: string): Promise<any[]> => (await owner.get(`/orgs/${orgId}/${mode}/keys`)).body.data.items
  assert.deepEqual(
    (await list('test')).map(({ key_id }) => key_id),
    [testKey.body.data.key_id],
  )
  const [newest, ...others] = await list('live')
  assert.deepEqual([newest.key_id, others.length], [sessionKey.body.data.key_id, 20], 'newest first')

  const { key_id, scopes } = responses.find(({ status }) => status === 201)!.body.data
  assert.deepEqual(new Set(scopes), new Set(allScopes), 'by default, a key has every scope')
  await owner.post(`/orgs/${orgId}/live/keys/${key_id}/revoke`, {})
  assert.equal((await create('live', 'partner')).status, 201, 'a revoked key makes room')
  assert.equal((await create('live', 'partner')).status, 422)
  await app.context.db.transaction((tx) => organisationLimits(tx, orgId, { maxKeys: 2 }))
  assert.equal((await create('live', 'partner')).status, 422)
  const { items } = (await owner.get(`/orgs/${orgId}/live/keys`)).body.data
  const active = items.filter(
    ({ status, kind }: { status: string; kind: string }) => status === 'active' && kind === 'partner',
  )
  assert.equal(active.length, 20, 'existing keys above the limit stay valid')
  await app.context.db.transaction((tx) => organisationLimits(tx, orgId, { maxKeys: 21 }))
  assert.equal((await create('live', 'partner')).status, 201)
})

test('more keys do not multiply the rate limits of an organisation', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  await app.context.db.transaction((tx) => organisationLimits(tx, orgId, { limitFactor: 3 }))
  await app.context.keyring.refresh()
  const keys = await Promise.all(Array.from({ length: 10 }, () => app.fixtures.createPartnerKey(orgId)))
  const other = await app.fixtures.createOrg('Metro Ltd')
  const search = (key: (typeof keys)[number]) => app.as(key).post('/skills/lookup', { names: ['Bricklaying'] })
  // A key may make 40 calls of this class in a burst.
  const responses = await Promise.all(keys.flatMap((key) => Array.from({ length: 13 }, () => search(key))))
  assert.equal(responses.filter(({ status }) => status === 200).length, 120)
  const rejected = responses.find(({ status }) => status === 429)!
  assert.match(
    rejected.body.error.message,
    /skillsLookup allows 60 calls per second \(burst 120\) for all keys of your organisation together\. Try again in 1 second\.$/,
  )
  assert.equal((await search(other.key)).status, 200)

  await app.context.db.transaction((tx) => organisationLimits(tx, orgId, { limitFactor: 10 }))
  await app.context.keyring.refresh()
  app.clock.advance(MINUTE)
  const raised = await Promise.all(keys.flatMap((key) => Array.from({ length: 13 }, () => search(key))))
  assert.ok(raised.every(({ status }) => status === 200))
})

test('a key with raised limits raises the shared limits, and a revoked one does not', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  const raised = await app.fixtures.createPartnerKey(orgId)
  const sharedReads = async () => {
    await app.context.keyring.refresh()
    return app.context.keyring.partnerKey(key.keyId)!.limits.shared!.limits.buckets.reads.minute
  }
  assert.equal(await sharedReads(), 12_000)
  await app.context.db.transaction((tx) =>
    setKeyLimits(tx, raised.keyId, { bucket: 'reads', rates: { minute: 10_000 } }),
  )
  assert.equal(await sharedReads(), 100_000)
  const owner = await signInOwner(app, orgId)
  await owner.post(`/orgs/${orgId}/live/keys/${raised.keyId}/revoke`, {})
  assert.equal(await sharedReads(), 12_000)
})

test('address ranges are parsed strictly', () => {
  for (const [text, range] of [
    ['203.0.113.7', '203.0.113.7/32'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['::1', '::1/128'],
  ] as const)
    assert.deepEqual(parseAllowedRange(text), { range })
  for (const [text, error] of [
    ['10.1/16', /expected an IP address or a CIDR range such as 203\.0\.113\.0\/24; got "10\.1\/16"/],
    ['010.0.0.1', /expected an IP address/],
    ['10.0.0.0/08', /expected an IP address/],
    ['10.0.0.0/8/9', /expected an IP address/],
    ['10.0.0.0/', /expected an IP address/],
    ['example.com', /expected an IP address/],
    ['fe80::1%eth0', /expected an IP address/],
    ['', /expected an IP address/],
    ['10.1.2.3/8', /has bits after its prefix; did you mean 10\.0\.0\.0\/8 or 10\.1\.2\.3\?/],
    ['10.0.0.0/33', /must be at most 32/],
    ['0.0.0.0/0', /contains every address/],
    ['::/0', /contains every address/],
    ['::ffff:10.0.0.1', /as an IPv4 address, such as 10\.0\.0\.1/],
  ] as const) {
    const parsed = parseAllowedRange(text)
    assert.ok('error' in parsed, text)
    assert.match(parsed.error, error)
  }
})

test('a key with allowed addresses is rejected elsewhere, with the address that the server sees', async (t) => {
  const app = await startApp(t, { config: { trustProxy: ['127.0.0.1'] } })
  const { orgId, key } = await app.fixtures.createOrg()
  const owner = await signInOwner(app, orgId)
  const path = `/orgs/${orgId}/live/keys/${key.keyId}/allowed-addresses`
  const invalid = await owner.put(path, { allowed_addresses: ['10.0.0.0/8', '10.1/16'] })
  assert.equal(invalid.status, 400)
  assert.equal(invalid.body.error.details[0].path, 'allowed_addresses[1]')
  const changed = await owner.put(path, { allowed_addresses: ['198.51.100.0/24', '2001:db8::/32'] })
  assert.deepEqual(changed.body.data.allowed_addresses, ['198.51.100.0/24', '2001:db8::/32'])
  await app.context.keyring.refresh()

  const callFrom = (address: string) => app.as(key).get('/shifts', { headers: { 'x-forwarded-for': address } })
  for (const address of ['198.51.100.9', '::ffff:198.51.100.9', '2001:db8:1::1'])
    assert.equal((await callFrom(address)).status, 200, address)
  const rejected = await callFrom('203.0.113.50')
  assert.equal(rejected.status, 403)
  assert.equal(rejected.body.error.code, 'FORBIDDEN')
  assert.match(rejected.body.error.message, /^This key cannot be used from the address 203\.0\.113\.50\./)
  assert.equal(rejected.headers.get('ratelimit-limit'), '1200')
  const withWrongSecret = await app
    .as({ ...key, secret: 'VFN_SK_wrong' })
    .get('/shifts', { headers: { 'x-forwarded-for': '203.0.113.50' } })
  assert.equal(withWrongSecret.status, 401, 'the allow-list is revealed only to callers with the secret')
  const other = await app.fixtures.createOrg('Metro Ltd')
  const foreign = await signInOwner(app, other.orgId)
  assert.equal((await foreign.put(path.replace(orgId, other.orgId), { allowed_addresses: null })).status, 404)

  await owner.put(path, { allowed_addresses: null })
  await app.context.keyring.refresh()
  assert.equal((await callFrom('203.0.113.50')).status, 200)

  const sessionKey = await app.fixtures.createSessionKey(orgId)
  await app.context.db.transaction((tx) => setAllowedAddresses(tx, sessionKey.slice(0, 19), ['198.51.100.0/24']))
  await app.context.keyring.refresh()
  const verify = (address: string) =>
    app.fetch('/api/v1/verify', {
      method: 'POST',
      headers: { 'x-api-key': sessionKey, 'x-forwarded-for': address, 'content-type': 'application/json' },
      body: '{}',
    })
  assert.equal((await verify('198.51.100.9')).status, 400)
  const rejectedSession = await verify('203.0.113.50')
  assert.equal(rejectedSession.status, 403)
  assert.match(JSON.stringify(rejectedSession.body), /FORBIDDEN.*203\.0\.113\.50|203\.0\.113\.50.*FORBIDDEN/)
})

test('the last use of a key is stored at most once a minute, and when the server stops', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  const owner = await signInOwner(app, orgId)
  const lastUsedAt = async (): Promise<string | null> => {
    const { items } = (await owner.get(`/orgs/${orgId}/live/keys`)).body.data
    return items.find(({ key_id }: { key_id: string }) => key_id === key.keyId).last_used_at
  }
  // Polls the database, because the console limits the requests of a member.
  const storedUse = async (keyId: string) => {
    const { rows } = await sql<{ last_used_at: Date }>`
      select last_used_at from key_uses where key_id = ${keyId}`.execute(app.context.db.queries)
    return rows[0]?.last_used_at.getTime()
  }
  const isUseStored = (keyId: string) => async () => (await storedUse(keyId)) !== undefined
  assert.equal(await lastUsedAt(), null)
  assert.equal((await app.as({ ...key, secret: 'VFN_SK_wrong' }).get('/shifts')).status, 401)
  const firstUse = new Date(app.clock.now()).toISOString()
  await app.as(key).get('/shifts')
  await until(isUseStored(key.keyId))
  assert.equal(await lastUsedAt(), firstUse)

  app.clock.advance(MINUTE - 1)
  await app.as(key).get('/shifts')
  const other = await app.fixtures.createPartnerKey(orgId)
  await app.as(other).get('/shifts')
  // The use of the other key is written after the second use of the first key would have been.
  await until(isUseStored(other.keyId))
  assert.equal(await lastUsedAt(), firstUse)

  app.clock.advance(1)
  await app.as(key).get('/shifts')
  await until(async () => (await storedUse(key.keyId)) === app.clock.now())
  app.clock.advance(1)
  await app.as(key).get('/shifts')
  const lastUse = new Date(app.clock.now()).toISOString()
  await app.context.keyUses.close()
  assert.equal(await lastUsedAt(), lastUse)
})

test('a key can have a name, which lists, the request log, the audit log and reminders show', async (t) => {
  const app = await startApp(t)
  const { orgId, key: unnamedKey } = await app.fixtures.createOrg()
  const owner = await signInOwner(app, orgId)
  const path = `/orgs/${orgId}/live/keys`
  app.clock.set('2026-03-11T06:30:00Z')
  const expires_at = new Date(app.clock.now() + 31 * DAY).toISOString()
  const created = await owner.post(path, { kind: 'partner', name: '  Greenhouse\nproduction\u202e ', expires_at })
  assert.equal(created.status, 201)
  const { key_id, secret, name } = created.body.data
  assert.equal(name, 'Greenhouse production')
  assert.equal((await owner.post(path, { kind: 'session', name: ' ' })).body.data.name, null)
  const session = (await owner.post(path, { kind: 'session', name: 'College portal' })).body.data
  assert.equal(session.name, 'College portal')
  for (const invalidName of ['x'.repeat(81), '', '\u202e']) {
    const rejected = await owner.put(`${path}/${key_id}/name`, { name: invalidName })
    assert.equal(rejected.status, 400)
    assert.equal(rejected.body.error.details[0].path, 'name')
  }
  const other = await app.fixtures.createOrg('Metro Ltd')
  const foreign = await signInOwner(app, other.orgId)
  assert.equal((await foreign.put(`/orgs/${other.orgId}/live/keys/${key_id}/name`, { name: 'Mine' })).status, 404)
  assert.equal((await owner.put(`/orgs/${orgId}/test/keys/${key_id}/name`, { name: 'Other mode' })).status, 404)

  await app.context.keyring.refresh()
  const key = { orgId, mode: 'live' as const, keyId: key_id, secret }
  await app.as(key).get('/shifts')
  await app.as(unnamedKey).get('/shifts')
  const renamed = await owner.put(`${path}/${key_id}/name`, { name: 'y'.repeat(80) })
  assert.equal(renamed.body.data.name, 'y'.repeat(80))
  await owner.put(`${path}/${key_id}/name`, { name: 'Ashby production' })
  const removed = await owner.put(`${path}/${session.key_id}/name`, { name: null })
  assert.equal(removed.body.data.name, null)
  const names = (await owner.get(path)).body.data.items.map((item: any) => [item.key_id, item.name])
  assert.deepEqual(new Map(names).get(key_id), 'Ashby production')
  const requests = (await owner.get(`/orgs/${orgId}/live/requests`)).body.data.items
  assert.deepEqual(
    requests.map((request: any) => [request.key_id, request.key_name]),
    [
      [unnamedKey.keyId, null],
      [key_id, 'Ashby production'],
    ],
  )
  const audit = (await owner.get(`/orgs/${orgId}/audit?subject=${key_id}`)).body.data.items
  assert.deepEqual(
    audit.map(({ action, details }: any) => [action, details.key_name]),
    [
      ['PUT /keys/:key_id/name', 'Ashby production'],
      ['PUT /keys/:key_id/name', 'y'.repeat(80)],
      ['POST /keys', 'Greenhouse production'],
    ],
  )
  await app.context.db.transaction((tx) => eraseAuditValue(tx, 'Ashby production'))
  const [erased] = (await owner.get(`/orgs/${orgId}/audit?subject=${key_id}`)).body.data.items
  assert.equal(erased.details.key_name, 'erased')

  await signInMember(app, orgId, 'owner', 'asha@example.com')
  app.clock.advance(2 * DAY)
  await app.context.db.transaction((tx) => remindOfExpiringKeys(tx, app.context))
  const [email] = await listEmails(app.context.db.queries, { scope: { orgId, mode: 'live' }, limit: 1 })
  const { text } = await getEmail(app.context.db.queries, app.context.vault, email!.mail_id)
  assert.ok(text.includes(`Ashby production (${key_id}): 11 April 2026, 12:00 IST`))
})

test('owners are reminded 30, 7 and 1 days before a key expires, once each', async (t) => {
  const app = await startApp(t)
  const { context, clock, fixtures } = app
  const { orgId } = await fixtures.createOrg()
  await signInMember(app, orgId, 'owner', 'asha@example.com')
  await signInMember(app, orgId, 'recruiter', 'ravi@example.com')
  const start = clock.now()
  const key = await fixtures.createPartnerKey(orgId, { expiresAt: new Date(start + 40 * DAY) })
  const shortKey = await fixtures.createPartnerKey(orgId, { expiresAt: new Date(start + 40 * DAY), mode: 'test' })
  const subjects: string[] = []
  const remindAt = async (day: number) => {
    clock.set(start + day * DAY)
    await context.db.transaction((tx) => remindOfExpiringKeys(tx, context))
    await context.db.transaction((tx) => remindOfExpiringKeys(tx, context))
    const emails = await listEmails(context.db.queries, { scope: { orgId, mode: 'live' }, limit: 100 })
    const added = emails.slice(0, emails.length - subjects.length).reverse()
    for (const { mail_id, to_address } of added) {
      const email = await getEmail(context.db.queries, context.vault, mail_id)
      assert.equal(to_address, 'asha@example.com')
      assert.ok(email.text.includes(key.keyId))
      assert.ok(!email.text.includes(shortKey.keyId), 'keys of the other mode are in another email')
      subjects.push(email.subject)
    }
    return added.length
  }
  assert.equal(await remindAt(9.9), 0)
  assert.equal(await remindAt(10), 1)
  assert.equal(await remindAt(20), 0)
  assert.equal(await remindAt(33), 1)
  assert.equal(await remindAt(39.5), 1)
  assert.equal(await remindAt(41), 0)
  assert.deepEqual(subjects, [
    'A LIVE key of Acme Staffing expires in 30 days',
    'A LIVE key of Acme Staffing expires in 7 days',
    'A LIVE key of Acme Staffing expires in 1 day',
  ])

  // A key that was created for five days is not announced as soon as it exists.
  await fixtures.createPartnerKey(orgId, { expiresAt: new Date(clock.now() + 5 * DAY) })
  assert.equal(await remindAt(41.1), 0)
  const owner = await signInOwner(app, orgId)
  assert.equal((await owner.get(`/orgs/${orgId}/live/summary`)).body.data.expiring_keys, 1)
})

test('with KEY_MAX_DAYS, LIVE keys must expire within that time', async (t) => {
  const app = await startApp(t, { config: { keyMaxDays: 90 } })
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInOwner(app, orgId)
  const create = (mode: string, days?: number) =>
    owner.post(`/orgs/${orgId}/${mode}/keys`, {
      kind: 'partner',
      ...(days ? { expires_at: new Date(app.clock.now() + days * DAY).toISOString() } : {}),
    })
  for (const response of [await create('live'), await create('live', 91)]) {
    assert.equal(response.status, 400)
    assert.deepEqual(response.body.error.details[0].path, 'expires_at')
    assert.match(response.body.error.message, /at most 90 days ahead/)
  }
  assert.equal((await create('live', 90)).status, 201)
  assert.equal((await create('test')).status, 201)
})

test('the preset ci gives a TEST key the limits of a LIVE key, and the message of a TEST key mentions it', async (t) => {
  const app = await startApp(t)
  const { orgId, key: liveKey } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const call = () => app.as(key).get('/shifts')
  assert.equal((await call()).headers.get('ratelimit-limit'), '120')
  const responses = await Promise.all(Array.from({ length: 12 }, call))
  const rejected = responses.find(({ status }) => status === 429)!
  assert.match(
    rejected.body.error.message,
    /TEST keys have one tenth of the limits of LIVE keys; for automated tests, ask the operator to run `attestry key limits KEY --preset ci`\.$/,
  )
  const setPreset = (keyId: string) => app.context.db.transaction((tx) => setKeyLimits(tx, keyId, { preset: 'ci' }))
  const { limits } = await setPreset(key.keyId)
  await app.context.keyring.refresh()
  assert.deepEqual([limits.skillsPerDay, limits.peoplePerDay, limits.browsePagesPerHour], [15_000, 2_000, 200])
  assert.equal((await call()).headers.get('ratelimit-limit'), '1200')
  assert.equal((await Promise.all(Array.from({ length: 20 }, call))).filter(({ status }) => status === 200).length, 20)
  await assert.rejects(setPreset(liveKey.keyId), /The preset ci is for TEST keys/)
})
