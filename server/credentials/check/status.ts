import { isJsonObject, type JsonObject } from '../../platform/json.ts'
import { decodeStatusList, decodeStatusList2021, isStatusSet, MIN_STATUS_LIST_SIZE } from '../proof/status-list.ts'
import { asArray, FormatError, parseCredential } from './credential-text.ts'
import { FetchError } from './fetch-document.ts'
import { findSigningKey, IssuerError, type IssuerSources, resolveIssuer } from './issuers.ts'
import { findStructureError, issuerId } from './schema.ts'
import { SignatureError, signingKeyId, verifySignature } from './signature.ts'

/** Result of the status check. `unknown` means that the status could not be determined. */
export interface StatusResult {
  status: 'not_revoked' | 'revoked' | 'unknown' | 'none'
  message: string
}

/** The status cannot be determined; the message is shown to the person who submitted the credential. */
class StatusError extends Error {}

/** A compressed list of 8 million entries fits; most lists are a few hundred bytes. */
const MAX_STATUS_LIST_BYTES = 1024 * 1024
/** A credential may have several entries, for example for revocation and suspension. */
const MAX_ENTRIES = 4

/** The kinds of lists of bits: the W3C recommendation, and the draft that preceded it, which many issuers still use. */
const LIST_KINDS = [
  {
    entryType: 'BitstringStatusListEntry',
    listType: 'BitstringStatusListCredential',
    subjectType: 'BitstringStatusList',
    decode: decodeStatusList,
  },
  {
    entryType: 'StatusList2021Entry',
    listType: 'StatusList2021Credential',
    subjectType: 'StatusList2021',
    decode: decodeStatusList2021,
  },
] as const
type ListKind = (typeof LIST_KINDS)[number]

/** Checks whether the issuer revoked or suspended a credential. */
export async function checkStatus(document: JsonObject, sources: IssuerSources, now: Date): Promise<StatusResult> {
  const entries = asArray(document.credentialStatus).filter(isJsonObject)
  if (entries.length === 0)
    return { status: 'none', message: 'The credential names no status list: its issuer cannot revoke it.' }
  if (entries.length > MAX_ENTRIES)
    return { status: 'unknown', message: `The credential has more than ${MAX_ENTRIES} status entries.` }
  try {
    for (const entry of entries) {
      const revocation = await findRevocation(document, entry, sources, now)
      if (revocation) return { status: 'revoked', message: revocation }
    }
    return { status: 'not_revoked', message: 'The issuer has not revoked the credential.' }
  } catch (error) {
    if (error instanceof StatusError) return { status: 'unknown', message: error.message }
    throw error
  }
}

/** Returns why the credential is not in effect any more, or undefined if the entry does not revoke it. */
async function findRevocation(document: JsonObject, entry: JsonObject, sources: IssuerSources, now: Date) {
  if (asArray(entry.type).includes('1EdTechRevocationList')) return findInRevocationList(document, entry, sources)
  const kind = LIST_KINDS.find(({ entryType }) => asArray(entry.type).includes(entryType))
  if (!kind)
    throw new StatusError(`The kind of status list, ${String(asArray(entry.type)[0]).slice(0, 100)}, is not supported.`)
  const { statusPurpose, statusListCredential: url } = entry
  if (typeof statusPurpose !== 'string')
    throw new StatusError('The status entry of the credential has no statusPurpose.')
  // Other purposes, such as messages, do not affect the validity.
  if (statusPurpose !== 'revocation' && statusPurpose !== 'suspension') return undefined
  const index = readIndex(entry.statusListIndex)
  if (typeof url !== 'string' || index === undefined)
    throw new StatusError(
      'The status entry of the credential is not valid: it needs a statusListCredential and a statusListIndex.',
    )
  const bits = readList(await loadStatusList(url, sources, now), kind, url, statusPurpose, now)
  if (index >= bits.length * 8) throw new StatusError(`The status list ${url} has no entry ${index}.`)
  if (!isStatusSet(bits, index)) return undefined
  return statusPurpose === 'revocation'
    ? 'The issuer has revoked the credential.'
    : 'The issuer has suspended the credential.'
}

/** Returns the index of an entry, which is written as decimal digits; undefined if it is not valid. */
function readIndex(value: unknown): number | undefined {
  return /^\d{1,9}$/.test(String(value)) ? Number(value) : undefined
}

/** Returns the verified credential of a status list. */
async function loadStatusList(url: string, sources: IssuerSources, now: Date): Promise<JsonObject> {
  const localList = await sources.local?.findStatusList(url)
  if (localList) return localList
  if (localList === null) throw new StatusError(`The status list ${url} does not exist on this server.`)
  try {
    const credential = parseCredential(await sources.fetchDocument(url, MAX_STATUS_LIST_BYTES), MAX_STATUS_LIST_BYTES)
    const structureError = findStructureError(credential.document)
    if (structureError) throw new StatusError(`The status list ${url} is not valid: ${structureError}`)
    const issuer = await resolveIssuer(issuerId(credential.document)!, sources)
    await verifySignature(credential, findSigningKey(issuer, signingKeyId(credential), now), now)
    return credential.document
  } catch (error) {
    if (error instanceof FetchError) throw new StatusError(`The status list ${url} ${error.message}.`)
    if (error instanceof FormatError || error instanceof IssuerError || error instanceof SignatureError)
      throw new StatusError(`The status list ${url} is not valid: ${error.message}`)
    throw error
  }
}

function readList(list: JsonObject, kind: ListKind, url: string, purpose: string, now: Date): Uint8Array {
  const { credentialSubject, type, validUntil = list.expirationDate } = list
  if (typeof validUntil === 'string' && Date.parse(validUntil) <= now.getTime())
    throw new StatusError(`The status list ${url} expired at ${validUntil}; the issuer has to publish a new one.`)
  const subject = isJsonObject(credentialSubject) ? credentialSubject : {}
  if (!asArray(type).includes(kind.listType) || !asArray(subject.type).includes(kind.subjectType))
    throw new StatusError(`The status list ${url} is not a ${kind.listType}, as the credential states.`)
  if (!asArray(subject.statusPurpose).includes(purpose))
    throw new StatusError(`The status list ${url} is not a list for the purpose ${purpose}.`)
  let bits: Uint8Array
  try {
    bits = kind.decode(String(subject.encodedList))
  } catch {
    throw new StatusError(`The status list ${url} cannot be decoded.`)
  }
  if (bits.length * 8 < MIN_STATUS_LIST_SIZE)
    throw new StatusError(`The status list ${url} has fewer than ${MIN_STATUS_LIST_SIZE} entries.`)
  return bits
}

/** Searches the list of revoked IDs that 1EdTech defines; it has no signature of its own. */
async function findInRevocationList(document: JsonObject, { id: url }: JsonObject, { fetchDocument }: IssuerSources) {
  if (typeof url !== 'string') throw new StatusError('The status entry of the credential has no id.')
  const text = await fetchDocument(url, MAX_STATUS_LIST_BYTES).catch((error: unknown) => {
    if (error instanceof FetchError) throw new StatusError(`The revocation list ${url} ${error.message}.`)
    throw error
  })
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {}
  if (!isJsonObject(list)) throw new StatusError(`The revocation list ${url} is not a JSON object.`)
  const revoked = asArray(list.revokedCredential).map((entry) => (isJsonObject(entry) ? entry.id : entry))
  return revoked.includes(document.id) ? 'The issuer has revoked the credential.' : undefined
}
