import type { KeyPair } from '@digitalbazaar/ed25519-multikey'

/** An Ed25519 key that signs credentials. */
export interface SigningKey {
  did: string
  /** ID of the verification method in the DID document, such as `did:web:example.org#key-1`. */
  id: string
  publicKeyMultibase: string
  secretKeyMultibase: string
}

/** Creates an Ed25519 key pair in Multikey encoding. */
export async function generateKeyPair(): Promise<{ publicKeyMultibase: string; secretKeyMultibase: string }> {
  const { generate } = await import('@digitalbazaar/ed25519-multikey')
  const keyPair = await generate()
  // Canonical secret keys are 32 bytes long; the library's default appends the public key, which other software rejects.
  const { publicKeyMultibase, secretKeyMultibase } = await keyPair.export({
    publicKey: true,
    secretKey: true,
    canonicalize: true,
  })
  return { publicKeyMultibase, secretKeyMultibase }
}

/** Returns the key pair for the signature libraries. */
export async function openKeyPair(key: SigningKey): Promise<KeyPair> {
  const { from } = await import('@digitalbazaar/ed25519-multikey')
  return from({
    '@context': 'https://w3id.org/security/multikey/v1',
    type: 'Multikey',
    id: key.id,
    controller: key.did,
    publicKeyMultibase: key.publicKeyMultibase,
    secretKeyMultibase: key.secretKeyMultibase,
  })
}
