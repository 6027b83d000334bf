import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { type DocumentLoader, loadBundledContext } from './contexts.ts'
import { prepareJsonLd } from './json-ld.ts'
import { openKeyPair, type SigningKey } from './keys.ts'

/**
 * Returns the credential with an `eddsa-rdfc-2022` Data Integrity proof. Throws if the credential has a term that its contexts do
 * not define, because such a term would not be signed.
 */
export async function signCredential(
  credential: JsonObject,
  key: SigningKey,
  createdAt: Date,
  documentLoader: DocumentLoader = loadBundledContext,
): Promise<JsonObject> {
  const [{ issue }, { DataIntegrityProof }, { cryptosuite }, keyPair] = await Promise.all([
    import('@digitalbazaar/vc'),
    import('@digitalbazaar/data-integrity'),
    import('@digitalbazaar/eddsa-rdfc-2022-cryptosuite'),
    openKeyPair(key),
    prepareJsonLd(),
  ])
  const suite = new DataIntegrityProof({ signer: keyPair.signer(), date: createdAt, cryptosuite })
  // The library adds the proof to the object that it receives.
  return issue({ credential: { ...credential }, suite, documentLoader, now: createdAt })
}

/**
 * Returns an Open Badge with a Data Integrity proof. Its proof is a list with one entry, because 1EdTech's JSON Schema allows several
 * proofs and rejects a single object. The signature does not cover this difference.
 */
export async function signOpenBadge(credential: JsonObject, key: SigningKey, createdAt: Date): Promise<JsonObject> {
  const { proof, ...content } = await signCredential(credential, key, createdAt)
  return { ...content, proof: [proof] }
}

/** Returns the credential as a VC-JWT: the payload is the credential without `proof`, with the registered claims added. */
export async function signAsJwt(credential: JsonObject, key: SigningKey): Promise<string> {
  const [{ importJWK, SignJWT }, { toJwk }, keyPair] = await Promise.all([
    import('jose'),
    import('@digitalbazaar/ed25519-multikey'),
    openKeyPair(key),
  ])
  const secretKey = await importJWK(await toJwk({ keyPair, secretKey: true }), 'EdDSA')
  const { proof: _, ...payload } = credential
  return new SignJWT({ ...payload, ...registeredClaims(credential, key.did) })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'vc+jwt', kid: key.id })
    .sign(secretKey)
}

function registeredClaims({ id, credentialSubject, validFrom, validUntil }: JsonObject, did: string) {
  const subject = isJsonObject(credentialSubject) ? credentialSubject.id : undefined
  return {
    iss: did,
    ...(typeof id === 'string' ? { jti: id } : {}),
    ...(typeof subject === 'string' ? { sub: subject } : {}),
    ...(typeof validFrom === 'string' ? { nbf: epochSeconds(validFrom) } : {}),
    ...(typeof validUntil === 'string' ? { exp: epochSeconds(validUntil) } : {}),
  }
}

function epochSeconds(dateTime: string) {
  return Math.floor(Date.parse(dateTime) / 1000)
}
