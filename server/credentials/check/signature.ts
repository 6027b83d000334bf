import type { JWK } from 'jose'
import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { loadBundledContext } from '../proof/contexts.ts'
import { contextResolver, prepareJsonLd } from '../proof/json-ld.ts'
import { findComplexityError } from './complexity.ts'
import { findContextError } from './contexts.ts'
import { asArray, type SubmittedCredential } from './credential-text.ts'

/** The signature is not valid or not supported; the message is shown to the person who submitted the credential. */
export class SignatureError extends Error {
  override name = 'SignatureError'
}

/** Time limit of canonicalisation, whose cost can grow exponentially with the number of similar blank nodes. */
const MAX_CANONICALISATION_MS = 1000

const JWT_ALGORITHMS = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'RS256', 'PS256']

/** Returns the ID of the key that signed the credential. Throws a SignatureError if the kind of proof is not supported. */
export function signingKeyId({ document, jwt }: SubmittedCredential): string {
  if (jwt) {
    const { kid, jwk } = jwt.header
    if (typeof kid === 'string') return absoluteKeyId(kid, jwt.claims.iss)
    throw new SignatureError(
      jwk === undefined
        ? 'The header of the VC-JWT has no `kid`, so that the key is unknown.'
        : 'The key is in the VC-JWT itself, and nothing connects it to the issuer.',
    )
  }
  const { verificationMethod } = supportedProof(document)
  const id = isJsonObject(verificationMethod) ? verificationMethod.id : verificationMethod
  if (typeof id !== 'string') throw new SignatureError('The proof does not name a verificationMethod.')
  // A did:key has only one key, so some issuers leave out the fragment.
  return /^did:key:[^#]+$/.test(id) ? `${id}#${id.slice('did:key:'.length)}` : id
}

/** Completes a `kid` that is only the fragment of a DID URL. */
function absoluteKeyId(kid: string, issuer: unknown) {
  return kid.startsWith('#') && typeof issuer === 'string' ? issuer + kid : kid
}

/** Returns the first proof with the supported cryptosuite. */
function supportedProof(document: JsonObject): JsonObject {
  const proofs = asArray(document.proof).filter(isJsonObject)
  if (proofs.length === 0) throw new SignatureError('The credential has no proof, so its issuer cannot be verified.')
  const proof = proofs.find(
    ({ type, cryptosuite }) => type === 'DataIntegrityProof' && cryptosuite === 'eddsa-rdfc-2022',
  )
  if (!proof) {
    const kinds = proofs.map(({ type, cryptosuite }) => String(cryptosuite ?? type).slice(0, 100)).join(', ')
    throw new SignatureError(`The kind of proof (${kinds}) is not supported; eddsa-rdfc-2022 and VC-JWT are.`)
  }
  return proof
}

/** Verifies the signature with a key of the issuer. Throws a SignatureError. */
export async function verifySignature(credential: SubmittedCredential, key: JsonObject, now: Date): Promise<void> {
  if (credential.jwt) await verifyJwt(credential.jwt, key)
  else await verifyProof(credential.document, key, now)
}

async function verifyJwt({ text, header }: NonNullable<SubmittedCredential['jwt']>, key: JsonObject) {
  if (!JWT_ALGORITHMS.includes(header.alg as string))
    throw new SignatureError(`The algorithm ${String(header.alg).slice(0, 20)} of the VC-JWT is not supported.`)
  const { compactVerify, errors, importJWK } = await import('jose')
  try {
    await compactVerify(text, await importJWK(await publicJwk(key), header.alg as string), {
      algorithms: JWT_ALGORITHMS,
    })
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) throw new SignatureError(WRONG_SIGNATURE)
    throw new SignatureError(
      'The signature could not be verified with the key of the issuer: their formats do not match.',
    )
  }
}

const WRONG_SIGNATURE =
  'The signature does not match: the credential was changed after it was signed, or it was signed with another key.'

async function publicJwk(key: JsonObject): Promise<JWK> {
  if (isJsonObject(key.publicKeyJwk)) return key.publicKeyJwk as JWK
  const { from, toJwk } = await import('@digitalbazaar/ed25519-multikey')
  return toJwk({ keyPair: await from(key) })
}

async function verifyProof(document: JsonObject, key: JsonObject, now: Date) {
  const proof = supportedProof(document)
  checkProofOptions(proof, now)
  // Checked first, because everything after this costs much more.
  if (!PROOF_VALUE.test(String(proof.proofValue))) throw new SignatureError(INVALID_FORMAT)
  const [{ DataIntegrityProof }, { cryptosuite }] = await Promise.all([
    import('@digitalbazaar/data-integrity'),
    import('@digitalbazaar/eddsa-rdfc-2022-cryptosuite'),
    prepareJsonLd(),
  ])
  const inputError = (await findContextError(document)) ?? findComplexityError(document)
  if (inputError) throw new SignatureError(inputError)
  const endsAt = performance.now() + MAX_CANONICALISATION_MS
  const canonizeOptions = {
    contextResolver,
    maxWorkFactor: 1,
    // Not a timer, which would not run during the computation.
    signal: {
      get aborted() {
        return performance.now() > endsAt
      },
      reason: 'time limit',
    },
  }
  const { proof: _, ...unsecuredDocument } = document
  let statements = ''
  async function canonize(input: object, options: object) {
    const canonical = await cryptosuite.canonize(input, { ...options, ...canonizeOptions })
    if (input === unsecuredDocument) statements = canonical
    return canonical
  }
  const suite = new DataIntegrityProof({ cryptosuite: { ...cryptosuite, canonize } })
  const result = await suite.verifyProof({
    proof,
    document: unsecuredDocument,
    // The suite asks for the key, and jsonld for contexts.
    documentLoader: async (url) =>
      url === proof.verificationMethod || url === key.id
        ? { contextUrl: null, documentUrl: url, document: key, tag: 'static' }
        : loadBundledContext(url),
  })
  if (!result.verified) throw new SignatureError(describeFailure(result.error))
  const hiddenProperty = findHiddenProperty(document, statements)
  if (hiddenProperty)
    throw new SignatureError(
      `The signed property ${hiddenProperty} is missing at its place in the JSON: the credential was rewritten after it was signed.`,
    )
}

const INVALID_FORMAT = 'The signature or the key of the issuer has an invalid format.'

/** The 64 bytes of an Ed25519 signature in base58. */
const PROOF_VALUE = /^z[1-9A-HJ-NP-Za-km-z]{64,88}$/

const CREDENTIALS_VOCABULARY = 'https://www.w3.org/2018/credentials#'
/** Properties that decide about the validity. */
const DECISIVE_PROPERTIES = ['issuer', 'validFrom', 'validUntil', 'issuanceDate', 'expirationDate', 'credentialStatus']

/**
 * Returns a decisive property that the signed statements (N-Quads) contain, but the top level of the JSON does not. The same statements can
 * be written at other positions of the JSON, and the steps after the signature read its top level.
 */
function findHiddenProperty(document: JsonObject, statements: string): string | undefined {
  const quads = [...statements.matchAll(/^(<[^>]*>|_:\S+) <([^>]*)> (\S+)/gm)]
  const subjects = new Set(
    typeof document.id === 'string'
      ? [`<${document.id}>`]
      : quads
          .filter(([, , predicate, object]) => predicate === RDF_TYPE && object === VERIFIABLE_CREDENTIAL)
          .map(([, subject]) => subject),
  )
  return DECISIVE_PROPERTIES.find((name) => {
    const signedCount = quads.filter(
      ([, subject, predicate]) => subjects.has(subject!) && predicate === CREDENTIALS_VOCABULARY + name,
    ).length
    return signedCount !== asArray(document[name]).length
  })
}

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const VERIFIABLE_CREDENTIAL = `<${CREDENTIALS_VOCABULARY}VerifiableCredential>`

function checkProofOptions({ proofPurpose, created, expires, previousProof }: JsonObject, now: Date) {
  if (proofPurpose !== 'assertionMethod')
    throw new SignatureError('The purpose of the proof must be assertionMethod, which is the purpose of credentials.')
  if (previousProof !== undefined) throw new SignatureError('Chains of proofs (previousProof) are not supported.')
  for (const [name, time] of Object.entries({ created, expires }))
    if (time !== undefined && (typeof time !== 'string' || Number.isNaN(Date.parse(time))))
      throw new SignatureError(`The time \`${name}\` of the proof is not valid.`)
  if (typeof expires === 'string' && Date.parse(expires) <= now.getTime())
    throw new SignatureError(`The proof was valid only until ${expires}.`)
}

function describeFailure(error: unknown): string {
  const { name = '', message = '' } = error as { name?: string; message?: string }
  if (message === 'Invalid signature.') return WRONG_SIGNATURE
  if (name.startsWith('jsonld.'))
    return 'The credential has properties that its contexts do not define, or invalid JSON-LD, so that the signature does not cover all of it.'
  if (/Abort signal|deep iterations/.test(message)) return 'The credential is too complex to be verified.'
  return INVALID_FORMAT
}
