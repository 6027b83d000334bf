import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Openid4vciClient } from '@openid4vc/openid4vci'
import { request } from 'undici'
import type { TestApp } from '../../../test/support/app.ts'
import { checkOverHttp, issueCredential } from '../../../test/support/issued-credentials.ts'
import { startVerification } from '../../../test/support/verification.ts'
import { MINUTE } from '../../platform/clock.ts'
import { PRE_AUTHORIZED_GRANT } from './metadata.ts'

/** Presses "Add to wallet" on the page of a credential, and returns the link of the offer. */
async function offer(app: TestApp, id: string): Promise<string> {
  const page = await app.fetch(`/credentials/${id}`)
  const [, action] = /<form method="post" action="([^"]+)"/.exec(page.body)!
  const response = await app.fetch(action!, { method: 'POST' })
  assert.equal(response.status, 200)
  const [, link] = /href="(openid-credential-offer:[^"]+)"/.exec(response.body)!
  return link!.replaceAll('&#38;', '&')
}

async function codeOf(app: TestApp, link: string): Promise<string> {
  const { status, body } = await app.fetch(new URL(new URL(link).searchParams.get('credential_offer_uri')!).pathname)
  assert.equal(status, 200)
  return body.grants[PRE_AUTHORIZED_GRANT]['pre-authorized_code']
}

function requestToken(app: TestApp, code: string) {
  return app.fetch('/wallet/token', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: PRE_AUTHORIZED_GRANT, 'pre-authorized_code': code }).toString(),
  })
}

function requestCredential(app: TestApp, token: string, body: unknown) {
  return app.fetch('/wallet/credential', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
}

/** A wallet of another project. It has no keys, because the credentials are not bound to one. */
function createWallet({ url, context }: TestApp) {
  return new Openid4vciClient({
    callbacks: {
      // The public address of the test server is not the address that it listens on.
      fetch: ((input: string | URL, init?: RequestInit) =>
        fetch(String(input).replace(context.config.publicUrl!, url), init)) as typeof fetch,
      hash: (data: Uint8Array, algorithm: string) => createHash(algorithm.replace('-', '')).update(data).digest(),
      generateRandom: (bytes: number) => randomBytes(bytes),
      clientAuthentication: () => {},
      signJwt: () => assert.fail('no signature is needed'),
      verifyJwt: () => assert.fail('nothing has to be verified'),
    } as never,
  })
}

test('an independent wallet gets a credential in each format, and the credential is valid', async (t) => {
  const calls = await startVerification(t, { config: { publicUrl: 'https://skills.example' } })
  const { app } = calls
  const { id, url } = await issueCredential(calls)
  for (const configuration of ['open_badge_jwt', 'open_badge_data_integrity']) {
    const wallet = createWallet(app)
    const credentialOffer = await wallet.resolveCredentialOffer(await offer(app, id))
    const issuerMetadata = await wallet.resolveIssuerMetadata(credentialOffer.credential_issuer)
    const { accessTokenResponse } = await wallet.retrievePreAuthorizedCodeAccessTokenFromOffer({
      credentialOffer,
      issuerMetadata,
    })
    const { credentialResponse } = await wallet.retrieveCredentials({
      issuerMetadata,
      accessToken: accessTokenResponse.access_token,
      credentialConfigurationId: configuration,
    })
    const [{ credential }] = credentialResponse.credentials as [{ credential: string | object }]
    assert.equal((await checkOverHttp(app, credential)).verdict, 'valid')
    if (typeof credential === 'object') assert.equal((credential as { id: string }).id, url)
  }
})

test('a code works once and for 10 minutes, and an access token only until then', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const { id } = await issueCredential(calls)
  const link = await offer(app, id)
  const code = await codeOf(app, link)
  const { status, body } = await requestToken(app, code)
  assert.equal(status, 200)
  assert.deepEqual([body.token_type, body.expires_in], ['Bearer', 600])

  const again = await requestToken(app, code)
  assert.deepEqual([again.status, again.body.error], [400, 'invalid_grant'])
  assert.equal((await app.fetch(new URL(new URL(link).searchParams.get('credential_offer_uri')!).pathname)).status, 404)
  const lateCode = await codeOf(app, await offer(app, id))
  app.clock.advance(10 * MINUTE)
  assert.equal((await requestToken(app, lateCode)).body.error, 'invalid_grant')
  const late = await requestCredential(app, body.access_token, { credential_configuration_id: 'open_badge_jwt' })
  assert.deepEqual([late.status, late.body.error], [401, 'invalid_token'])
  assert.match(String(late.headers.get('www-authenticate')), /^Bearer error="invalid_token"/)
})

test('wrong requests of a wallet get the errors of the protocol', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const { id, holderToken } = await issueCredential(calls)
  const form = (body: string) =>
    app.fetch('/wallet/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
  assert.equal((await form('')).body.error, 'invalid_request')
  assert.equal((await form('grant_type=authorization_code')).body.error, 'unsupported_grant_type')
  assert.equal((await form(`grant_type=${PRE_AUTHORIZED_GRANT}`)).body.error, 'invalid_request')
  assert.equal((await requestToken(app, 'wof_unknown')).body.error, 'invalid_grant')

  const { body: access } = await requestToken(app, await codeOf(app, await offer(app, id)))
  const request = (body: unknown) => requestCredential(app, access.access_token, body)
  assert.equal((await request([])).body.error, 'invalid_credential_request')
  assert.equal((await request({})).body.error, 'invalid_credential_request')
  assert.equal(
    (await request({ credential_configuration_id: 'toString' })).body.error,
    'unknown_credential_configuration',
  )
  // Draft 13.
  const old = await request({ format: 'jwt_vc_json', credential_definition: { type: ['OpenBadgeCredential'] } })
  assert.equal((await checkOverHttp(app, old.body.credential)).verdict, 'valid')

  const revoked = await app.fetch('/api/v1/holder', {
    method: 'PATCH',
    headers: { authorization: `Bearer ${holderToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ credentials: [{ credential_id: id, revoke: true }] }),
  })
  assert.equal(revoked.status, 200)
  assert.equal(
    (await request({ credential_configuration_id: 'open_badge_jwt' })).body.error,
    'credential_request_denied',
  )
  assert.equal((await app.fetch(`/credentials/${id}/wallet`, { method: 'POST' })).status, 404)
})

test('a wallet without OpenID4VCI imports the credential from the address on the page', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const { id, url } = await issueCredential(calls)
  const { body: page } = await app.fetch(`/credentials/${id}/wallet?lang=en`, { method: 'POST' })
  const address = /<code>([^<]+)<\/code>/.exec(page)![1]!
  // The Learner Credential Wallet fetches a scanned or pasted address without an Accept header and expects a JSON object.
  const { statusCode, body } = await request(address)
  assert.equal(statusCode, 200)
  const credential = (await body.json()) as { id: string; type: string[] }
  assert.equal(credential.id, url)
  assert.ok(credential.type.includes('VerifiableCredential'))
  assert.equal((await checkOverHttp(app, credential)).verdict, 'valid')
})

test('wallets and verifiers on other websites may send JSON and an access token', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const { id } = await issueCredential(calls)
  const paths = ['/wallet/token', '/wallet/credential', '/credentials/verify', `/credentials/${id}/holder`]
  for (const path of paths) {
    const { status, headers } = await app.fetch(path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://wallet.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    assert.equal(status, 204, path)
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.match(headers.get('access-control-allow-headers')!, /authorization, content-type/)
    assert.equal(headers.get('access-control-allow-credentials'), null)
    const response = await app.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    assert.equal(response.headers.get('access-control-allow-origin'), '*', `${path} ${response.status}`)
  }
})
