import { openPersonal, type PersonKey, sealPersonal } from '../people/identity/person-key.ts'
import type { Facts } from './facts.ts'

/** The signed credential, and the title of the project or the work that it is about. */
export interface CredentialValues {
  credential: string
  jwt: string
  source: Facts['source']
}

/** Stored in place of a credential that is sealed; null in its place means that the content was deleted. */
export const SEALED_CREDENTIAL = 'sealed'

export function sealCredential(key: Buffer, credentialId: string, values: CredentialValues): Buffer {
  return sealPersonal(key, values, credentialPurpose(credentialId))
}

/** Returns the content of a credential, or undefined if the person was erased. */
export function openCredential(key: PersonKey, credentialId: string, sealed: Uint8Array | null) {
  return openPersonal<CredentialValues>(key, sealed, credentialPurpose(credentialId))
}

function credentialPurpose(credentialId: string) {
  return `credential ${credentialId}`
}
