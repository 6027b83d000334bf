import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Mode } from '../../access/keys.ts'
import { problem } from '../../api/problem.ts'
import type { Config } from '../../config.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'
import { newId } from '../../platform/ids.ts'
import type { JsonObject } from '../../platform/json.ts'
import { buildDidDocument, didWeb } from '../proof/did-document.ts'
import { generateKeyPair, type SigningKey } from '../proof/keys.ts'

/** The signer of a document: an organisation in one mode, or the deployment itself, which signs learner records. */
export type Issuer = OrgScope | 'deployment' | 'deployment_test'

/** Returns the mode of the credentials that an issuer signs. */
export function modeOfIssuer(issuer: Issuer): Mode {
  if (issuer === 'deployment') return 'live'
  return issuer === 'deployment_test' ? 'test' : issuer.mode
}

export const keyStatuses = ['active', 'retired', 'revoked'] as const
type KeyStatus = (typeof keyStatuses)[number]

/** A key of an issuer, without its private part. */
export interface IssuerKey {
  key_id: string
  number: number
  public_key: string
  status: KeyStatus
  created_at: Date
  retired_at: Date | null
  revoked_at: Date | null
}

export type UrlConfig = Pick<Config, 'publicUrl'>

/** Returns the public URL without a slash at its end. */
export function baseUrl({ publicUrl }: UrlConfig): string {
  if (publicUrl === undefined)
    throw problem(
      'SERVICE_UNAVAILABLE',
      'The address of this server is unknown; set PUBLIC_URL, because credentials contain it.',
    )
  return publicUrl.replace(/\/+$/, '')
}

/** Returns the DID of an issuer. It contains the host of the public URL, so that anybody can fetch the keys. */
export function didOf(config: UrlConfig, issuer: Issuer): string {
  const url = baseUrl(config)
  if (issuer === 'deployment') return didWeb(url)
  if (issuer === 'deployment_test') return didWeb(url, 'test')
  const path = ['organisations', issuer.orgId, ...(issuer.mode === 'test' ? ['test'] : [])]
  return didWeb(url, ...path)
}

/** Returns the issuer with this DID, or undefined if the DID is not of this deployment. */
export function issuerOfDid(config: UrlConfig, did: string): Issuer | undefined {
  const ownDid = didOf(config, 'deployment')
  if (did === ownDid) return 'deployment'
  if (did === didOf(config, 'deployment_test')) return 'deployment_test'
  if (!did.startsWith(`${ownDid}:organisations:`)) return undefined
  const [orgId, mode, ...others] = did.slice(`${ownDid}:organisations:`.length).split(':')
  if (!isOrganisationId(orgId) || others.length > 0 || (mode !== undefined && mode !== 'test')) return undefined
  return { orgId, mode: mode ?? 'live' }
}

export function isOrganisationId(text: string | undefined): text is string {
  return text !== undefined && /^ORG_[0-9A-Z]{26}$/.test(text)
}

const keyPurpose = (keyId: string) => `credential key ${keyId}`

export const sealedCredentialKeys: SealedColumn = {
  table: 'credential_keys',
  column: 'secret_key',
  id: ['key_id'],
  purpose: keyPurpose,
}

function ofIssuer(issuer: Issuer) {
  return typeof issuer === 'string'
    ? sql`org_id is null and mode = ${modeOfIssuer(issuer)}`
    : sql`org_id = ${issuer.orgId} and mode = ${issuer.mode}`
}

/** Lists the keys of an issuer, newest first. */
export async function listIssuerKeys(queries: Queries, issuer: Issuer): Promise<IssuerKey[]> {
  const { rows } = await sql<IssuerKey>`
    select key_id, number, public_key, status, created_at, retired_at, revoked_at
    from credential_keys where ${ofIssuer(issuer)} order by number desc`.execute(queries)
  return rows
}

/** Returns the DID document of an issuer, or undefined if it has no keys. */
export async function findDidDocument(
  queries: Queries,
  config: UrlConfig,
  issuer: Issuer,
): Promise<JsonObject | undefined> {
  const keys = await listIssuerKeys(queries, issuer)
  if (keys.length === 0) return undefined
  const did = didOf(config, issuer)
  return buildDidDocument(
    did,
    keys.toReversed().map(({ number, public_key, revoked_at }) => ({
      id: verificationMethodId(did, number),
      publicKeyMultibase: public_key,
      revokedAt: revoked_at,
    })),
  )
}

function verificationMethodId(did: string, number: number): string {
  return `${did}#key-${number}`
}

/** A key that signs, with its row. */
export interface OpenedKey extends SigningKey {
  keyId: string
}

/**
 * Returns the key that signs now, and creates the first key of an issuer. The key is locked, so that it is revoked after what this
 * transaction signs is committed: the revocation then finds it.
 */
export async function openSigningKey(tx: Tx, config: UrlConfig, clock: Clock, issuer: Issuer): Promise<OpenedKey> {
  const row = (await findActiveKey(tx, issuer)) ?? (await createFirstKey(tx, clock, issuer))
  const did = didOf(config, issuer)
  return {
    keyId: row.key_id,
    did,
    id: verificationMethodId(did, row.number),
    publicKeyMultibase: row.public_key,
    secretKeyMultibase: vaultOf(tx).open(row.secret_key, keyPurpose(row.key_id)),
  }
}

interface ActiveKeyRow {
  key_id: string
  number: number
  public_key: string
  secret_key: Buffer
}

async function findActiveKey(tx: Tx, issuer: Issuer): Promise<ActiveKeyRow | undefined> {
  const { rows } = await sql<ActiveKeyRow>`
    select key_id, number, public_key, secret_key from credential_keys
    where ${ofIssuer(issuer)} and status = 'active' for share`.execute(tx)
  return rows[0]
}

async function createFirstKey(tx: Tx, clock: Clock, issuer: Issuer): Promise<ActiveKeyRow> {
  await lockIssuer(tx, issuer)
  return (await findActiveKey(tx, issuer)) ?? insertKey(tx, clock, issuer)
}

/** Serialises changes of the keys of an issuer, so that it always has exactly one active key. */
async function lockIssuer(tx: Tx, issuer: Issuer): Promise<void> {
  const name = typeof issuer === 'string' ? issuer : `${issuer.orgId} ${issuer.mode}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${`credential keys of ${name}`}, 0))`.execute(tx)
}

async function insertKey(tx: Tx, clock: Clock, issuer: Issuer): Promise<ActiveKeyRow> {
  const now = clock.now()
  const { publicKeyMultibase, secretKeyMultibase } = await generateKeyPair()
  const keyId = newId('CK_', now)
  const secretKey = vaultOf(tx).seal(secretKeyMultibase, keyPurpose(keyId))
  const { orgId, mode }: { orgId: string | null; mode: Mode } =
    typeof issuer === 'string' ? { orgId: null, mode: modeOfIssuer(issuer) } : issuer
  const { rows } = await sql<ActiveKeyRow>`
    insert into credential_keys (key_id, org_id, mode, number, public_key, secret_key, status, created_at)
    select ${keyId}, ${orgId}, ${mode}, coalesce(max(number), 0) + 1, ${publicKeyMultibase}, ${secretKey}, 'active', ${new Date(now)}
    from credential_keys where ${ofIssuer(issuer)}
    returning key_id, number, public_key, secret_key`.execute(tx)
  return rows[0]!
}

/** Replaces the key that signs. The old key stays in the DID document, so that its credentials can still be verified. */
export async function rotateIssuerKey(tx: Tx, clock: Clock, issuer: Issuer): Promise<IssuerKey> {
  await lockIssuer(tx, issuer)
  await sql`update credential_keys set status = 'retired', retired_at = ${new Date(clock.now())}
    where ${ofIssuer(issuer)} and status = 'active'`.execute(tx)
  await insertKey(tx, clock, issuer)
  return (await listIssuerKeys(tx, issuer))[0]!
}

/**
 * Revokes a key that others may know: it leaves the DID document, so that nothing it signed can be verified any more. If it was the
 * key that signs, a new one replaces it.
 */
export async function revokeIssuerKey(tx: Tx, clock: Clock, issuer: Issuer, keyId: string): Promise<IssuerKey> {
  await lockIssuer(tx, issuer)
  const key = (await listIssuerKeys(tx, issuer)).find(({ key_id }) => key_id === keyId)
  if (!key) throw problem('NOT_FOUND', `Key ${keyId} not found.`)
  if (key.status === 'revoked') throw problem('CONFLICT', `Key ${keyId} is already revoked.`)
  if (key.status === 'active') await rotateIssuerKey(tx, clock, issuer)
  await sql`update credential_keys set status = 'revoked', revoked_at = ${new Date(clock.now())}, secret_key = null
    where key_id = ${keyId}`.execute(tx)
  return (await listIssuerKeys(tx, issuer)).find(({ key_id }) => key_id === keyId)!
}
