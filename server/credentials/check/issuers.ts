import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../platform/json.ts'
import { asArray } from './credential-text.ts'
import { type FetchDocument, FetchError } from './fetch-document.ts'

/** The issuers of this server, whose documents need no network. */
export interface LocalIssuer {
  /** Returns the mode of an issuer of this server; undefined if the DID does not belong to this server. */
  modeOf(did: string): 'live' | 'test' | undefined
  /** Returns the DID document; null if the DID belongs to this server but does not exist, undefined if it does not belong to it. */
  findDidDocument(did: string): Promise<JsonObject | null | undefined>
  /** Returns the signed status list with this URL; null and undefined as above. */
  findStatusList(url: string): Promise<JsonObject | null | undefined>
}

/** An issuer was not found or cannot be identified; the message is shown to the person who submitted the credential. */
export class IssuerError extends Error {
  override name = 'IssuerError'
  /** Whether the result may be different later, because a server could not be reached. */
  readonly temporary: boolean

  constructor(message: string, temporary = false) {
    super(message)
    this.temporary = temporary
  }
}

export interface IssuerSources {
  local?: LocalIssuer
  fetchDocument: FetchDocument
}

const MAX_DID_DOCUMENT_BYTES = 128 * 1024

/** Returns the document with the keys of an issuer. Throws an IssuerError. */
export async function resolveIssuer(id: string, { local, fetchDocument }: IssuerSources): Promise<JsonObject> {
  const localDocument = await local?.findDidDocument(id)
  if (localDocument) return localDocument
  if (localDocument === null) throw new IssuerError(`The issuer ${id} does not exist on this server.`)
  if (id.startsWith('did:key:')) return documentOfDidKey(id)
  if (id.startsWith('did:jwk:')) return documentOfDidJwk(id)
  const url = id.startsWith('did:web:') ? didWebUrl(id) : id
  if (!url.startsWith('https://'))
    throw new IssuerError(`The issuer ${id} is not supported: only did:web, did:key, did:jwk and https addresses are.`)
  const document = await fetchIssuerDocument(url, fetchDocument)
  if (document.id !== id)
    throw new IssuerError(`The document at ${url} belongs to another issuer: ${String(document.id).slice(0, 200)}.`)
  return document
}

/**
 * Returns the key at an https address, which the `kid` of a VC-JWT names: a JSON Web Key, or a set of them with the key of this address.
 * The address alone proves nothing, because others may be able to store files at the same origin: the issuer's document must list it.
 */
export async function fetchSigningKey(
  issuer: JsonObject,
  url: string,
  { fetchDocument, now }: Pick<IssuerSources, 'fetchDocument'> & { now: Date },
): Promise<JsonObject> {
  const issuerUrl = issuer.id as string
  const documentUrl = url.split('#')[0]!
  if (!issuerUrl.startsWith('https://') || new URL(url).origin !== new URL(issuerUrl).origin)
    throw new IssuerError(`The key ${url} is not at an address of the issuer ${issuerUrl}.`)
  const listedKeys = [...asArray(issuer.assertionMethod), ...asArray(issuer.publicKey)]
  if (listedKeys.some((key) => isJsonObject(key) && key.id === url)) return findSigningKey(issuer, url, now)
  if (!listedKeys.includes(url) && issuer.jwks_uri !== documentUrl)
    throw new IssuerError(
      `The issuer does not list the key ${url} in assertionMethod, publicKey or jwks_uri of its document ${issuerUrl}, so that anyone who can store files on that server could have signed the credential.`,
    )
  const document = await fetchIssuerDocument(documentUrl, fetchDocument)
  const publicKeyJwk = [document, ...asArray(document.keys)]
    .filter(isJsonObject)
    .find(
      ({ kty, kid }) =>
        typeof kty === 'string' && (kid === undefined || kid === url || kid === new URL(url).hash.slice(1)),
    )
  if (!publicKeyJwk) throw new IssuerError(`There is no JSON Web Key at ${url}.`)
  return { id: url, type: 'JsonWebKey', controller: issuerUrl, publicKeyJwk }
}

async function fetchIssuerDocument(url: string, fetchDocument: FetchDocument): Promise<JsonObject> {
  const text = await fetchDocument(url, MAX_DID_DOCUMENT_BYTES).catch((error: unknown) => {
    if (error instanceof FetchError)
      throw new IssuerError(`The document of the issuer, ${url}, ${error.message}.`, true)
    throw error
  })
  const document = parseJsonOrUndefined(text)
  if (!isJsonObject(document)) throw new IssuerError(`The document of the issuer, ${url}, is not a JSON object.`)
  return document
}

/** Returns the domain that publishes the keys of an issuer; undefined if no domain does. */
export function issuerDomain(id: string): string | undefined {
  const host = id.startsWith('did:web:') ? decodeSegment(id.slice('did:web:'.length).split(':')[0]!) : undefined
  const url = host === undefined ? id : `https://${host}`
  return url.startsWith('https://') && URL.canParse(url) ? new URL(url).host : undefined
}

/** Returns the address of the DID document. Throws an IssuerError if the DID is malformed. */
function didWebUrl(did: string): string {
  const [host, ...path] = did.slice('did:web:'.length).split(':').map(decodeSegment)
  const isValidHost = host !== undefined && /^[a-z0-9.-]+(:\d{1,5})?$/i.test(host)
  if (
    !isValidHost ||
    path.some((segment) => segment === undefined || !/^[\w.~@!$&'()*+,;=-]+$/.test(segment) || /^\.+$/.test(segment))
  )
    throw new IssuerError(`The issuer ${did} is not a valid did:web identifier.`)
  return `https://${host}/${path.length === 0 ? '.well-known' : path.join('/')}/did.json`
}

function decodeSegment(segment: string) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/** Returns the document of a did:key, which is the key itself. */
function documentOfDidKey(did: string): JsonObject {
  const publicKeyMultibase = did.slice('did:key:'.length)
  if (!/^z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/.test(publicKeyMultibase))
    throw new IssuerError('The issuer is a did:key that is not an Ed25519 key; only Ed25519 is supported.')
  const id = `${did}#${publicKeyMultibase}`
  return {
    id: did,
    verificationMethod: [{ id, type: 'Multikey', controller: did, publicKeyMultibase }],
    assertionMethod: [id],
  }
}

/** Returns the document of a did:jwk, which is the JSON Web Key itself. */
function documentOfDidJwk(did: string): JsonObject {
  const publicKeyJwk = parseJsonOrUndefined(Buffer.from(did.slice('did:jwk:'.length), 'base64url').toString())
  if (!isJsonObject(publicKeyJwk) || 'd' in publicKeyJwk)
    throw new IssuerError('The issuer is a did:jwk that does not contain a public JSON Web Key.')
  const id = `${did}#0`
  return {
    id: did,
    verificationMethod: [{ id, type: 'JsonWebKey', controller: did, publicKeyJwk }],
    assertionMethod: [id],
  }
}

/** Returns the key of an issuer that may sign credentials. Throws an IssuerError. */
export function findSigningKey(document: JsonObject, keyId: string, now: Date): JsonObject {
  const issuer = document.id as string
  const isThisKey = (id: unknown) =>
    typeof id === 'string' && (id === keyId || (id.startsWith('#') && issuer + id === keyId))
  const embeddedKeys = asArray(document.assertionMethod).filter(isJsonObject)
  const key = [...asArray(document.verificationMethod), ...embeddedKeys]
    .filter(isJsonObject)
    .find(({ id }) => isThisKey(id))
  if (!key)
    throw new IssuerError(
      `The issuer does not list the key ${keyId}. It may have been revoked, or the credential is not from this issuer.`,
    )
  const maySign = asArray(document.assertionMethod).some((method) =>
    isThisKey(isJsonObject(method) ? method.id : method),
  )
  if (!maySign) throw new IssuerError(`The issuer does not allow the key ${keyId} to sign credentials.`)
  if (key.controller !== undefined && key.controller !== issuer)
    throw new IssuerError(`The key ${keyId} is controlled by another issuer.`)
  for (const name of ['revoked', 'expires'] as const) {
    const time = key[name]
    if (typeof time === 'string' && Date.parse(time) <= now.getTime())
      throw new IssuerError(`The key ${keyId} was ${name === 'revoked' ? 'revoked' : 'valid only until'} ${time}.`)
  }
  // The context of the key is not signed, and the libraries reject unknown ones.
  const { '@context': _, ...keyWithoutContext } = key
  return keyWithoutContext
}
