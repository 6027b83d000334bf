import type { JsonObject } from '../../platform/json.ts'
import { CREDENTIALS_CONTEXT, OPEN_BADGES_CONTEXT } from './contexts.ts'

/**
 * Context of Comprehensive Learner Records. It is not bundled, because a record is signed as a VC-JWT, which needs no JSON-LD
 * processing.
 */
const CLR_CONTEXT = 'https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json'

/** The data of a Comprehensive Learner Record. */
export interface LearnerRecord {
  /** URI of the record. */
  id: string
  issuer: { did: string; name: string; url: string }
  name: string
  /** IdentityObjects of the person: the same ones as in the credentials. */
  identifiers: JsonObject[]
  /** The signed credentials of the person. */
  credentials: JsonObject[]
  validFrom: Date
  /** Whether the person left out some of the credentials. */
  partial: boolean
}

/** Returns an unsigned Comprehensive Learner Record 2.0 with the credentials of one person; sign it with `signAsJwt`. */
export function buildLearnerRecord(record: LearnerRecord): JsonObject {
  const { id, issuer, name, identifiers, credentials, validFrom, partial } = record
  return {
    '@context': [CREDENTIALS_CONTEXT, CLR_CONTEXT, OPEN_BADGES_CONTEXT],
    id,
    type: ['VerifiableCredential', 'ClrCredential'],
    issuer: { id: issuer.did, type: ['Profile'], name: issuer.name, url: issuer.url },
    name,
    partial,
    validFrom: validFrom.toISOString().replace(/\.\d{3}Z$/, 'Z'),
    credentialSubject: {
      type: ['ClrSubject'],
      identifier: identifiers,
      verifiableCredential: credentials,
    },
  }
}
