import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createIssuer, ISSUED_AT, sampleCredential } from '../../../test/support/credentials.ts'
import { openBadgeErrors } from '../../../test/support/open-badge-schema.ts'
import type { JsonObject } from '../../platform/json.ts'
import { type DocumentLoader, loadBundledContext } from './contexts.ts'
import { buildDidDocument, didWeb } from './did-document.ts'
import { contextResolver, prepareJsonLd } from './json-ld.ts'
import { generateKeyPair } from './keys.ts'
import { signAsJwt, signCredential, signOpenBadge } from './sign.ts'
import {
  createStatusList,
  decodeStatusList,
  encodeStatusList,
  isStatusSet,
  MIN_STATUS_LIST_SIZE,
  setStatus,
} from './status-list.ts'

// The key, the document and the results of the test vector of the W3C Recommendation "Data Integrity EdDSA Cryptosuites", section
// "Representation: eddsa-rdfc-2022".
const VECTOR_KEY = {
  did: 'https://vc.example/issuers/5678',
  id: 'https://vc.example/issuers/5678#z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2',
  publicKeyMultibase: 'z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2',
  secretKeyMultibase: 'z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq',
}
const VECTOR_DOCUMENT = {
  '@context': ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/ns/credentials/examples/v2'],
  id: 'urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33',
  type: ['VerifiableCredential', 'AlumniCredential'],
  name: 'Alumni Credential',
  description: 'A minimum viable example of an Alumni Credential.',
  issuer: 'https://vc.example/issuers/5678',
  validFrom: '2023-01-01T00:00:00Z',
  credentialSubject: { id: 'did:example:abcdefgh', alumniOf: 'The School of Examples' },
}
const VECTOR_CREATED_AT = new Date('2023-02-24T23:36:38Z')
const VECTOR_PROOF_VALUE = 'z21EVs3eXERqTn4acNHT9viboqgzUaQ3kTmhPT3eA8qrVPE7CrQq78WkzctnMX5W4CrzcKnHw8V6dvy5pgWYCU5e9'

/** Loads the context of W3C's examples too, which the server does not know. */
const loadVectorContext: DocumentLoader = async (url) =>
  url === 'https://www.w3.org/ns/credentials/examples/v2'
    ? {
        contextUrl: null,
        documentUrl: url,
        document: { '@context': { '@vocab': 'https://www.w3.org/ns/credentials/examples#' } },
        tag: 'static',
      }
    : loadBundledContext(url)

test("a signature is equal to W3C's test vector, byte for byte", async () => {
  const { proof, ...document } = await signCredential(VECTOR_DOCUMENT, VECTOR_KEY, VECTOR_CREATED_AT, loadVectorContext)

  assert.deepEqual(document, VECTOR_DOCUMENT)
  assert.deepEqual(proof, {
    type: 'DataIntegrityProof',
    cryptosuite: 'eddsa-rdfc-2022',
    created: '2023-02-24T23:36:38Z',
    verificationMethod: VECTOR_KEY.id,
    proofPurpose: 'assertionMethod',
    proofValue: VECTOR_PROOF_VALUE,
  })
})

/** Returns a credential with contexts in other places: nested, repeated, inline, and with several types. */
function contextVariants(credential: JsonObject): JsonObject[] {
  const contexts = credential['@context'] as string[]
  const inline = { colour: 'https://example.org/colour', Painted: 'https://example.org/Painted' }
  const [endorsement] = credential.endorsement as JsonObject[]
  const integrity = 'https://w3id.org/security/data-integrity/v2'
  const painted = { type: ['Evidence', 'Painted'], colour: 'red', name: 'Wall' }
  const endorse = (context: unknown) => ({ ...credential, endorsement: [{ ...endorsement, '@context': context }] })
  return [
    endorse(contexts),
    endorse([...contexts, integrity]),
    { ...credential, '@context': [...contexts, ...contexts] },
    { ...credential, '@context': [...contexts, 'https://purl.imsglobal.org/spec/ob/v3p0/extensions.json'] },
    { ...endorse(contexts), '@context': [...contexts, inline], colour: 'green', evidence: [painted] },
    { ...endorse([...contexts, inline]), evidence: [{ '@context': inline, ...painted }] },
    { ...endorse([contexts[0], inline, contexts[1]]), '@context': [contexts[0], inline, contexts[1]], colour: 'blue' },
    { ...credential, evidence: [{ type: ['Evidence', 'Profile'], id: 'https://example.org/1', name: 'Both' }] },
  ]
}

test('contexts with shared term definitions give the same canonical form as the unchanged library', async () => {
  await prepareJsonLd()
  const issuer = await createIssuer('https://issuer.example')
  const endorsed: JsonObject = {
    ...sampleCredential(issuer, 2),
    endorsement: [
      {
        id: 'urn:uuid:6bb7bd42-7d2c-4b1c-a0c5-29a3b8ba3c3f',
        type: ['VerifiableCredential', 'EndorsementCredential'],
        issuer: { id: 'https://endorser.example/', type: ['Profile'], name: 'Endorser' },
        validFrom: '2026-01-01T10:00:00Z',
        credentialSubject: { id: issuer.key.did, type: ['EndorsementSubject'], endorsementComment: 'Careful work.' },
      },
    ],
  }
  const earlierModel = {
    ...sampleCredential(issuer, 3),
    '@context': [
      'https://www.w3.org/2018/credentials/v1',
      'https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.1.json',
      'https://w3id.org/security/data-integrity/v2',
    ],
    issuanceDate: '2026-01-01T10:00:00Z',
    validFrom: undefined,
    validUntil: undefined,
    credentialStatus: undefined,
  }
  const documents = [sampleCredential(issuer), endorsed, earlierModel, await issuer.signStatusList()]
  documents.push(...contextVariants(endorsed))
  // The second time, the contexts have been processed.
  for (const document of [...documents, ...documents]) {
    const options = { documentLoader: loadBundledContext, base: null, safe: true }
    // With an explicit mode, the library starts from another initial context, which is not changed.
    const reference = await cryptosuite.canonize(document, { ...options, processingMode: 'json-ld-1.1' })
    assert.equal(await cryptosuite.canonize(document, options), reference)
    assert.equal(await cryptosuite.canonize(document, { ...options, contextResolver }), reference)
    assert.ok(reference.split('\n').length > 5)
  }
})

test('a credential with a term that its contexts do not define is not signed', async () => {
  const issuer = await createIssuer('https://issuer.example')
  await assert.rejects(
    signCredential({ ...sampleCredential(issuer), favouriteColour: 'green' }, issuer.key, ISSUED_AT),
    /Safe mode/,
  )
})

test('a signed credential has the structure of an Open Badge 3.0', async () => {
  const issuer = await createIssuer('https://issuer.example')
  const credential = await signOpenBadge(sampleCredential(issuer), issuer.key, ISSUED_AT)
  assert.deepEqual(openBadgeErrors(credential), [])

  const { name: _, ...nameless } = credential
  assert.deepEqual(openBadgeErrors(nameless), ["/ must have required property 'name'"])
})

test('a VC-JWT contains the credential without its proof, and the registered claims', async () => {
  const issuer = await createIssuer('https://issuer.example')
  const unsigned = sampleCredential(issuer)
  const jwt = await signAsJwt(await signCredential(unsigned, issuer.key, ISSUED_AT), issuer.key)

  assert.deepEqual(decodeProtectedHeader(jwt), { alg: 'EdDSA', typ: 'vc+jwt', kid: issuer.key.id })
  assert.deepEqual(decodeJwt(jwt), {
    ...unsigned,
    iss: issuer.key.did,
    jti: unsigned.id,
    nbf: Date.parse('2026-01-01T10:00:00Z') / 1000,
    exp: Date.parse('2028-01-01T10:00:00Z') / 1000,
  })
})

test('a DID document lists retired keys, and no revoked ones', async () => {
  const did = didWeb('https://verify.example.com:8443/', 'organisations', 'ORG_1')
  assert.equal(did, 'did:web:verify.example.com%3A8443:organisations:ORG_1')
  assert.equal(didWeb('https://verify.example.com'), 'did:web:verify.example.com')
  const keys = await Promise.all(
    [null, ISSUED_AT, null].map(async (revokedAt, index) => {
      const { publicKeyMultibase } = await generateKeyPair()
      return { id: `${did}#key-${index + 1}`, publicKeyMultibase, revokedAt }
    }),
  )

  const document = buildDidDocument(did, keys)

  assert.equal(document.id, did)
  assert.deepEqual(document.assertionMethod, [`${did}#key-1`, `${did}#key-3`])
  assert.deepEqual(
    document.verificationMethod,
    [keys[0]!, keys[2]!].map(({ id, publicKeyMultibase }) => ({
      id,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase,
    })),
  )
})

test('a status list has the minimum size and keeps its bits', () => {
  const bits = createStatusList()
  assert.equal(bits.length * 8, MIN_STATUS_LIST_SIZE)
  // The example of the specification: the first entry is the highest bit of the first byte.
  setStatus(bits, 0)
  setStatus(bits, 9)
  setStatus(bits, MIN_STATUS_LIST_SIZE - 1)
  assert.deepEqual([bits[0], bits[1], bits.at(-1)], [0b1000_0000, 0b0100_0000, 1])

  const decoded = decodeStatusList(encodeStatusList(bits))

  assert.deepEqual(decoded, bits)
  assert.equal(isStatusSet(decoded, 9), true)
  assert.equal(isStatusSet(decoded, 10), false)
  assert.throws(() => isStatusSet(decoded, MIN_STATUS_LIST_SIZE), RangeError)
  assert.throws(() => decodeStatusList('no list'), /base64url/)
})

test('a status list that expands to more than 1 MB is not decoded', () => {
  assert.throws(() => decodeStatusList(encodeStatusList(new Uint8Array(1024 * 1024 + 1))), {
    code: 'ERR_BUFFER_TOO_LARGE',
  })
})
