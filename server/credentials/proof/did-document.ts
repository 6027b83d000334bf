import type { JsonObject } from '../../platform/json.ts'

/** A public key of an issuer. Retired keys stay in the document; revoked keys do not. */
export interface PublicKey {
  id: string
  publicKeyMultibase: string
  revokedAt: Date | null
}

/**
 * Returns the `did:web` identifier of a path below the public URL, such as `did:web:example.org:organisations:ORG_1`. Without a
 * path, and if the public URL has none either, its document is at `/.well-known/did.json`.
 */
export function didWeb(publicUrl: string, ...path: string[]): string {
  const { host, pathname } = new URL(publicUrl)
  const basePath = pathname.split('/').filter((segment) => segment !== '')
  return ['did:web', ...[host, ...basePath, ...path].map(encodeURIComponent)].join(':')
}

/** Returns the DID document with all keys that are not revoked: retired keys still verify the credentials that they signed. */
export function buildDidDocument(did: string, keys: PublicKey[]): JsonObject {
  const usableKeys = keys.filter(({ revokedAt }) => revokedAt === null)
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: usableKeys.map(({ id, publicKeyMultibase }) => ({
      id,
      type: 'Multikey',
      controller: did,
      publicKeyMultibase,
    })),
    assertionMethod: usableKeys.map(({ id }) => id),
  }
}
