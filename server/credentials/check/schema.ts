import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { asArray, MAX_TYPES } from './credential-text.ts'

/** Contexts of the data models 2.0 and 1.1; one of them must be the first context. */
const BASE_CONTEXTS = ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/2018/credentials/v1']

/** Types of an Open Badge; the second one is an alias that the specification allows. */
const OPEN_BADGE_TYPES = ['OpenBadgeCredential', 'AchievementCredential']

/** Long addresses take long to parse. A did:jwk with a large RSA key has about 1,000 characters. */
const MAX_URI_CHARACTERS = 4096

const MAX_TIME_CHARACTERS = 40

/** The document does not have the structure of a credential. */
class StructureError extends Error {}

export function isOpenBadge(document: JsonObject): boolean {
  return asArray(document.type).some((type) => OPEN_BADGE_TYPES.includes(type as string))
}

/** Returns the ID of the issuer, which may be an object or only the ID. */
export function issuerId({ issuer }: JsonObject): string | undefined {
  const id = isJsonObject(issuer) ? issuer.id : issuer
  return typeof id === 'string' ? id : undefined
}

/**
 * Returns the first violation of the rules of the Verifiable Credentials data model and, for Open Badges, of the required properties
 * of Open Badges 3.0; undefined if there is none. Optional properties are not restricted: issuers extend them.
 */
export function findStructureError(document: JsonObject): string | undefined {
  try {
    checkCredentialRules(document)
    if (isOpenBadge(document)) checkOpenBadgeRules(document)
    return undefined
  } catch (error) {
    if (error instanceof StructureError) return error.message
    throw error
  }
}

function checkCredentialRules(document: JsonObject) {
  const [firstContext] = asArray(document['@context'])
  if (!BASE_CONTEXTS.includes(firstContext as string))
    throw new StructureError(`The first @context must be ${BASE_CONTEXTS[0]}.`)
  requireType(document, 'VerifiableCredential', 'type')
  if (document.id !== undefined) requireUri(document.id, 'id')
  requireUri(issuerId(document), 'issuer.id')
  for (const name of ['validFrom', 'validUntil', 'issuanceDate', 'expirationDate'])
    if (document[name] !== undefined) requireDateTime(document[name], name)
  if (firstContext === BASE_CONTEXTS[1]) requireDateTime(document.issuanceDate, 'issuanceDate')
  if (asArray(document.credentialSubject).length === 0) throw new StructureError('credentialSubject is missing.')
  for (const [index, status] of asArray(document.credentialStatus).entries()) {
    const path = `credentialStatus[${index}]`
    if (!isJsonObject(status)) throw new StructureError(`${path} must be an object.`)
    requireText(status.type, `${path}.type`)
  }
}

function checkOpenBadgeRules(document: JsonObject) {
  requireUri(document.id, 'id')
  if (isJsonObject(document.issuer)) requireType(document.issuer, 'Profile', 'issuer.type')
  const subject = requireObject(document.credentialSubject, 'credentialSubject')
  requireType(subject, 'AchievementSubject', 'credentialSubject.type')
  if (subject.id === undefined && asArray(subject.identifier).length === 0)
    throw new StructureError('credentialSubject must have an id or an identifier.')
  for (const [index, identifier] of asArray(subject.identifier).entries()) {
    const path = `credentialSubject.identifier[${index}]`
    const { hashed, identityHash, identityType } = requireObject(identifier, path)
    if (typeof hashed !== 'boolean') throw new StructureError(`${path}.hashed must be true or false.`)
    requireText(identityHash, `${path}.identityHash`)
    requireText(identityType, `${path}.identityType`)
  }
  const path = 'credentialSubject.achievement'
  const achievement = requireObject(subject.achievement, path)
  requireUri(achievement.id, `${path}.id`)
  requireType(achievement, 'Achievement', `${path}.type`)
  requireText(achievement.name, `${path}.name`)
  requireText(achievement.description, `${path}.description`)
  requireObject(achievement.criteria, `${path}.criteria`)
}

function requireObject(value: unknown, path: string): JsonObject {
  if (!isJsonObject(value))
    throw new StructureError(`${path} ${value === undefined ? 'is missing' : 'must be an object'}.`)
  return value
}

function requireText(value: unknown, path: string) {
  if (typeof value !== 'string' || value === '')
    throw new StructureError(`${path} ${value === undefined ? 'is missing' : 'must be a text'}.`)
}

function requireUri(value: unknown, path: string) {
  requireText(value, path)
  if ((value as string).length > MAX_URI_CHARACTERS)
    throw new StructureError(`${path} has more than ${MAX_URI_CHARACTERS} characters.`)
  if (!URL.canParse(value as string)) throw new StructureError(`${path} must be a URI.`)
}

function requireDateTime(value: unknown, path: string) {
  requireText(value, path)
  if (
    (value as string).length > MAX_TIME_CHARACTERS ||
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value as string) ||
    Number.isNaN(Date.parse(value as string))
  )
    throw new StructureError(`${path} must be a date and time such as 2026-01-31T12:00:00Z.`)
}

function requireType({ type }: JsonObject, expected: string, path: string) {
  if (asArray(type).length > MAX_TYPES) throw new StructureError(`${path} has more than ${MAX_TYPES} entries.`)
  if (!asArray(type).includes(expected)) throw new StructureError(`${path} must include ${expected}.`)
}
