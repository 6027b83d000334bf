import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { createAuthenticator, type ResponseParts } from '../../../test/support/authenticator.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { CONSOLE_API, signInMember } from '../../../test/support/console.ts'
import { MINUTE, SECOND } from '../../platform/clock.ts'

const WRONG_PARTS: [name: string, parts: Partial<ResponseParts>][] = [
  ['another challenge', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
  ['another website', { origin: 'http://localhost:8080' }],
  ['another domain', { rpId: 'example.com' }],
  ['another operation', { type: 'payment.get' }],
  ['no user present', { isPresent: false }],
  ['no fingerprint, face or PIN', { isVerified: false }],
]

/** Starts a server with a domain name, and signs in a member. */
const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  app.context.config.publicUrl = 'http://localhost'
  const { orgId } = await app.fixtures.createOrg()
  const member = await signInMember(app, orgId, 'owner')
  const readChallenge = (response: { body: any }) => response.body.data.options.challenge as string
  return {
    app,
    orgId,
    member,
    requestCreation: async () => readChallenge(await member.post('/account/passkeys/options')),
    requestSignIn: async () => readChallenge(await post('/sign-in/passkey/options', {})),
    post,
  }

  function post(path: string, body: object) {
    app.clock.advance(SECOND)
    return app.fetch(CONSOLE_API + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
})

test('a passkey is stored only if every part of the response is right', async () => {
  const { app, member, requestCreation } = await setUp()
  const authenticator = createAuthenticator()
  const add = async (parts: Partial<ResponseParts>, name = 'Phone') =>
    member.post('/account/passkeys', {
      name,
      response: authenticator.register({ challenge: await requestCreation(), ...parts }),
    })
  for (const [name, parts] of WRONG_PARTS) assert.equal((await add(parts)).body.error?.code, 'UNAUTHORIZED', name)
  const late = await requestCreation()
  app.clock.advance(5 * MINUTE)
  assert.equal((await add({ challenge: late })).status, 401, 'a challenge is valid for 5 minutes')
  assert.equal((await add({})).body.data.name, 'Phone')
  assert.match((await add({})).body.error.message, /already registered/)
  const { passkeys, passkeys_supported } = (await member.get('/account/factors')).body.data
  assert.deepEqual([passkeys.map(({ name }: any) => name), passkeys_supported], [['Phone'], true])
})

test('transports that are not a list of names are ignored', async () => {
  const { app, orgId } = await setUp()
  const member = await signInMember(app, orgId, 'viewer')
  for (const transports of ['usb', 7, {}, { length: 2 }, null, ['usb', 7, 'USB 3', { toString: 7 }, ['nfc']]]) {
    app.clock.advance(SECOND)
    const { challenge } = (await member.post('/account/passkeys/options')).body.data.options
    const response: any = createAuthenticator().register({ challenge })
    response.response.transports = transports
    const { status, body } = await member.post('/account/passkeys', { name: 'Phone', response })
    assert.equal(status, 201, JSON.stringify([transports, body]))
  }
  const { excludeCredentials } = (await member.post('/account/passkeys/options')).body.data.options
  assert.deepEqual(
    excludeCredentials.flatMap((each: { transports: string[] }) => each.transports),
    ['usb'],
  )
})

test('a person has at most 20 passkeys', async () => {
  const { app, orgId } = await setUp()
  const member = await signInMember(app, orgId, 'viewer')
  for (let count = 0; count < 20; count++) {
    app.clock.advance(SECOND)
    const { body } = await member.post('/account/passkeys/options')
    assert.equal(body.data.options.excludeCredentials.length, count)
    const response = createAuthenticator().register({ challenge: body.data.options.challenge })
    assert.equal((await member.post('/account/passkeys', { name: `${count}`, response })).status, 201)
  }
  const { status, body } = await member.post('/account/passkeys/options')
  assert.equal(status, 409)
  assert.equal(body.error.message, 'You have 20 passkeys; remove one before you add another.')
})

test('a passkey signs in only if every part of the response is right, and each challenge once', async () => {
  const { app, orgId, post, requestSignIn } = await setUp()
  const member = await signInMember(app, orgId, 'recruiter')
  const authenticator = createAuthenticator()
  const { challenge } = (await member.post('/account/passkeys/options')).body.data.options
  const added = await member.post('/account/passkeys', { name: 'Key', response: authenticator.register({ challenge }) })
  const signIn = async (parts: Partial<ResponseParts>) =>
    post('/sign-in/passkey', {
      response: authenticator.signIn({ challenge: await requestSignIn(), counter: 1, ...parts }),
    })
  for (const [name, parts] of WRONG_PARTS) assert.equal((await signIn(parts)).status, 401, name)
  const challengeOnce = await requestSignIn()
  const signedIn = await signIn({ challenge: challengeOnce })
  assert.deepEqual([signedIn.status, signedIn.body.data.email], [200, member.email])
  assert.equal((await signIn({ challenge: challengeOnce, counter: 2 })).status, 401, 'a challenge is valid once')
  assert.equal((await signIn({ counter: 1 })).status, 401, 'a copy of the passkey has an old counter')
  assert.equal((await signIn({ counter: 2 })).status, 200)
  const [{ last_used_at }] = (await member.get('/account/factors')).body.data.passkeys
  assert.equal(last_used_at, new Date(app.clock.now()).toISOString())
  assert.equal((await member.delete(`/account/passkeys/${added.body.data.passkey_id}`)).status, 200)
  assert.equal((await signIn({ counter: 3 })).status, 401, 'the passkey was removed')
})

test('a passkey confirms only the session that requested it, of its own person', async () => {
  const { app, orgId } = await setUp()
  const [asha, ravi] = [await signInMember(app, orgId, 'viewer'), await signInMember(app, orgId, 'viewer')]
  const authenticator = createAuthenticator()
  const { challenge } = (await asha.post('/account/passkeys/options')).body.data.options
  await asha.post('/account/passkeys', { name: 'Key', response: authenticator.register({ challenge }) })
  app.clock.advance(16 * MINUTE)
  assert.equal((await asha.post('/account/passkeys/options')).body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  const request = async (member: typeof asha) =>
    (await member.post('/confirmation/passkey/options')).body.data.options.challenge as string
  const confirm = async (member: typeof asha, requested: string, counter: number) =>
    (await member.post('/confirmation/passkey', { response: authenticator.signIn({ challenge: requested, counter }) }))
      .status
  assert.equal(await confirm(ravi, await request(ravi), 1), 400, 'the passkey of another person')
  assert.equal(await confirm(asha, await request(ravi), 1), 400, 'the challenge of another session')
  assert.equal(await confirm(asha, await request(asha), 1), 200)
  assert.equal((await asha.post('/account/passkeys/options')).status, 200)
})
