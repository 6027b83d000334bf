import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import type { Cleanup } from '../../../test/support/cleanup.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { CONSOLE_API, type ConsoleUser, signIn, signInMember } from '../../../test/support/console.ts'
import {
  authorizeAtProvider,
  CLIENT,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../../test/support/identity-provider.ts'
import { getEmail, listEmails } from '../../mail/mail.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { endpointFailing } from '../../webhooks/delivery/health.ts'
import { addOperator } from '../auth/operators.ts'

/** A server and a provider. The provider uses the time of the machine. */
async function startWithProvider(t: Cleanup) {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const idp = await startIdentityProvider(t, app.url, orgId)
  const owner = await signInMember(app, orgId, 'owner', 'owner@metro.example')
  return { app, idp, orgId, owner }
}

const settingsFor = (idp: TestIdentityProvider) => ({
  name: 'Metro ID',
  issuer: idp.issuer,
  ...CLIENT,
  allowed_domains: ['metro.example'],
  default_role: 'viewer',
})

async function saveProvider(owner: ConsoleUser, orgId: string, settings: object): Promise<string> {
  const response = await owner.put(`/orgs/${orgId}/identity-provider`, settings)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return response.body.data.provider.provider_id
}

interface Browser {
  cookies: Record<string, string>
}

function keepCookies(browser: Browser, headers: Headers) {
  for (const line of headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    browser.cookies[name!] = value!
  }
}

const cookieHeader = ({ cookies }: Browser) =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ')

/** Starts a sign-in, and returns the URL at the provider. */
async function start(app: TestApp, browser: Browser, providerId: string, options: object = {}): Promise<string> {
  const response = await app.fetch(`${CONSOLE_API}/sign-in/provider`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: cookieHeader(browser) },
    body: JSON.stringify({ provider_id: providerId, ...options }),
  })
  assert.equal(response.status, 200, JSON.stringify(response.body))
  keepCookies(browser, response.headers)
  return response.body.data.url
}

/** Opens the URL of the callback, and returns the address that it redirects to. */
async function openCallback(app: TestApp, browser: Browser, url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookieHeader(browser) } })
  assert.equal(response.status, 303, await response.text())
  keepCookies(browser, response.headers)
  return response.headers.get('location')!.slice(app.url.length)
}

interface SignedIn extends Browser {
  /** Path of the page after the sign-in. */
  page: string
  get(path: string): Promise<{ status: number; body: any }>
  call(method: string, path: string, body?: object): Promise<{ status: number; body: any }>
}

/** Signs in with the provider, as a browser does. */
async function signInWithProvider(
  app: TestApp,
  idp: TestIdentityProvider,
  providerId: string,
  options: object = {},
  browser: Browser = { cookies: {} },
): Promise<SignedIn> {
  const callbackUrl = await authorizeAtProvider(idp, await start(app, browser, providerId, options))
  const page = await openCallback(app, browser, callbackUrl)
  const get = (path: string) => app.fetch(CONSOLE_API + path, { headers: { cookie: cookieHeader(browser) } })
  return {
    ...browser,
    page,
    get,
    async call(method, path, body) {
      const { csrf } = (await get('/session')).body.data
      return app.fetch(CONSOLE_API + path, {
        method,
        headers: { cookie: cookieHeader(browser), 'x-csrf-token': csrf, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    },
  }
}

const failureOf = ({ page }: SignedIn) => new URLSearchParams(page.split('#')[1]).get('failure')

test('a person of the provider signs in, becomes a member, and has access to this organisation only', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Other organisation')
  await signInMember(app, otherOrgId, 'owner', 'asha@metro.example')
  const options = (await app.fetch(`${CONSOLE_API}/sign-in?org=${orgId}`)).body.data
  assert.deepEqual(options.providers, [{ provider_id: providerId, name: 'Metro ID', for_operators: false }])

  const started = await app.fetch(`${CONSOLE_API}/sign-in/provider`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider_id: providerId }),
  })
  const cookieAttributes = started.headers.get('set-cookie')!.split('; ').slice(1)
  // A browser would not accept a cookie with Secure from this server, which uses plain HTTP.
  assert.deepEqual(cookieAttributes, ['Path=/console/api/sign-in/callback', 'HttpOnly', 'SameSite=Lax', 'Max-Age=600'])

  const returnTo = `/console/${orgId}/test/results?status=completed`
  const asha = await signInWithProvider(app, idp, providerId, { return_to: returnTo })
  assert.equal(asha.page, returnTo)
  const session = (await asha.get('/session')).body.data
  assert.deepEqual([session.kind, session.email, session.provider.name], ['person', 'asha@metro.example', 'Metro ID'])
  assert.deepEqual(
    session.organisations.map(({ org_id, role }: any) => [org_id, role]),
    [[orgId, 'viewer']],
  )
  assert.equal((await asha.get(`/orgs/${orgId}`)).status, 200)
  assert.equal((await asha.get(`/orgs/${otherOrgId}`)).status, 404, 'an organisation with the same address as a member')
  assert.equal((await asha.get('/sessions')).body.data.items.length, 1, 'sessions of the other sign-in are not listed')

  const { items } = (await owner.get(`/orgs/${orgId}/audit?limit=2`)).body.data
  assert.deepEqual(
    items.map(({ action, who, details }: any) => [action, who, details.provider_id]),
    [
      ['session.begin', 'asha@metro.example', providerId],
      ['member.add', 'server', providerId],
    ],
  )
  for (const unsafePath of ['https://evil.example/console', '//evil.example/console', '/console/api/session']) {
    const again = await signInWithProvider(app, idp, providerId, { return_to: unsafePath })
    assert.equal(again.page, '/console')
  }
})

test('the provider of an organisation cannot sign in an operator', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const operator = await signIn(app)
  const providerId = await saveProvider(owner, orgId, { ...settingsFor(idp), allowed_domains: ['example.com'] })
  idp.account = { sub: 'account-9', email: operator.email, email_verified: true }
  const impostor = await signInWithProvider(app, idp, providerId)
  const session = (await impostor.get('/session')).body.data
  assert.deepEqual([session.kind, session.email, session.organisations.length], ['person', operator.email, 1])
  assert.equal((await impostor.get('/operator/orgs')).status, 403)
  await impostor.call('POST', '/sign-out/everywhere')
  assert.equal((await operator.get('/operator/orgs')).status, 200, 'the session of the operator is not ended')
})

test('groups decide on the role at every sign-in, and people without a role are rejected', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, {
    ...settingsFor(idp),
    default_role: null,
    role_mappings: [
      { group: 'recruiters', role: 'recruiter' },
      { group: 'admins', role: 'owner' },
    ],
  })
  const roleWith = async (groups: unknown, email = 'asha@metro.example', sub = 'account-1') => {
    idp.account = { sub, email, email_verified: true, groups }
    const person = await signInWithProvider(app, idp, providerId)
    return failureOf(person) ?? (await person.get('/session')).body.data.organisations[0].role
  }
  assert.equal(await roleWith(['recruiters', 'other']), 'recruiter')
  assert.equal(await roleWith(['recruiters', 'admins']), 'owner')
  assert.equal(await roleWith('recruiters'), 'recruiter')
  assert.equal(await roleWith(['other']), 'no_role')
  assert.equal(await roleWith(undefined), 'no_role')
  const members = (await owner.get(`/orgs/${orgId}/members`)).body.data.items
  const { member_id } = members.find(({ email }: any) => email === 'asha@metro.example')
  await owner.delete(`/orgs/${orgId}/members/${member_id}`)
  assert.equal(await roleWith(['recruiters'], 'owner@metro.example', 'account-2'), 'owner', 'the only owner')
})

test('addresses that are unverified, missing or of another domain are rejected', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const failureWith = async (claims: object) => {
    idp.account = { sub: 'account-1', ...claims }
    return failureOf(await signInWithProvider(app, idp, providerId))
  }
  assert.equal(await failureWith({ email: 'owner@metro.example' }), 'email_unverified')
  assert.equal(await failureWith({ email: 'owner@metro.example', email_verified: false }), 'email_unverified')
  assert.equal(
    await failureWith({ email: 'owner@metro.example', email_verified: false, xms_edov: true }),
    'email_unverified',
  )
  assert.equal(await failureWith({ email_verified: true }), 'email_missing')
  assert.equal(await failureWith({ email: 'Kevin\u212A@metro.example', email_verified: true }), 'email_missing')
  assert.equal(await failureWith({ email: 'asha@evil.example', email_verified: true }), 'domain_not_allowed')
  assert.equal(await failureWith({ email: 'asha@x.metro.example', email_verified: true }), 'domain_not_allowed')
  assert.equal(await failureWith({ email: 'asha@metro.example', xms_edov: true }), null)
  const { items } = (await owner.get(`/orgs/${orgId}/audit`)).body.data
  const failures = items.filter(({ action }: any) => action === 'session.fail')
  assert.ok(failures.some(({ details }: any) => details.reason === 'domain_not_allowed'))
})

test('an account keeps its person: a new address is adopted, and another account with the same address is rejected', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const namesOf = async () =>
    (await owner.get(`/orgs/${orgId}/members`)).body.data.items.map(({ email, name }: any) => [email, name])
  idp.account = { ...idp.account, name: 'Asha Rao' }
  const first = await signInWithProvider(app, idp, providerId)
  assert.equal(first.page, '/console')
  idp.account = { ...idp.account, sub: 'account-2' }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'account_changed')
  idp.account = { ...idp.account, sub: 'account-1', email: 'asha.rao@metro.example', name: 'A. Rao' }
  const renamed = await signInWithProvider(app, idp, providerId)
  assert.equal((await renamed.get('/session')).body.data.email, 'asha.rao@metro.example')
  assert.equal((await first.get('/session')).status, 401, 'sessions with the previous address end')
  assert.deepEqual(
    await namesOf(),
    [
      ['asha.rao@metro.example', 'Asha Rao'],
      ['owner@metro.example', null],
    ],
    'the provider gives a member without a name its name, and does not replace a name',
  )
  idp.account = { ...idp.account, email: 'owner@metro.example' }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'account_changed', 'of another member')
})

test('a removed member loses the sessions with the provider at once', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const asha = await signInWithProvider(app, idp, providerId)
  const { orgId: otherOrgId } = await app.fixtures.createOrg()
  const elsewhere = await signInMember(app, otherOrgId, 'viewer', 'asha@metro.example')
  const members = (await owner.get(`/orgs/${orgId}/members`)).body.data.items
  const { member_id } = members.find(({ email }: any) => email === 'asha@metro.example')
  assert.equal((await owner.delete(`/orgs/${orgId}/members/${member_id}`)).status, 200)
  assert.equal((await asha.get('/session')).status, 401)
  assert.equal((await elsewhere.get('/session')).status, 200)
  idp.account = { ...idp.account, sub: 'account-2' }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), null, 'a new colleague with the address')
})

test('responses with a wrong state, nonce, audience, issuer or signature, or of another browser, are rejected', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const failures = async (change: (url: URL) => void) => {
    const browser = { cookies: {} }
    const url = new URL(await start(app, browser, providerId))
    change(url)
    const page = await openCallback(app, browser, await authorizeAtProvider(idp, url.href))
    return failureOf({ page } as SignedIn)
  }
  assert.equal(await failures((url) => url.searchParams.set('nonce', 'another-nonce')), 'invalid_response')
  assert.equal(await failures((url) => url.searchParams.set('state', 'another-state')), 'expired')
  assert.equal(
    await failures((url) => url.searchParams.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')),
    'invalid_response',
  )
  for (const replaced of [
    { aud: 'another-client' },
    { iss: 'https://another.example' },
    { aud: [CLIENT.client_id, 'another-client'], azp: 'another-client' },
  ]) {
    idp.replacedClaims = replaced
    assert.equal(
      failureOf(await signInWithProvider(app, idp, providerId)),
      'invalid_response',
      JSON.stringify(replaced),
    )
  }
  idp.replacedClaims = undefined

  const callbackUrl = await authorizeAtProvider(idp, await start(app, { cookies: {} }, providerId))
  assert.match(await openCallback(app, { cookies: {} }, callbackUrl), /#failure=expired$/, 'another browser')
  const browser = { cookies: {} }
  const lateUrl = await authorizeAtProvider(idp, await start(app, browser, providerId))
  app.clock.advance(10 * MINUTE)
  assert.match(await openCallback(app, browser, lateUrl), /#failure=expired$/, 'after ten minutes')
  assert.equal((await app.context.db.pool.query('select from console_identities')).rows.length, 0)
})

test('a response of the provider of another organisation is rejected before its code is sent anywhere', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  await saveProvider(owner, orgId, settingsFor(idp))
  const { orgId: attackerOrgId } = await app.fixtures.createOrg()
  const attacker = await signInMember(app, attackerOrgId, 'owner', 'attacker@evil.example')
  const attackerIdp = await startIdentityProvider(t, app.url, attackerOrgId)
  const attackerProviderId = await saveProvider(attacker, attackerOrgId, settingsFor(attackerIdp))
  const browser = { cookies: {} }
  const url = new URL(await start(app, browser, attackerProviderId))
  // The provider of the attacker sends the person to the other provider, which may be open in their browser.
  const redirectedUrl = new URL(`${idp.issuer}/auth${url.search}`)
  redirectedUrl.searchParams.set('redirect_uri', `${app.url}${CONSOLE_API}/sign-in/callback/${orgId}`)
  const callbackUrl = await authorizeAtProvider(idp, redirectedUrl.href)
  assert.match(callbackUrl, /[?&]code=/)
  const page = await openCallback(app, browser, callbackUrl)
  assert.equal(page, `/console/sign-in?org=${attackerOrgId}#failure=other_provider`)
  assert.ok(!attackerIdp.requests.includes('POST /token'))
  const [entry] = (await attacker.get(`/orgs/${attackerOrgId}/audit?limit=1`)).body.data.items
  assert.deepEqual(
    [entry.action, entry.details.reason],
    ['session.fail', `other_provider: the response came to the redirect URI of ${orgId}`],
  )
})

test('an expired ID token is rejected, and clocks may differ by a minute', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  idp.idTokenSeconds = 10
  app.clock.set(Date.now() + 40 * SECOND)
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), null)
  app.clock.set(Date.now() + 2 * MINUTE)
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'invalid_response')
})

test('a new signing key of the provider is used at once, and a token of an unknown key is rejected', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), null)
  await idp.rotateKeys()
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), null)
  const other = await startIdentityProvider(t, app.url, orgId)
  idp.replacedMetadata = { jwks_uri: `${other.issuer}/jwks` }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'invalid_response')
})

test('a provider that cannot be reached or denies access gives a clear error, and email still works', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  idp.error = 'access_denied'
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'denied')
  idp.error = undefined
  const browser = { cookies: {} }
  const callbackUrl = await authorizeAtProvider(idp, await start(app, browser, providerId))
  await idp.stop()
  assert.match(await openCallback(app, browser, callbackUrl), /#failure=unreachable$/)
  const response = await app.fetch(`${CONSOLE_API}/sign-in/provider`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider_id: providerId }),
  })
  assert.deepEqual([response.status, response.body.error.code], [502, 'IDENTITY_PROVIDER_FAILED'])
  assert.equal((await owner.get(`/orgs/${orgId}`)).status, 200)
  await idp.start()
  // An address from the metadata is checked like the URL of a webhook.
  idp.replacedMetadata = { token_endpoint: 'http://10.0.0.1/token' }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'unreachable')
  idp.replacedMetadata = { jwks_uri: 'https://169.254.169.254/jwks' }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'unreachable')
})

test('settings are checked, and the client secret is stored encrypted and never returned', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const path = `/orgs/${orgId}/identity-provider`
  const settings = settingsFor(idp)
  const errorOf = async (changes: object) => {
    const { status, body } = await owner.put(path, { ...settings, ...changes })
    assert.equal(status, 400, JSON.stringify(body))
    return `${body.error.details[0].path}: ${body.error.details[0].message}`
  }
  assert.match(await errorOf({ issuer: 'http://10.0.0.1' }), /^issuer: must not be a private address/)
  assert.match(await errorOf({ issuer: 'http://169.254.169.254/latest' }), /^issuer: must not be/)
  assert.match(await errorOf({ issuer: 'http://metro.example' }), /^issuer: must be an https URL/)
  assert.match(await errorOf({ issuer: app.url }), /^issuer: has no usable OpenID Connect metadata/)
  assert.match(await errorOf({ allowed_domains: [] }), /^allowed_domains/)
  assert.match(await errorOf({ allowed_domains: ['metro'] }), /^allowed_domains\[0\]: must be a domain/)
  assert.match(await errorOf({ default_role: 'operator' }), /^default_role/)
  assert.match(await errorOf({ default_role: null }), /^default_role: is required/)
  assert.match(await errorOf({ required: true }), /^required: can be switched on after a sign-in/)
  idp.isCompressed = true
  assert.match(await errorOf({}), /^issuer: .* sent a compressed response/)
  idp.isCompressed = false
  await saveProvider(owner, orgId, settings)
  const { client_secret: _, ...withoutSecret } = settings
  await saveProvider(owner, orgId, { ...withoutSecret, name: 'New name' })
  const { body } = await owner.get(path)
  assert.equal(body.data.provider.has_client_secret, true)
  assert.equal(body.data.redirect_uri, `${app.url}${CONSOLE_API}/sign-in/callback/${orgId}`)
  assert.ok(!JSON.stringify(body).includes(CLIENT.client_secret))
  const { rows } = await app.context.db.pool.query('select client_secret from identity_providers')
  assert.ok(!rows[0].client_secret.toString().includes(CLIENT.client_secret))

  const viewer = await signInMember(app, orgId, 'recruiter')
  assert.equal((await viewer.get(path)).status, 403)
  const { orgId: otherOrgId } = await app.fixtures.createOrg()
  const otherOwner = await signInMember(app, otherOrgId, 'owner')
  assert.equal((await otherOwner.get(path)).status, 404)
  assert.equal((await otherOwner.get(`/orgs/${otherOrgId}/identity-provider`)).body.data.provider, null)
  app.clock.advance(16 * MINUTE)
  assert.equal((await owner.put(path, settings)).body.error.code, 'RECENT_SIGN_IN_REQUIRED')
})

test('a required provider is the only way to sign in, until an operator makes it optional', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, { ...settingsFor(idp), default_role: 'owner' })
  const path = `/orgs/${orgId}/identity-provider`
  const required = { ...settingsFor(idp), default_role: 'owner', required: true }
  const rejected = await owner.put(path, required)
  assert.match(rejected.body.error.details[0].message, /only in a session with this provider/)
  const asha = await signInWithProvider(app, idp, providerId, { fresh: true })
  assert.equal((await asha.call('PUT', path, required)).status, 200)

  const response = await owner.get(`/orgs/${orgId}/members`)
  assert.deepEqual([response.status, response.body.error.code], [403, 'IDENTITY_PROVIDER_REQUIRED'])
  assert.match(response.body.error.message, new RegExp(`/console/sign-in\\?org=${orgId}`))
  assert.equal((await owner.get('/session')).body.data.organisations[0].provider_required, true)
  assert.equal((await asha.get(`/orgs/${orgId}/members`)).status, 200)
  const added = await asha.call('POST', `/orgs/${orgId}/members`, { email: 'ravi@metro.example', role: 'viewer' })
  assert.equal(added.status, 201)
  const [invitation] = await listEmails(app.context.db.queries, { kind: 'invitation', limit: 1 })
  const { text } = await getEmail(app.context.db.queries, app.context.vault, invitation!.mail_id)
  assert.match(text, new RegExp(`sign in with .*\\n\\n\\S+/console/sign-in\\?org=${orgId}\\s`))
  assert.ok(!text.includes('token'), 'an invitation leads to the provider')
  const operator = await signIn(app)
  assert.equal((await operator.put(path, { ...required, required: false })).status, 200)
  assert.equal((await owner.get(`/orgs/${orgId}/members`)).status, 200)
  assert.equal((await operator.delete(path)).status, 200)
  assert.equal((await asha.get('/session')).status, 401, 'the sessions of a removed provider end')
})

test('a sensitive change requires a new authentication at the provider', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, { ...settingsFor(idp), default_role: 'owner' })
  const browser: Browser = { cookies: {} }
  const asha = await signInWithProvider(app, idp, providerId, {}, browser)
  const addMember = (user: SignedIn, email: string) =>
    user.call('POST', `/orgs/${orgId}/members`, { email, role: 'viewer' })
  const unconfirmed = await addMember(asha, 'first@metro.example')
  assert.equal(unconfirmed.body.error.code, 'RECENT_SIGN_IN_REQUIRED', 'the time of the authentication is unknown')
  await app.context.db.pool.query(
    `insert into console_authenticator_apps (app_id, email, secret, confirmed_at, created_at)
     values ('TA_X', 'asha@metro.example', $1, now(), now())`,
    [app.context.vault.seal('secret', 'secret of the test')],
  )
  const mail = await asha.call('POST', '/confirmation/mail')
  assert.deepEqual([mail.status, mail.body.error.code], [409, 'CONFLICT'])
  assert.match(mail.body.error.message, /^You signed in with an identity provider/, 'not that the address has an app')

  const previousCookie = { ...browser.cookies }
  const url = new URL(await start(app, browser, providerId, { fresh: true }))
  assert.deepEqual([url.searchParams.get('prompt'), url.searchParams.get('max_age')], ['login', '300'])
  const confirmed = await signInWithProvider(app, idp, providerId, { fresh: true }, browser)
  assert.equal((await addMember(confirmed, 'first@metro.example')).status, 201)
  const previous = await app.fetch(`${CONSOLE_API}/session`, {
    headers: { cookie: cookieHeader({ cookies: previousCookie }) },
  })
  assert.equal(previous.status, 401, 'the previous session has ended')
  app.clock.advance(15 * MINUTE)
  assert.equal((await addMember(confirmed, 'second@metro.example')).status, 403)

  app.clock.set(Date.now())
  idp.replacedClaims = { auth_time: Math.floor(Date.now() / 1000) - HOUR / SECOND }
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId, { fresh: true })), 'invalid_response')
})

test('signing out returns the page that ends the session at the provider', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const asha = await signInWithProvider(app, idp, providerId)
  const { body } = await asha.call('POST', '/sign-out')
  const url = new URL(body.data.provider_sign_out_url)
  assert.equal(url.origin + url.pathname, `${idp.issuer}/session/end`)
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${app.url}/console/sign-in`)
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await owner.post('/sign-out')).body.data.provider_sign_out_url, null)
})

test("operators sign in with the operators' provider, and it can be required", async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const operator = await signIn(app)
  const path = '/operator/identity-provider'
  const settings = {
    ...settingsFor(idp),
    default_role: null,
    role_mappings: [{ group: 'platform', role: 'operator' }],
  }
  assert.equal((await operator.put(path, { ...settings, role_mappings: [{ group: 'x', role: 'owner' }] })).status, 400)
  const saved = await operator.put(path, settings)
  assert.equal(saved.status, 200, JSON.stringify(saved.body))
  const { provider_id } = saved.body.data.provider
  assert.equal(failureOf(await signInWithProvider(app, idp, provider_id)), 'no_role')
  idp.account.groups = ['platform']
  const asha = await signInWithProvider(app, idp, provider_id, { fresh: true })
  assert.equal((await asha.get('/session')).body.data.kind, 'operator')
  const { items } = (await asha.get('/operator/operators')).body.data
  assert.ok(
    items.some(({ email }: any) => email === 'asha@metro.example'),
    'operators are named people',
  )
  assert.equal((await asha.call('PUT', path, { ...settings, required: true })).status, 200)
  assert.equal((await operator.get('/operator/orgs')).status, 403)
  assert.equal((await operator.get('/session')).body.data.kind, 'person')
  assert.equal((await asha.get('/operator/orgs')).status, 200)

  const member = await owner.post(`/orgs/${orgId}/members`, { email: 'asha@metro.example', role: 'viewer' })
  assert.equal((await owner.delete(`/orgs/${orgId}/members/${member.body.data.member_id}`)).status, 200)
  assert.equal((await asha.get('/operator/orgs')).status, 200, 'the end of a membership does not end the session')

  const { operator_id } = items.find(({ email }: any) => email === 'asha@metro.example')
  assert.equal((await asha.call('DELETE', `/operator/operators/${operator_id}`)).status, 200)
  assert.equal((await asha.get('/session')).status, 401)
  assert.equal(failureOf(await signInWithProvider(app, idp, provider_id)), 'operator_removed')
  await app.context.db.transaction((tx) => addOperator(tx, app.clock, 'asha@metro.example'))
  idp.account = { ...idp.account, sub: 'account-2' }
  assert.equal(failureOf(await signInWithProvider(app, idp, provider_id)), null, 'a new colleague with the address')
})

test('a user whom the provider has deactivated with SCIM cannot sign in, and a provisioned group gives the role', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const providerId = await saveProvider(owner, orgId, {
    ...settingsFor(idp),
    default_role: null,
    role_mappings: [{ group: 'Recruiters', role: 'recruiter' }],
  })
  const { token } = (await owner.post(`/orgs/${orgId}/identity-provider/scim-token`)).body.data
  const scim = (method: string, path: string, body: object) =>
    app.fetch(`/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    })
  const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
  const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
  const { id } = (await scim('POST', '/Users', { schemas: [userSchema], userName: 'asha@metro.example' })).body
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'no_role')
  await scim('POST', '/Groups', { schemas: [groupSchema], displayName: 'Recruiters', members: [{ value: id }] })
  const asha = await signInWithProvider(app, idp, providerId)
  assert.equal((await asha.get('/session')).body.data.organisations[0].role, 'recruiter')
  const renamed = { schemas: [userSchema], userName: 'asha.rao@metro.example' }
  assert.equal((await scim('PUT', `/Users/${id}`, renamed)).status, 200)
  idp.account = { ...idp.account, email: 'asha.rao@metro.example' }
  const asha2 = await signInWithProvider(app, idp, providerId)
  assert.equal(failureOf(asha2), null, 'after a new address')
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  }
  assert.equal((await scim('PATCH', `/Users/${id}`, body)).status, 200)
  assert.equal((await asha2.get('/session')).status, 401)
  assert.equal(failureOf(await signInWithProvider(app, idp, providerId)), 'deactivated')
})

test('a person who signed in with a provider chooses the language of emails for this organisation only', async (t) => {
  const { app, idp, orgId, owner } = await startWithProvider(t)
  const { context } = app
  const providerId = await saveProvider(owner, orgId, settingsFor(idp))
  const { orgId: otherOrgId, key } = await app.fixtures.createOrg('Other organisation')
  const byEmail = await signInMember(app, otherOrgId, 'owner', 'asha@metro.example')
  const byProvider = await signInWithProvider(app, idp, providerId)
  assert.equal((await byEmail.put('/account/language', { language: 'en' })).status, 200)
  const chosen = await byProvider.call('PUT', '/account/language', { language: 'hi' })
  assert.deepEqual([chosen.status, chosen.body.data.language], [200, 'hi'])
  assert.equal((await byProvider.get('/session')).body.data.language, 'hi')

  const hook = await app.as(key).post('/webhooks', { url: 'https://partner.example/hook' })
  await context.db.transaction((tx) => endpointFailing.run(tx, context, hook.body.data.webhook_id))
  const [email] = await listEmails(context.db.queries, { kind: 'notice', limit: 1 })
  const { subject } = await getEmail(context.db.queries, context.vault, email!.mail_id)
  assert.equal(subject, 'A webhook endpoint of Other organisation is failing')
})
