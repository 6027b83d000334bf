import type { JsonObject } from '../../platform/json.ts'

/** The content of a credential that pages show. All of it comes from the signed JSON, so that a visitor can compare both. */
export interface CredentialDetails {
  skill: string
  description: string
  criteria: string
  issuer: string
  validFrom: Date
  validUntil: Date | null
  holderName: SignedText | null
  evidence: SignedText[]
  /** `unit` follows the value, such as ` %` or ` / 5`. */
  results: { name: SignedText; value: SignedText; unit: string }[]
  /** The skill in other lists, such as ESCO. */
  alignments: { name: SignedText; framework: string; url: string }[]
}

/** A text with its position in the signed JSON, as a JSON Pointer. */
export interface SignedText {
  text: string
  pointer: string
}

/** Reads the content of a signed credential that this server issued. */
export function readDetails(credential: JsonObject): CredentialDetails {
  const subject = objectAt(credential, 'credentialSubject')
  const achievement = objectAt(subject, 'achievement')
  const descriptions = listAt(achievement, 'resultDescription')
  const validUntil = textAt(credential, 'validUntil')
  const identities = listAt(subject, 'identifier')
  const nameIndex = identities.findIndex((identity) => identity.identityType === 'name')
  return {
    skill: textAt(achievement, 'name'),
    description: textAt(achievement, 'description'),
    criteria: textAt(objectAt(achievement, 'criteria'), 'narrative'),
    issuer: textAt(objectAt(credential, 'issuer'), 'name'),
    validFrom: new Date(textAt(credential, 'validFrom')),
    validUntil: validUntil === '' ? null : new Date(validUntil),
    holderName:
      nameIndex < 0
        ? null
        : signedText(identities[nameIndex]!, 'identityHash', `/credentialSubject/identifier/${nameIndex}`),
    evidence: listAt(credential, 'evidence').map((entry, index) =>
      signedText(entry, 'narrative', `/evidence/${index}`),
    ),
    results: listAt(subject, 'result').map((entry, index) => {
      const nameAt = descriptions.findIndex(({ id }) => id === entry.resultDescription)
      const description = descriptions[nameAt] ?? {}
      return {
        name: signedText(description, 'name', `/credentialSubject/achievement/resultDescription/${nameAt}`),
        value: signedText(entry, 'value' in entry ? 'value' : 'status', `/credentialSubject/result/${index}`),
        unit: unitOf(description),
      }
    }),
    alignments: listAt(achievement, 'alignment').map((entry, index) => ({
      name: signedText(entry, 'targetName', `/credentialSubject/achievement/alignment/${index}`),
      framework: textAt(entry, 'targetFramework'),
      url: textAt(entry, 'targetUrl'),
    })),
  }
}

function unitOf(description: JsonObject): string {
  if (description.resultType === 'Percent') return ' %'
  const maximum = textAt(description, 'valueMax')
  return description.resultType === 'RawScore' && maximum ? ` / ${maximum}` : ''
}

function signedText(value: JsonObject, key: string, pointer: string): SignedText {
  return { text: textAt(value, key), pointer: `${pointer}/${key}` }
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const child = value[key]
  return typeof child === 'object' && child !== null && !Array.isArray(child) ? (child as JsonObject) : {}
}

function listAt(value: JsonObject, key: string): JsonObject[] {
  const child = value[key]
  return Array.isArray(child) ? (child as JsonObject[]) : []
}

function textAt(value: JsonObject, key: string): string {
  const child = value[key]
  return typeof child === 'string' || typeof child === 'number' ? String(child) : ''
}
