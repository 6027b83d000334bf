import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { decodeBase32 } from '../../../test/support/base32.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { CONSOLE_API, createTestSignInLink, signIn, signInMember } from '../../../test/support/console.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { findMemberByEmail } from '../auth/members.ts'
import { createInvitation } from '../auth/sign-in-links.ts'
import { totpAt } from './totp.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function startWithResetLimits(): Promise<TestApp> {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  return app
}

/** Adds a member who has set up an authenticator app. */
async function addMemberWithApp(app: TestApp) {
  const { orgId } = await app.fixtures.createOrg()
  const member = await signInMember(app, orgId, 'owner')
  const { body } = await member.post('/account/authenticator-app')
  const secret = decodeBase32(body.data.secret)
  const codeAt = (time: number) => totpAt(secret, time)
  const codeNow = () => codeAt(app.clock.now())
  const confirmation = await member.post('/account/authenticator-app/confirm', { code: codeNow() })
  assert.equal(confirmation.status, 200, JSON.stringify(confirmation.body))
  return {
    orgId,
    member,
    codeAt,
    codeNow,
    recoveryCodes: confirmation.body.data.recovery_codes as string[],
    setup: body.data,
  }
}

async function openLink(app: TestApp, email: string, code?: string, link?: string) {
  const url = link ?? (await createTestSignInLink(app, email))
  return app.fetch(`${CONSOLE_API}/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: url.split('#token=')[1], ...(code === undefined ? {} : { code }) }),
  })
}

test('codes are those of RFC 6238', () => {
  const secret = Buffer.from('12345678901234567890')
  assert.equal(totpAt(secret, 59 * SECOND), '287082')
  assert.equal(totpAt(secret, 1_111_111_109 * SECOND), '081804')
  assert.equal(totpAt(secret, 20_000_000_000 * SECOND), '353130')
})

test('with an authenticator app, a sign-in link also requires a code, which works once', async () => {
  const app = await startWithResetLimits()
  const { orgId, member, codeNow, setup } = await addMemberWithApp(app)
  assert.match(setup.qr_code, /^data:image\/svg\+xml;base64,/)
  const link = await createTestSignInLink(app, member.email)
  const withoutCode = await openLink(app, member.email, undefined, link)
  assert.deepEqual([withoutCode.status, withoutCode.body.error.code], [401, 'SECOND_FACTOR_REQUIRED'])
  const invitation = await app.context.db.transaction(async (tx) =>
    createInvitation(tx, app.clock, (await findMemberByEmail(tx, orgId, member.email))!),
  )
  const invited = await openLink(app, member.email, undefined, `#token=${invitation}`)
  assert.equal(invited.body.error.code, 'SECOND_FACTOR_REQUIRED', 'also for an invitation')
  const replayed = await openLink(app, member.email, codeNow(), link)
  assert.equal(replayed.status, 400, 'the code that confirmed the app')
  app.clock.advance(MINUTE)
  assert.equal((await openLink(app, member.email, '000000', link)).status, 400)
  const failures = await app.context.db.pool.query(
    `select from audit_log where action = 'session.fail' and details ->> 'reason' = 'wrong second factor code'`,
  )
  assert.equal(failures.rows.length, 2, 'wrong codes are in the audit log')
  const code = codeNow()
  app.clock.advance(30 * SECOND)
  const response = await openLink(app, member.email, code, link)
  assert.equal(response.status, 200, 'the previous code, with the same link')
  assert.equal((await openLink(app, member.email, code)).status, 400, 'the same code again')
  app.clock.advance(2 * MINUTE)
  assert.equal((await openLink(app, member.email, code)).status, 400, 'an old code')
  const { rows } = await app.context.db.pool.query('select secret from console_authenticator_apps')
  assert.ok(rows.every(({ secret }) => !secret.toString('latin1').includes(setup.secret)))
})

test('a code is accepted in its own half minute and in the ones before and after it', async () => {
  const app = await startWithResetLimits()
  const { member, codeAt } = await addMemberWithApp(app)
  for (const [steps, status] of [
    [-2, 400],
    [2, 400],
    [-1, 200],
    [0, 200],
    [1, 200],
  ] as const) {
    app.clock.advance(5 * MINUTE)
    const code = codeAt(app.clock.now() + steps * 30 * SECOND)
    assert.equal((await openLink(app, member.email, code)).status, status, `${steps} steps`)
  }
})

test('a recovery code works once, and removing the app removes the requirement', async () => {
  const app = await startWithResetLimits()
  const { member, recoveryCodes } = await addMemberWithApp(app)
  assert.equal(new Set(recoveryCodes).size, 10)
  assert.equal((await openLink(app, member.email, recoveryCodes[0]!.toLowerCase())).status, 200)
  assert.equal((await openLink(app, member.email, recoveryCodes[0])).status, 400)
  const other = await addMemberWithApp(app)
  assert.equal((await openLink(app, member.email, other.recoveryCodes[0])).status, 400, 'of another person')
  assert.equal((await member.get('/account/factors')).body.data.recovery_codes_left, 9)
  assert.equal((await member.post('/account/authenticator-app')).status, 409, 'there is an app')
  app.clock.advance(16 * MINUTE)
  const response = await member.delete('/account/authenticator-app')
  assert.equal(response.body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  assert.equal((await member.post('/confirmation', { code: recoveryCodes[1] })).status, 200)
  assert.equal((await member.delete('/account/authenticator-app')).status, 200)
  assert.equal((await openLink(app, member.email)).status, 200)
})

test('codes cannot be guessed: the attempts of a person are limited', async () => {
  const app = await startWithResetLimits()
  const { member, codeNow } = await addMemberWithApp(app)
  app.clock.advance(MINUTE)
  const link = await createTestSignInLink(app, member.email)
  const wrongCode = codeNow() === '111111' ? '222222' : '111111'
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt++)
    statuses.push((await openLink(app, member.email, wrongCode, link)).status)
  assert.deepEqual(statuses, [...Array(10).fill(400), 429])
  assert.equal((await openLink(app, member.email, codeNow(), link)).status, 429)
})

test('a person with an app confirms a sensitive change with it, and not by email', async () => {
  const app = await startWithResetLimits()
  const { member, codeNow, orgId } = await addMemberWithApp(app)
  app.clock.advance(16 * MINUTE)
  const addMember = () => member.post(`/orgs/${orgId}/members`, { email: 'new@example.com', role: 'viewer' })
  assert.equal((await addMember()).body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  assert.equal((await member.post('/confirmation/mail')).status, 409)
  assert.equal((await member.post('/confirmation', { code: '00000000' })).status, 400)
  assert.equal((await member.post('/confirmation', { code: codeNow() })).status, 200)
  assert.equal((await addMember()).status, 201)
})

test('a removed member loses the app, so that a later owner of the address does not need it', async () => {
  const app = await startWithResetLimits()
  const { member, orgId } = await addMemberWithApp(app)
  const owner = await signInMember(app, orgId, 'owner')
  const members = (await owner.get(`/orgs/${orgId}/members`)).body.data.items
  const { member_id } = members.find(({ email }: any) => email === member.email)
  assert.equal((await owner.delete(`/orgs/${orgId}/members/${member_id}`)).status, 200)
  await owner.post(`/orgs/${orgId}/members`, { email: member.email, role: 'viewer' })
  assert.equal((await openLink(app, member.email)).status, 200)
})

test('invalid passkeys are rejected, and a server without a domain name has none', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const member = await signInMember(app, orgId, 'owner')
  assert.equal((await member.post('/account/passkeys/options')).status, 409, 'the host is an IP address')
  const { publicUrl } = app.context.config
  app.context.config.publicUrl = 'http://localhost'
  try {
    const { body } = await member.post('/account/passkeys/options')
    assert.deepEqual([body.data.options.rp.id, body.data.options.user.name], ['localhost', member.email])
    assert.equal(body.data.options.authenticatorSelection.userVerification, 'required')
    const response = {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON: 'e30', attestationObject: 'oA', authenticatorData: 'AA', signature: 'AA' },
      clientExtensionResults: {},
    }
    assert.equal((await member.post('/account/passkeys', { name: 'Laptop', response })).status, 401)
    assert.equal((await member.post('/confirmation/passkey', { response })).status, 400)
    const signInResponse = await app.fetch(`${CONSOLE_API}/sign-in/passkey`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response }),
    })
    assert.equal(signInResponse.status, 401)
    assert.equal((await signIn(app, member.email).then((user) => user.get('/account/factors'))).status, 200)
    app.clock.advance(16 * MINUTE)
    assert.equal((await member.post('/account/passkeys/options')).body.error.code, 'RECENT_SIGN_IN_REQUIRED')
  } finally {
    app.context.config.publicUrl = publicUrl
  }
})
