import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exportJWK, generateKeyPair as generateJoseKeyPair, SignJWT } from 'jose'
import { measureCpuMs } from '../../../test/support/cpu-limit.ts'
import { changeOneByte, createIssuer, ISSUED_AT, sampleCredential } from '../../../test/support/credentials.ts'
import type { JsonObject } from '../../platform/json.ts'
import { buildLearnerRecord } from '../proof/clr.ts'
import { buildDidDocument } from '../proof/did-document.ts'
import { generateKeyPair } from '../proof/keys.ts'
import { signAsJwt, signCredential } from '../proof/sign.ts'
import { setStatus } from '../proof/status-list.ts'
import { type CheckOptions, type CheckResult, checkCredential } from './check.ts'
import { FetchError } from './fetch-document.ts'

const BASE_URL = 'https://issuer.example'
const DID_URL = `${BASE_URL}/organisations/ORG_1/did.json`
const STATUS_URL = `${BASE_URL}/credentials/status/1`
const NOW = new Date('2026-06-01T00:00:00Z')

/** Returns an issuer, its published documents, and a function that checks credentials with them. */
async function createWorld() {
  const issuer = await createIssuer(BASE_URL)
  const documents = new Map<string, unknown>([
    [DID_URL, issuer.didDocument],
    [STATUS_URL, await issuer.signStatusList()],
  ])
  const fetched: string[] = []
  const options: CheckOptions = {
    now: NOW,
    async fetchDocument(url, maxBytes) {
      fetched.push(url)
      const document = documents.get(url)
      if (document === undefined) throw new FetchError('could not be fetched: the server responded with 404')
      const text = typeof document === 'string' ? document : JSON.stringify(document)
      if (Buffer.byteLength(text) > maxBytes) throw new FetchError(`is larger than ${maxBytes / 1024} KB`)
      return text
    },
  }
  const check = (input: string | JsonObject, changes: Partial<CheckOptions> = {}) =>
    checkCredential(input, { ...options, ...changes })
  const sign = (changes: JsonObject = {}) =>
    signCredential(withoutUndefined({ ...sampleCredential(issuer), ...changes }), issuer.key, ISSUED_AT)
  return { issuer, documents, fetched, check, sign }
}

/** Removes properties that are undefined, which the library rejects. */
function withoutUndefined(document: JsonObject) {
  return JSON.parse(JSON.stringify(document)) as JsonObject
}

function failedSteps({ steps }: CheckResult) {
  return steps.filter(({ status }) => status === 'failed').map(({ name, message }) => `${name}: ${message}`)
}

test('a credential is valid as an object, as text and as a VC-JWT', async () => {
  const { issuer, check, sign } = await createWorld()
  const credential = await sign()
  const jwt = await signAsJwt(sampleCredential(issuer), issuer.key)
  const enveloped = {
    '@context': ['https://www.w3.org/ns/credentials/v2'],
    type: ['EnvelopedVerifiableCredential'],
    id: `data:application/vc+jwt,${jwt}`,
  }

  for (const input of [
    credential,
    JSON.stringify(credential, null, 2),
    jwt,
    `\n${jwt}\n`,
    JSON.stringify(jwt),
    enveloped,
  ]) {
    const { verdict, steps, credential: summary } = await check(input)
    assert.equal(verdict, 'valid')
    assert.deepEqual(
      steps.map(({ name, status }) => `${name} ${status}`),
      ['format', 'schema', 'issuer', 'key', 'signature', 'validity', 'status'].map((name) => `${name} passed`),
    )
    const format = input === credential || String(input).startsWith('{\n') ? 'json' : 'jwt'
    assert.equal(
      steps[0]!.message,
      format === 'jwt' ? 'The credential is a VC-JWT.' : 'The credential is JSON with a proof.',
    )
    assert.deepEqual(summary, {
      format,
      id: `${BASE_URL}/credentials/crd_1`,
      type: ['VerifiableCredential', 'OpenBadgeCredential'],
      name: 'Skill 1',
      issuer_id: issuer.key.did,
      issuer_domain: 'issuer.example',
      issuer_name: 'Example organisation',
      achievement: { id: `${BASE_URL}/api/skills/sk_1`, name: 'Skill 1', description: 'The skill 1.' },
      subject_name: 'Person 1',
      valid_from: '2026-01-01T10:00:00Z',
      valid_until: '2028-01-01T10:00:00Z',
    })
  }
})

test('every change of one byte makes a credential invalid', async () => {
  const { check, sign } = await createWorld()
  const credential = await sign()
  for (let seed = 0; seed < 120; seed++) {
    const changed = changeOneByte(credential, seed)
    const { verdict } = await check(changed)
    // A changed address of the issuer or the list is a document that cannot be fetched, never a valid credential.
    assert.ok(verdict === 'invalid' || verdict === 'unknown', `${seed}: ${verdict} ${JSON.stringify(changed)}`)
  }
})

test('every change of one byte makes a VC-JWT invalid', async () => {
  const { issuer, check } = await createWorld()
  const jwt = await signAsJwt(sampleCredential(issuer), issuer.key)
  for (let seed = 0; seed < 60; seed++) {
    // The last character is left out: it has bits that no decoder uses.
    const index = Math.floor((seed / 60) * (jwt.length - 1))
    if (jwt[index] === '.') continue
    const changed = jwt.slice(0, index) + (jwt[index] === 'A' ? 'B' : 'A') + jwt.slice(index + 1)
    const { verdict } = await check(changed)
    assert.ok(verdict === 'invalid' || verdict === 'unknown', `${seed}: ${verdict}`)
  }
})

test('a revoked credential is reported as revoked, and only this one', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  const credential = await sign()
  const other = await signCredential(sampleCredential(issuer, 2), issuer.key, ISSUED_AT)
  setStatus(issuer.bits, 1)
  documents.set(STATUS_URL, await issuer.signStatusList())

  const result = await check(credential)

  assert.equal(result.verdict, 'revoked')
  assert.deepEqual(failedSteps(result), ['status: The issuer has revoked the credential.'])
  assert.equal((await check(other)).verdict, 'valid')
})

test('the status list may be a VC-JWT', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  documents.set(STATUS_URL, await signAsJwt(await issuer.signStatusList(), issuer.key))
  assert.equal((await check(await sign())).verdict, 'valid')
})

test('the validity period has a tolerance for clocks that are behind', async () => {
  const { check, sign } = await createWorld()
  const credential = await sign()
  const verdictAt = async (now: string) => (await check(credential, { now: new Date(now) })).verdict
  assert.equal(await verdictAt('2026-01-01T09:54:59Z'), 'not_yet_valid')
  assert.equal(await verdictAt('2026-01-01T09:55:00Z'), 'valid')
  assert.equal(await verdictAt('2028-01-01T09:59:59Z'), 'valid')
  assert.equal(await verdictAt('2028-01-01T10:00:00Z'), 'expired')
})

test('an expired credential that is also revoked is reported as revoked', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  setStatus(issuer.bits, 1)
  documents.set(STATUS_URL, await issuer.signStatusList())
  const result = await check(await sign(), { now: new Date('2030-01-01T00:00:00Z') })
  assert.equal(result.verdict, 'revoked')
  assert.equal(failedSteps(result).length, 2)
})

test('a status that cannot be determined is never reported as valid', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  const credential = await sign()
  const { proof: _, ...list } = await issuer.signStatusList()
  const signList = (changes: JsonObject) => signCredential({ ...list, ...changes }, issuer.key, ISSUED_AT)
  const subject = list.credentialSubject as JsonObject
  const stranger = await createIssuer('https://stranger.example')
  const cases: [unknown, RegExp][] = [
    [undefined, /could not be fetched: the server responded with 404/],
    ['<html>', /is not valid: The input is not a credential/],
    [changeOneByte(await signList({}), 12), /is not valid/],
    [await stranger.signStatusList(), /stranger\.example/],
    [await signList({ credentialSubject: { ...subject, statusPurpose: 'suspension' } }), /for the purpose revocation/],
    [await signList({ validUntil: '2026-02-01T00:00:00Z' }), /expired at 2026-02-01/],
    [await signList({ validUntil: NOW.toISOString() }), /expired at /],
    [await signList({ credentialSubject: { ...subject, encodedList: 'uAAAA' } }), /cannot be decoded/],
    // 64 MB of zeros in 64 KB, which must not be expanded.
    [
      await signList({
        credentialSubject: { ...subject, encodedList: `u${gzipSync(Buffer.alloc(2 ** 26)).toString('base64url')}` },
      }),
      /cannot be decoded/,
    ],
  ]
  for (const [document, message] of cases) {
    documents.set(STATUS_URL, document)
    const result = await check(credential)
    assert.equal(result.verdict, 'unknown')
    assert.match(failedSteps(result).join(), message)
  }
})

test('unsupported kinds of status are unknown; a credential without one is valid', async () => {
  const { check, sign } = await createWorld()
  const result = await check(
    await sign({ credentialStatus: { id: 'https://issuer.example/x', type: 'https://issuer.example/Status' } }),
  )
  assert.equal(result.verdict, 'unknown')
  const { verdict, steps } = await check(await sign({ credentialStatus: undefined }))
  assert.equal(verdict, 'valid')
  assert.match(steps.at(-1)!.message, /cannot revoke it/)
})

test('lists of the draft StatusList2021 are read too, as VC-JWT and with a proof', async () => {
  const { issuer, documents, check } = await createWorld()
  // The context of the draft cannot be combined with the data model 2.0.
  const contexts = [
    'https://www.w3.org/2018/credentials/v1',
    'https://w3id.org/vc/status-list/2021/v1',
    'https://w3id.org/security/data-integrity/v2',
  ]
  const entry = { ...(sampleCredential(issuer).credentialStatus as JsonObject), type: 'StatusList2021Entry' }
  const credential = await signAsJwt({ ...sampleCredential(issuer), credentialStatus: entry }, issuer.key)
  setStatus(issuer.bits, 2)
  for (const encoding of ['base64url', 'base64'] as const)
    for (const isRevoked of [false, true]) {
      const bits = issuer.bits.slice()
      if (isRevoked) setStatus(bits, 1)
      const list = {
        '@context': contexts,
        id: STATUS_URL,
        type: ['VerifiableCredential', 'StatusList2021Credential'],
        issuer: issuer.key.did,
        issuanceDate: '2026-01-01T00:00:00Z',
        credentialSubject: {
          id: `${STATUS_URL}#list`,
          type: 'StatusList2021',
          statusPurpose: 'revocation',
          encodedList: gzipSync(bits).toString(encoding),
        },
      }
      for (const signedList of [
        await signCredential(list, issuer.key, ISSUED_AT),
        await signAsJwt({ ...list, '@context': ['https://www.w3.org/ns/credentials/v2'] }, issuer.key),
      ]) {
        documents.set(STATUS_URL, signedList)
        const result = await check(credential)
        assert.equal(result.verdict, isRevoked ? 'revoked' : 'valid', failedSteps(result).join())
      }
    }
  // A list of the other kind would be decoded wrongly.
  documents.set(STATUS_URL, await issuer.signStatusList())
  assert.match(failedSteps(await check(credential)).join(), /is not a StatusList2021Credential/)
  for (const statusListIndex of ['-1', '1e3', '0x10', '', null]) {
    const wrong = await check(
      await signAsJwt({ ...sampleCredential(issuer), credentialStatus: { ...entry, statusListIndex } }, issuer.key),
    )
    assert.match(failedSteps(wrong).join(), /needs a statusListCredential and a statusListIndex/)
  }
})

test('values that take long to process are rejected before', async () => {
  const { issuer, check, sign } = await createWorld()
  const credential = await sign()
  const long = 'x'.repeat(200_000)
  const issuerProfile = credential.issuer as JsonObject
  const types = ['VerifiableCredential', ...Array.from({ length: 10_000 }, () => 'Other')]
  const cases: [string | JsonObject, RegExp][] = [
    [{ ...credential, id: `https://issuer.example/${'x'.repeat(5000)}` }, /^schema: id has more than 4096 characters/],
    [
      { ...credential, issuer: { ...issuerProfile, id: `did:web:${'x:'.repeat(5000)}` } },
      /^schema: issuer\.id has more than 4096 characters/,
    ],
    [{ ...credential, validFrom: `2026-01-01T00:00:00.${'1'.repeat(5000)}Z` }, /^schema: validFrom must be a date/],
    [{ ...credential, description: long }, /^format: .* more than 32768 characters \(description\)/],
    [
      await signAsJwt({ ...sampleCredential(issuer), type: types }, issuer.key),
      /^schema: type has more than 16 entries/,
    ],
    [long, /^format: The input is not a credential/],
    [JSON.stringify('\\"'.repeat(60_000)), /^format: The input is not a credential/],
    ['a.'.repeat(100_000), /^format: The input is not a credential/],
  ]
  for (const [input, message] of cases) assert.match(failedSteps(await check(input)).join(), message)
  // Pictures are longer than other texts.
  const withPicture = await sign({ image: { id: `data:image/png;base64,${'A'.repeat(60_000)}`, type: 'Image' } })
  assert.equal((await check(withPicture)).verdict, 'valid')
})

test('a list of revoked IDs is supported', async () => {
  const { issuer, documents, check } = await createWorld()
  const url = `${BASE_URL}/revocations`
  const credential = await signAsJwt(
    { ...sampleCredential(issuer), credentialStatus: { id: url, type: '1EdTechRevocationList' } },
    issuer.key,
  )
  documents.set(url, {
    id: url,
    issuer: BASE_URL,
    revokedCredential: [{ id: `${BASE_URL}/credentials/crd_2`, revoked: true }],
  })
  assert.equal((await check(credential)).verdict, 'valid')
  documents.set(url, {
    id: url,
    issuer: BASE_URL,
    revokedCredential: [{ id: `${BASE_URL}/credentials/crd_1`, revoked: true }],
  })
  assert.equal((await check(credential)).verdict, 'revoked')
})

test('after a rotation both keys verify; after a revocation the revoked key does not', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  const oldKey = { ...issuer.key, revokedAt: null }
  const newKey = { ...issuer.key, id: `${issuer.key.did}#key-2`, ...(await generateKeyPair()), revokedAt: null }
  const oldCredential = await sign()
  documents.set(DID_URL, buildDidDocument(issuer.key.did, [oldKey, newKey]))
  const newCredential = await signCredential(sampleCredential(issuer, 2), newKey, ISSUED_AT)
  assert.equal((await check(oldCredential)).verdict, 'valid')
  assert.equal((await check(newCredential)).verdict, 'valid')

  documents.set(DID_URL, buildDidDocument(issuer.key.did, [{ ...oldKey, revokedAt: NOW }, newKey]))

  const result = await check(oldCredential)
  assert.equal(result.verdict, 'invalid')
  assert.deepEqual(failedSteps(result), [
    `key: The issuer does not list the key ${issuer.key.id}. It may have been revoked, or the credential is not from this issuer.`,
  ])
})

test('a key of another issuer, or one that may not sign, does not verify', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  const stranger = await createIssuer('https://stranger.example')
  documents.set('https://stranger.example/organisations/ORG_1/did.json', stranger.didDocument)

  const forged = await check(await signCredential(sampleCredential(issuer), stranger.key, ISSUED_AT))
  assert.equal(forged.verdict, 'invalid')
  assert.match(
    failedSteps(forged).join(),
    /^key: The credential names did:web:issuer\.example.* but was signed with a key of did:web:stranger/,
  )

  const renamedKey = await check(
    await signCredential(sampleCredential(issuer), { ...stranger.key, id: issuer.key.id }, ISSUED_AT),
  )
  assert.match(failedSteps(renamedKey).join(), /^signature: The signature does not match/)

  const credential = await sign()
  documents.set(DID_URL, { ...issuer.didDocument, assertionMethod: [] })
  assert.match(failedSteps(await check(credential)).join(), /does not allow the key .* to sign credentials/)
  documents.set(DID_URL, { ...issuer.didDocument, id: 'did:web:other.example' })
  assert.match(
    failedSteps(await check(credential)).join(),
    /^issuer: .* belongs to another issuer: did:web:other\.example/,
  )
})

test('an issuer that cannot be reached gives an unknown result', async () => {
  const { documents, check, sign } = await createWorld()
  const credential = await sign()
  documents.delete(DID_URL)
  const { verdict, steps } = await check(credential)
  assert.equal(verdict, 'unknown')
  assert.deepEqual(
    steps.map(({ status }) => status),
    ['passed', 'passed', 'failed', 'skipped', 'skipped', 'skipped', 'skipped'],
  )
})

test('documents of an issuer are limited in size: 128 KB, and 1 MB for a status list', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  const credential = await sign()
  for (const [url, document, maxBytes, message] of [
    [DID_URL, issuer.didDocument, 128 * 1024, /^issuer: .* is larger than 128 KB/],
    [STATUS_URL, await issuer.signStatusList(), 1024 * 1024, /^status: .* is larger than 1024 KB/],
  ] as const) {
    documents.set(url, JSON.stringify(document).padEnd(maxBytes))
    assert.equal((await check(credential)).verdict, 'valid')
    documents.set(url, JSON.stringify(document).padEnd(maxBytes + 1))
    const tooLarge = await check(credential)
    assert.equal(tooLarge.verdict, 'unknown')
    assert.match(failedSteps(tooLarge).join(), message)
    documents.set(url, document)
  }
})

test('own issuers and status lists need no network', async () => {
  const { issuer, fetched, check, sign } = await createWorld()
  const credential = await sign()
  const statusList = await issuer.signStatusList()
  const local = {
    modeOf: (did: string) => (did === issuer.key.did ? ('live' as const) : undefined),
    findDidDocument: async (did: string) => (did === issuer.key.did ? issuer.didDocument : undefined),
    findStatusList: async (url: string) => (url === STATUS_URL ? statusList : undefined),
  }
  const result = await check(credential, { local })
  assert.equal(result.verdict, 'valid')
  assert.deepEqual([result.is_local, result.test], [true, false])
  const ofTestIssuer = await check(credential, { local: { ...local, modeOf: () => 'test' as const } })
  assert.deepEqual([ofTestIssuer.is_local, ofTestIssuer.test], [true, true])
  // A changed credential only claims to be of this server.
  assert.equal((await check({ ...credential, name: 'Other' }, { local })).is_local, false)
  const removed = await check(credential, { local: { ...local, findDidDocument: async () => null } })
  assert.match(failedSteps(removed).join(), /does not exist on this server/)
  const lost = await check(credential, { local: { ...local, findStatusList: async () => null } })
  assert.equal(lost.verdict, 'unknown')
  assert.match(failedSteps(lost).join(), /^status: The status list .* does not exist on this server/)
  assert.deepEqual(fetched, [])
})

test('issuers with did:key and did:jwk are supported', async () => {
  const { check } = await createWorld()
  const keyPair = await generateKeyPair()
  const did = `did:key:${keyPair.publicKeyMultibase}`
  const key = { did, id: `${did}#${keyPair.publicKeyMultibase}`, ...keyPair }
  const { credentialStatus: _, ...credential } = sampleCredential({ key, statusListUrl: STATUS_URL })
  const ofDidKey = await check(await signCredential(credential, key, ISSUED_AT))
  assert.equal(ofDidKey.verdict, 'valid')
  assert.equal(ofDidKey.is_local, false)
  // The name is the issuer's own statement, and no domain confirms it.
  assert.equal(ofDidKey.credential!.issuer_name, 'Example organisation')
  assert.equal(ofDidKey.credential!.issuer_domain, null)

  const { publicKey, privateKey } = await generateJoseKeyPair('ES256')
  const didJwk = `did:jwk:${Buffer.from(JSON.stringify(await exportJWK(publicKey))).toString('base64url')}`
  const issuer = { id: didJwk, type: ['Profile'], name: 'Wallet' }
  const sign = (header: object, payload: object) =>
    new SignJWT({ ...credential, issuer, ...payload } as JsonObject)
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(privateKey)
  assert.equal((await check(await sign({ kid: `${didJwk}#0` }, {}))).verdict, 'valid')
  assert.equal((await check(await sign({ kid: '#0' }, { iss: didJwk }))).verdict, 'valid')
  // The data model 1.1 has the credential in `vc`.
  const wrapped = await new SignJWT({ vc: { ...credential, issuer }, iss: didJwk, jti: credential.id as string })
    .setProtectedHeader({ alg: 'ES256', kid: `${didJwk}#0` })
    .sign(privateKey)
  assert.equal((await check(wrapped)).verdict, 'valid')
  // A key that only the token itself names proves nothing.
  const selfMade = await check(await sign({ jwk: await exportJWK(publicKey) }, {}))
  assert.match(failedSteps(selfMade).join(), /^key: .* nothing connects it to the issuer/)
  for (const value of ['"a key"', JSON.stringify({ ...(await exportJWK(publicKey)), d: 'private' }), 'no JSON']) {
    const id = `did:jwk:${Buffer.from(value).toString('base64url')}`
    const unusable = await check(await sign({ kid: `${id}#0` }, { issuer: { ...issuer, id } }))
    assert.match(failedSteps(unusable).join(), /^issuer: .*does not contain a public JSON Web Key/, value)
  }
  const mismatch = await check(await sign({ kid: `${didJwk}#0` }, { iss: 'did:web:other.example' }))
  assert.match(failedSteps(mismatch).join(), /^schema: The claim `iss`/)
})

test('an issuer with an https address may list keys that it publishes at the same origin', async () => {
  const { issuer, documents, check } = await createWorld()
  const { publicKey, privateKey } = await generateJoseKeyPair('RS256')
  const { credentialStatus: _, ...credential } = sampleCredential(issuer)
  const id = `${BASE_URL}/issuers/1`
  const sign = (kid: string) =>
    new SignJWT({ ...credential, issuer: { id, type: ['Profile'], name: 'University' } })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
      .sign(privateKey)
  const jwk = await exportJWK(publicKey)
  const keyUrl = `${BASE_URL}/keys/1`
  documents.set(keyUrl, jwk)
  documents.set(`${BASE_URL}/keys`, {
    keys: [
      { ...jwk, kid: 'other', n: 'AQAB' },
      { ...jwk, kid: '2' },
    ],
  })
  const listed: [string, JsonObject][] = [
    [keyUrl, { assertionMethod: [keyUrl] }],
    [keyUrl, { assertionMethod: [{ id: keyUrl, type: 'JsonWebKey', controller: id, publicKeyJwk: jwk }] }],
    [keyUrl, { publicKey: keyUrl }],
    [`${BASE_URL}/keys#2`, { jwks_uri: `${BASE_URL}/keys` }],
  ]
  for (const [kid, keys] of listed) {
    documents.set(id, { id, type: 'Profile', ...keys })
    assert.equal((await check(await sign(kid))).verdict, 'valid', JSON.stringify(keys))
  }

  // Anyone may be able to upload a file to the server of the issuer.
  const uploaded = `${BASE_URL}/uploads/key.json`
  documents.set(uploaded, jwk)
  for (const keys of [{}, { assertionMethod: [keyUrl] }, { jwks_uri: `${BASE_URL}/keys` }]) {
    documents.set(id, { id, type: 'Profile', ...keys })
    const forged = await check(await sign(uploaded))
    assert.equal(forged.verdict, 'invalid')
    assert.match(failedSteps(forged).join(), /^key: The issuer does not list the key .*uploads\/key\.json/)
  }

  documents.set('https://evil.example/keys/1', jwk)
  documents.set(id, { id, assertionMethod: ['https://evil.example/keys/1', `${BASE_URL}/keys/3`] })
  const foreign = await check(await sign('https://evil.example/keys/1'))
  assert.equal(foreign.verdict, 'invalid')
  assert.match(failedSteps(foreign).join(), /^key: The key .* is not at an address of the issuer/)
  const missing = await check(await sign(`${BASE_URL}/keys/3`))
  assert.equal(missing.verdict, 'unknown')
  documents.delete(id)
  assert.match(failedSteps(await check(await sign(keyUrl))).join(), /^issuer: The document of the issuer/)
})

test('unsigned tokens and other algorithms are rejected', async () => {
  const { issuer, check } = await createWorld()
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const alg of ['none', 'HS256']) {
    const jwt = `${encode({ alg, kid: issuer.key.id })}.${encode(sampleCredential(issuer))}.${encode({})}`
    const result = await check(jwt)
    assert.equal(result.verdict, 'invalid')
    assert.match(failedSteps(result).join(), /^signature: The algorithm/)
  }
})

test('contexts that are not bundled are rejected and never fetched', async () => {
  const { fetched, check, sign } = await createWorld()
  const credential = await sign()
  const contexts = credential['@context'] as unknown[]
  const unknown = await check({ ...credential, '@context': [...contexts, 'https://evil.example/context'] })
  assert.match(failedSteps(unknown).join(), /^signature: .*https:\/\/evil\.example\/context, which is not bundled/)
  // Exchanged terms would give the same signed statements, but other texts to a reader of the JSON.
  for (const inline of [
    { name: 'https://schema.org/description' },
    { newTerm: { '@id': 'https://example.org/#term', '@type': '@id' } },
    { newTerm: 'https://schema.org/name' },
    { newTerm: 'https://www.w3.org/2018/credentials#validUntil' },
    { prefix: 'https://www.w3.org/2018/credentials#' },
    { newTerm: '@type' },
    null,
  ]) {
    const result = await check({ ...credential, '@context': [...contexts, inline] })
    assert.match(failedSteps(result).join(), /^signature: .*inline @context|^format: .*@id, which is not allowed/)
  }
  const nested = await check({
    ...credential,
    issuer: { ...(credential.issuer as object), '@context': 'https://evil.example/' },
  })
  assert.match(failedSteps(nested).join(), /^signature: .*https:\/\/evil\.example\/, which is not bundled/)
  const inList = await check({
    ...credential,
    evidence: [{ type: ['Evidence'], '@context': { newTerm: 'https://schema.org/name' } }],
  })
  assert.match(failedSteps(inList).join(), /^signature: .*inline @context/)
  const undefinedTerm = await check({ ...credential, favouriteColour: 'green' })
  assert.match(failedSteps(undefinedTerm).join(), /^signature: .*contexts do not define/)
  assert.ok(fetched.every((url) => url === DID_URL))
})

test('texts that are not credentials are rejected with a reason', async () => {
  const { check, sign } = await createWorld()
  const credential = await sign()
  const subject = credential.credentialSubject as JsonObject
  const cases: [string | JsonObject, RegExp][] = [
    ['hello', /^format: The input is not a credential/],
    ['a.b.c', /^format: This is not a VC-JWT/],
    ['[]', /^format: The input is not a credential/],
    ['x'.repeat(256 * 1024 + 1), /^format: The credential is larger than 256 KB/],
    [`${'['.repeat(100)}1${']'.repeat(100)}`, /^format: .* nested more than/],
    [{ ...credential, evidence: Array.from({ length: 501 }, () => 'x') }, /^format: .*more than 500 entries/],
    [{ ...credential, type: Array.from({ length: 17 }, () => 'x') }, /^format: .*more than 16 entries/],
    [JSON.parse('{"__proto__": 1}') as JsonObject, /^format: .*__proto__/],
    [{}, /^schema: The first @context must be/],
    [{ ...credential, type: ['OpenBadgeCredential'] }, /^schema: type must include VerifiableCredential/],
    [{ ...credential, issuer: undefined }, /^schema: issuer\.id is missing/],
    [{ ...credential, validFrom: 'yesterday' }, /^schema: validFrom must be a date and time such as/],
    [
      { ...credential, credentialSubject: { ...subject, identifier: [] } },
      /^schema: credentialSubject must have an id or an identifier/,
    ],
    [
      { ...credential, credentialSubject: { ...subject, achievement: { name: 'x' } } },
      /^schema: credentialSubject\.achievement\.id is missing/,
    ],
    [{ ...credential, proof: undefined }, /^key: The credential has no proof/],
    [
      { ...credential, proof: { type: 'RsaSignature2018' } },
      /^key: The kind of proof \(RsaSignature2018\) is not supported/,
    ],
    [
      { ...credential, proof: { ...(credential.proof as object), proofPurpose: 'authentication' } },
      /^signature: The purpose/,
    ],
    [{ ...credential, proof: { ...(credential.proof as object), proofValue: 'z' } }, /^signature: /],
    [
      { ...credential, proof: { ...(credential.proof as object), expires: '2026-05-01T00:00:00Z' } },
      /^signature: The proof was valid only/,
    ],
  ]
  for (const [input, message] of cases) {
    const result = await check(input)
    assert.equal(result.verdict, 'invalid')
    assert.match(failedSteps(result).join(), message)
  }
})

test('a revoked or expired credential cannot be rewritten with the same statements so that it looks valid', async () => {
  const { issuer, documents, check, sign } = await createWorld()
  setStatus(issuer.bits, 1)
  documents.set(STATUS_URL, await issuer.signStatusList())
  const credential = await sign({
    // A statement about the credential itself, to which others can be attached.
    refreshService: { id: `${BASE_URL}/credentials/crd_1`, type: `${BASE_URL}/Refresh` },
  })
  assert.equal((await check(credential)).verdict, 'revoked')
  const { credentialStatus, validUntil, id, refreshService, ...rest } = credential
  const contexts = credential['@context'] as unknown[]
  const vocabulary = 'https://www.w3.org/2018/credentials#'
  const typedValidUntil = { '@value': validUntil, '@type': 'http://www.w3.org/2001/XMLSchema#dateTime' }
  const rewritten: [JsonObject, RegExp][] = [
    [
      { ...rest, id, refreshService, validUntil, [`${vocabulary}credentialStatus`]: credentialStatus },
      /^format: .*#credentialStatus, which is not allowed/,
    ],
    [
      {
        ...rest,
        ...{ id, refreshService, validUntil, hidden: credentialStatus },
        '@context': [...contexts, { hidden: `${vocabulary}credentialStatus` }],
      },
      /^signature: .*inline @context/,
    ],
    [
      {
        ...rest,
        ...{ id, validUntil },
        refreshService: {
          id,
          type: [`${BASE_URL}/Refresh`, 'VerifiableCredential', 'OpenBadgeCredential'],
          credentialStatus,
        },
      },
      /^signature: The signed property credentialStatus is missing at its place/,
    ],
    [
      {
        ...rest,
        ...{ id, credentialStatus },
        refreshService: {
          id,
          type: [`${BASE_URL}/Refresh`, 'VerifiableCredential', 'OpenBadgeCredential'],
          validUntil,
        },
      },
      /^signature: The signed property validUntil is missing at its place/,
    ],
    [{ ...credential, validUntil: typedValidUntil }, /^(format|schema): /],
    [{ ...rest, refreshService, credentialStatus, validUntil, '@id': id }, /^format: .*@id, which is not allowed/],
    [{ ...credential, evidence: [{ id: '_:b0' }] }, /^format: .*blank node/],
  ]
  for (const [input, message] of rewritten) {
    const result = await check(input)
    assert.equal(result.verdict, 'invalid')
    assert.match(failedSteps(result).join(), message)
  }
  // Other notations of the same values.
  const entry = credentialStatus as JsonObject
  for (const changed of [
    { ...entry, statusPurpose: ['revocation'] },
    { ...entry, statusPurpose: { '@value': 'revocation' } },
    { ...entry, statusListIndex: { '@value': '1' } },
    { ...entry, statusListIndex: ['1'] },
    { ...entry, statusListCredential: [entry.statusListCredential] },
    [[entry]],
    [entry, { id: entry.id }],
  ]) {
    const { verdict } = await check({ ...credential, credentialStatus: changed })
    assert.ok(['revoked', 'unknown', 'invalid'].includes(verdict), `${JSON.stringify(changed)} is ${verdict}`)
  }
})

const TYPES = [
  'Achievement',
  'Address',
  'Alignment',
  'Evidence',
  'IdentityObject',
  'Image',
  'Profile',
  'Related',
  'Result',
]

/** Changes of a credential that make it expensive to canonicalise, close to the limit or far beyond it. Each call differs. */
const hostileChanges: Record<string, (credential: any, run: number) => JsonObject> = {
  'one changed text': () => ({ name: 'changed' }),
  'objects up to the limit': () => ({ evidence: listOf(95, (i) => ({ type: ['Evidence'], name: `n${i}` })) }),
  'equal objects up to the limit': () => ({ evidence: listOf(48, () => ({ type: ['Evidence'] })) }),
  'equal objects': () => ({ evidence: listOf(450, () => ({ type: ['Evidence'] })) }),
  'objects with many properties': () => ({
    evidence: listOf(85, (i) => ({
      ...{ type: ['Evidence'], id: `https://a.example/${i}`, name: `n${i}`, genre: `g${i}` },
      ...{ narrative: 'x', description: 'y', audience: 'z' },
    })),
  }),
  'a list up to the limit': (credential) => changeAchievement(credential, { tag: listOf(280, (i) => `t${i}`) }),
  'a long list': (credential) => changeAchievement(credential, { tag: listOf(500, (i) => `t${i}`) }),
  'lists of the same node': (credential) =>
    changeAchievement(credential, {
      related: listOf(6, (i) => ({
        ...{ type: ['Achievement'], id: credential.credentialSubject.achievement.id },
        tag: listOf(200, (j) => `${i} ${j}`),
      })),
    }),
  'long texts up to the limit': () => ({
    evidence: listOf(4, () => ({ type: ['Evidence'], narrative: 'abc '.repeat(8000) })),
  }),
  'long texts': () => ({ evidence: listOf(7, () => ({ type: ['Evidence'], narrative: 'हिन '.repeat(8000) })) }),
  'texts with escapes up to the limit': () => ({ evidence: [{ type: ['Evidence'], narrative: '"\\\n'.repeat(7000) }] }),
  'texts with escapes': () => ({
    evidence: listOf(7, () => ({ type: ['Evidence'], narrative: '"\\\n\t'.repeat(8000) })),
  }),
  'a picture up to the limit': () => ({
    image: { id: `data:image/png;base64,${'abcd'.repeat(29_000)}`, type: 'Image' },
  }),
  'a large picture': () => ({ image: { id: `data:image/png;base64,${'abcd'.repeat(62_000)}`, type: 'Image' } }),
  'types in many combinations': (_, run) => ({
    evidence: listOf(30, (i) => ({ type: [TYPES[(i + run) % 9], TYPES[(i * 5 + run * 7) % 9], `urn:type:${run}`] })),
  }),
  'combinations of types up to the limit': (_, run) => ({
    evidence: listOf(25, (i) => ({ type: ['Evidence', `urn:type:${run * 25 + i}`] })),
  }),
  'a new inline context': (credential, run) => ({
    '@context': [...credential['@context'], newTerm(run)],
    evidence: listOf(20, (i) => ({ type: [TYPES[i % 9]] })),
  }),
  'bundled contexts after an inline one': (credential, run) => ({
    '@context': [credential['@context'][0], newTerm(run), ...listOf(13, () => credential['@context'][1])],
    name: 'changed',
  }),
  'nested inline contexts': (credential, run) => ({
    evidence: listOf(9, (i) => ({ '@context': [newTerm(run * 9 + i), ...credential['@context']], type: ['Evidence'] })),
  }),
  'nested credentials': (credential) => ({
    endorsement: listOf(15, (i) => ({
      ...{
        '@context': credential['@context'],
        id: `urn:uuid:${i}`,
        type: ['VerifiableCredential', 'EndorsementCredential'],
      },
      issuer: { id: 'https://endorser.example/', type: ['Profile'] },
      credentialSubject: { id: 'https://a.example/', type: ['EndorsementSubject'] },
    })),
  }),
  'a proof without a signature': (credential) => ({ proof: { ...credential.proof, proofValue: 'z' } }),
  'an undefined term': () => ({ favouriteColour: 'green' }),
}

function listOf<T>(length: number, create: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => create(index))
}

const newTerm = (number: number) => ({ [`term${number}`]: `https://example.org/term${number}` })

function changeAchievement({ credentialSubject }: any, changes: object): JsonObject {
  return { credentialSubject: { ...credentialSubject, achievement: { ...credentialSubject.achievement, ...changes } } }
}

const MAX_CPU_MS = 5

test('a credential that is rejected takes at most 5 ms of CPU time, whatever it contains', async (t) => {
  const { check, sign } = await createWorld()
  const credential = await sign()
  let slowest = { ms: 0, text: '' }
  // The libraries are loaded and compiled once, as in a server that has checked some credentials.
  for (let run = 0; run < 300; run++) await check({ ...credential, name: `changed ${run}` })
  for (const [label, change] of Object.entries(hostileChanges)) {
    const ms = await measureCpuMs(MAX_CPU_MS, {
      input: (run) => JSON.stringify({ ...credential, ...change(credential, run) }),
      run: async (text) => assert.notEqual((await check(text)).verdict, 'unknown', label),
    })
    const text = `${label} took ${ms.toFixed(1)} ms of CPU time`
    if (ms > slowest.ms) slowest = { ms, text }
    assert.ok(ms <= MAX_CPU_MS, text)
  }
  t.diagnostic(`slowest: ${slowest.text}`)
})

test('extensive badges of other issuers are accepted; ones that are too complex are rejected with a reason', async () => {
  const { issuer, check, sign } = await createWorld()
  const sample = sampleCredential(issuer) as any
  const contexts = sample['@context'] as string[]
  const profile = (number: number) => ({
    ...{
      id: `https://university.example/issuers/${number}`,
      type: ['Profile'],
      name: 'University',
      phone: '1-222-333-4444',
    },
    image: { id: 'https://university.example/logo.png', type: 'Image', caption: 'Logo' },
    address: { type: ['Address'], addressCountry: 'USA', geo: { type: 'GeoCoordinates', latitude: 1, longitude: 1 } },
    otherIdentifier: [{ type: 'IdentifierEntry', identifier: '12345', identifierType: 'sourcedId' }],
    parentOrg: { id: 'https://parent.example/', type: ['Profile'], name: 'Universities' },
  })
  const endorsement = (number: number) => ({
    '@context': [...contexts, 'https://w3id.org/security/data-integrity/v2'],
    ...{
      id: `https://accrediter.example/${number}`,
      type: ['VerifiableCredential', 'EndorsementCredential'],
      name: 'Endorsement',
    },
    ...{ issuer: profile(number), validFrom: '2026-01-01T10:00:00Z' },
    credentialSubject: { id: issuer.key.did, type: ['EndorsementSubject'], endorsementComment: 'In good standing' },
  })
  const alignment = (number: number) => ({
    ...{ type: ['Alignment'], targetCode: `c${number}`, targetName: `Course ${number}`, targetType: 'CFItem' },
    targetUrl: `https://university.example/catalogue/${number}`,
  })
  const changes = {
    ...changeAchievement(sample, {
      ...{ creator: profile(1), alignment: listOf(10, alignment), tag: listOf(20, (i) => `tag ${i}`) },
      endorsement: listOf(4, endorsement),
      criteria: { narrative: '# Requirements\n\nStudents must complete each course.\n'.repeat(100) },
      image: { id: `data:image/png;base64,${'abcd'.repeat(2000)}`, type: 'Image' },
    }),
    evidence: listOf(10, (i) => ({ type: ['Evidence'], name: `Project ${i}`, narrative: 'I built it. '.repeat(40) })),
  }
  assert.equal((await check(await sign(changes))).verdict, 'valid')
  const picture = { id: `data:image/png;base64,${'abcd'.repeat(25_000)}`, type: 'Image' }
  assert.equal((await check(await sign({ image: picture }))).verdict, 'valid')

  const tooComplex = await check(await sign({ evidence: listOf(300, (i) => ({ type: ['Evidence'], name: `n${i}` })) }))
  assert.equal(tooComplex.verdict, 'invalid')
  assert.match(
    failedSteps(tooComplex).join(),
    /^signature: The credential is too complex: .* times as long as is allowed\. Ask the issuer for a VC-JWT/,
  )
})

test('a learner record with the credentials of a person is valid as a VC-JWT', async () => {
  const { issuer, check, sign } = await createWorld()
  const { did } = issuer.key
  const credentials = [await sign(), await sign({ id: `${BASE_URL}/credentials/crd_2` })]
  const record = buildLearnerRecord({
    id: 'urn:uuid:0e5b1a5e-3d1b-4f3e-9a35-3b7ad7f1e0cd',
    issuer: { did, name: 'Example deployment', url: BASE_URL },
    name: 'Verified skills',
    identifiers: [{ type: 'IdentityObject', hashed: false, identityHash: 'Person 1', identityType: 'name' }],
    credentials,
    validFrom: ISSUED_AT,
    partial: false,
  })

  const { verdict, steps, credential } = await check(await signAsJwt(record, issuer.key))

  assert.equal(verdict, 'valid')
  assert.match(steps[1]!.message, /Comprehensive Learner Record with 2 credentials; check each of them too/)
  assert.equal(credential!.name, 'Verified skills')
  assert.equal(credential!.subject_name, 'Person 1')
})

test('contexts in endorsements and inline contexts with new terms are accepted', async () => {
  const { issuer, check, sign } = await createWorld()
  const contexts = sampleCredential(issuer)['@context'] as string[]
  const credential = await sign({
    '@context': [...contexts, { favouriteColour: 'https://example.org/terms#favouriteColour' }],
    favouriteColour: 'green',
    endorsement: [
      {
        '@context': contexts,
        id: 'urn:uuid:6bb7bd42-7d2c-4b1c-a0c5-29a3b8ba3c3f',
        type: ['VerifiableCredential', 'EndorsementCredential'],
        issuer: { id: 'https://endorser.example/', type: ['Profile'], name: 'Endorser' },
        validFrom: '2026-01-01T10:00:00Z',
        credentialSubject: { id: issuer.key.did, type: ['EndorsementSubject'], endorsementComment: 'Careful work.' },
      },
    ],
  })
  assert.equal((await check(credential)).verdict, 'valid')
  assert.equal((await check({ ...credential, favouriteColour: 'red' })).verdict, 'invalid')
})
