import { findExcess } from '../../platform/http/json-limits.ts'
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../platform/json.ts'

/** A credential as it was submitted. */
export interface SubmittedCredential {
  /** The credential without the registered claims of a JWT; with its `proof` if it is JSON. */
  document: JsonObject
  /** The token, if the credential is a VC-JWT. */
  jwt?: { text: string; header: JsonObject; claims: JsonObject }
}

export const MAX_CREDENTIAL_BYTES = 256 * 1024
/** These limits apply to every credential; `complexity.ts` has stricter ones for credentials that are canonicalised. */
const MAX_OBJECTS = 500
const MAX_VALUES = 2000
/** The time to expand a list grows with the square of its length. */
const MAX_LIST_LENGTH = 500
/** Every context and every type is a set of terms that is processed for each object. */
export const MAX_TYPES = 16
const MAX_TEXT_CHARACTERS = 32_768
const MAX_DEPTH = 20
const MAX_JWT_HEADER_CHARACTERS = 8192

/** The input is not a credential, or it exceeds a limit. The message is shown to the person who submitted it. */
export class FormatError extends Error {
  override name = 'FormatError'
}

/** Parses a credential: an object, JSON text, or a VC-JWT. Throws a FormatError. */
export function parseCredential(input: string | JsonObject, maxBytes = MAX_CREDENTIAL_BYTES): SubmittedCredential {
  const document = typeof input === 'string' ? parseText(input.trim(), maxBytes) : input
  if (typeof document === 'string') return parseJwt(document)
  const envelopedJwt = unwrapEnvelope(document)
  if (envelopedJwt !== undefined) return parseJwt(envelopedJwt)
  checkLimits(document)
  return { document }
}

/** Returns the object in a JSON text, or the text itself if it is a JWT. */
function parseText(text: string, maxBytes: number): JsonObject | string {
  if (Buffer.byteLength(text) > maxBytes) throw new FormatError(`The credential is larger than ${maxBytes / 1024} KB.`)
  if (looksLikeJwt(text)) return text
  // Some wallets export a JWT as a JSON string, whose characters need no escapes.
  if (text.startsWith('"') && text.endsWith('"') && looksLikeJwt(text.slice(1, -1))) return text.slice(1, -1)
  const value = /^[{[]/.test(text) ? parseBoundedJson(text) : undefined
  if (!isJsonObject(value))
    throw new FormatError('The input is not a credential. Send JSON with a proof, a VC-JWT, or a badge as PNG or SVG.')
  return value
}

/** Returns whether a text has the three parts of a JWT. Searches for the dots first, because a long text takes longer to match. */
function looksLikeJwt(text: string): boolean {
  const headerEnd = text.indexOf('.')
  const payloadEnd = text.indexOf('.', headerEnd + 1)
  const hasThreeParts =
    headerEnd > 0 && payloadEnd > headerEnd + 1 && payloadEnd < text.length - 1 && !text.includes('.', payloadEnd + 1)
  return hasThreeParts && !/[^\w.-]/.test(text)
}

function parseBoundedJson(text: string): unknown {
  const excess = findExcess(Buffer.from(text))
  if (excess) throw new FormatError(`The credential ${excess}.`)
  return parseJsonOrUndefined(text)
}

const JWT_DATA_URL = 'data:application/vc+jwt,'

/** Returns the JWT in an EnvelopedVerifiableCredential, whose ID is a data URL. */
function unwrapEnvelope({ type, id }: JsonObject): string | undefined {
  if (!asArray(type).includes('EnvelopedVerifiableCredential')) return undefined
  const jwt = typeof id === 'string' && id.startsWith(JWT_DATA_URL) ? id.slice(JWT_DATA_URL.length) : ''
  if (!looksLikeJwt(jwt))
    throw new FormatError('The enveloped credential has no data URL of the type application/vc+jwt.')
  return jwt
}

function parseJwt(text: string): SubmittedCredential {
  const [encodedHeader, encodedPayload] = text.split('.')
  if (encodedHeader!.length > MAX_JWT_HEADER_CHARACTERS) throw new FormatError('The header of the VC-JWT is too long.')
  const header = parseBoundedJson(Buffer.from(encodedHeader!, 'base64url').toString())
  const claims = parseBoundedJson(Buffer.from(encodedPayload!, 'base64url').toString())
  if (!isJsonObject(header) || !isJsonObject(claims))
    throw new FormatError('This is not a VC-JWT: its header or its payload is not a JSON object.')
  // Tokens are not processed as JSON-LD, so the limits of `checkLimits` do not apply.
  return { document: documentOfClaims(claims), jwt: { text, header, claims } }
}

/** Returns the credential in the claims. Tokens of the data model 1.1 have it in `vc`; in 2.0 it is the payload itself. */
function documentOfClaims(claims: JsonObject): JsonObject {
  const { iss, sub: _sub, nbf: _nbf, exp: _exp, iat: _iat, jti, aud: _aud, vc, ...payload } = claims
  if (!isJsonObject(vc)) return payload
  return { ...(iss === undefined ? {} : { issuer: iss }), ...(jti === undefined ? {} : { id: jti }), ...vc }
}

/**
 * The only JSON-LD keywords that credentials need. The signature covers the statements, not their notation: with other keywords, with
 * addresses as names, or with named blank nodes, a holder could write the same statements so that the end of the validity period or the
 * status is not found where it belongs.
 */
const ALLOWED_KEYWORDS = new Set(['@context', '@value', '@language', '@direction'])

const TERM_LISTS = new Set(['@context', '@type', 'type'])

/** Rejects input that is expensive to canonicalise, and keywords that credentials do not need. */
function checkLimits(document: JsonObject) {
  let objects = 0
  let values = 0
  walk(document, 0)

  function walk(value: unknown, depth: number, name = '') {
    if (++values > MAX_VALUES) throw new FormatError(`The credential has more than ${MAX_VALUES} values.`)
    if (typeof value === 'string') checkString(value, name)
    if (typeof value !== 'object' || value === null) return
    if (depth > MAX_DEPTH) throw new FormatError(`The credential is nested more than ${MAX_DEPTH} levels deep.`)
    if (Array.isArray(value)) {
      if (value.length > MAX_LIST_LENGTH)
        throw new FormatError(`The credential has a list with more than ${MAX_LIST_LENGTH} entries.`)
      for (const entry of value) walk(entry, depth + 1, name)
      return
    }
    if (++objects > MAX_OBJECTS) throw new FormatError(`The credential has more than ${MAX_OBJECTS} objects.`)
    for (const [name, entry] of Object.entries(value)) {
      if (name === '__proto__' || (/[@:]/.test(name) && !ALLOWED_KEYWORDS.has(name)))
        throw new FormatError(`The credential has a property ${name.slice(0, 100)}, which is not allowed.`)
      if (TERM_LISTS.has(name) && Array.isArray(entry) && entry.length > MAX_TYPES)
        throw new FormatError(`The property ${name} has more than ${MAX_TYPES} entries.`)
      walk(entry, depth + 1, name)
    }
  }
}

function checkString(value: string, name: string) {
  if (value.startsWith('_:')) throw new FormatError('The credential names a blank node (_:…), which is not allowed.')
  // Embedded pictures and status lists are longer.
  if (value.length > MAX_TEXT_CHARACTERS && name !== 'encodedList' && !value.startsWith('data:'))
    throw new FormatError(`The credential has a text with more than ${MAX_TEXT_CHARACTERS} characters (${name}).`)
}

export function asArray(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}
