import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { findPersonKeys } from '../people/identity/people.ts'
import type { Queries } from '../platform/database/database.ts'
import { isJsonObject, type JsonObject } from '../platform/json.ts'
import type { IssuedCredential } from '../verification/schema.ts'
import type { Facts, SourceKind } from './facts.ts'
import { baseUrl, type UrlConfig } from './issuers/issuers.ts'
import { type CredentialValues, openCredential } from './personal-values.ts'

export const credentialStatuses = ['active', 'expired', 'revoked'] as const
export type CredentialStatus = (typeof credentialStatuses)[number]

/** Reasons that an organisation can give. */
export const organisationRevocationReasons = [
  'issued_in_error',
  'endorsement_withdrawn',
  'evidence_wrong',
  'other',
] as const
export const revocationReasons = [
  ...organisationRevocationReasons,
  'consent_withdrawn',
  'holder_request',
  'replaced',
  'measurement_wrong',
  'key_revoked',
  'person_erased',
] as const
export type RevocationReason = (typeof revocationReasons)[number]

/** A credential without its signed text. */
export interface CredentialRow {
  credential_id: string
  url: string
  org_id: string
  mode: 'test' | 'live'
  holder_id: string
  source_kind: SourceKind
  source_id: string
  external_id: string
  skill_number: number
  skill_name: string
  method: Facts['method']
  shows_name: boolean
  is_hidden: boolean
  issued_at: Date
  valid_until: Date
  revoked_at: Date | null
  revocation_reason: RevocationReason | null
  replaced_by: string | null
  list_id: string
  version: number
  updated_at: Date
}

export const credentialColumns = sql`credential_id, url, org_id, mode, holder_id, source_kind, source_id, external_id, skill_number, skill_name,
  method, shows_name, is_hidden, issued_at, valid_until, revoked_at, revocation_reason, replaced_by, list_id, version, updated_at`

export function credentialUrl(config: UrlConfig, credentialId: string): string {
  return `${baseUrl(config)}/credentials/${credentialId}`
}

export function isCredentialId(text: string): boolean {
  return /^crd_[0-9A-Z]{26}$/.test(text)
}

export function credentialStatusAt(
  { revoked_at, valid_until }: Pick<CredentialRow, 'revoked_at' | 'valid_until'>,
  now: number,
): CredentialStatus {
  if (revoked_at) return 'revoked'
  return now >= valid_until.getTime() ? 'expired' : 'active'
}

/** Builds a credential for responses and events. It contains no personal data. */
export function credentialRecord(row: CredentialRow, now: number) {
  return {
    credential_id: row.credential_id,
    url: row.url,
    skill: { skill_id: skillId(row.skill_number), name: row.skill_name },
    method: row.method,
    external_candidate_id: row.external_id || null,
    candidate_id: row.source_kind === 'candidate' ? row.source_id : null,
    verification_id: row.source_kind === 'session' ? row.source_id : null,
    status: credentialStatusAt(row, now),
    issued_at: row.issued_at.toISOString(),
    valid_until: row.valid_until.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
    revocation_reason: row.revocation_reason,
    replaced_by: row.replaced_by,
    version: row.version,
    updated_at: row.updated_at.toISOString(),
  }
}

export async function getCredential(queries: Queries, { orgId, mode }: OrgScope, id: string): Promise<CredentialRow> {
  const { rows } = await sql<CredentialRow>`
    select ${credentialColumns} from credentials
    where credential_id = ${id} and org_id = ${orgId} and mode = ${mode}`.execute(queries)
  if (!rows[0]) throw problem('NOT_FOUND', `Credential ${id} not found in ${mode.toUpperCase()} mode.`)
  return rows[0]
}

/** Issue time and ID of the last credential on a page. */
export interface CredentialPosition {
  at: string
  id: string
}

export interface CredentialFilter {
  candidate_id?: string | undefined
  verification_id?: string | undefined
  external_candidate_id?: string | undefined
  skillNumber?: number | undefined
  status?: CredentialStatus | undefined
  updatedSince?: Date | undefined
  after?: CredentialPosition | undefined
  limit: number
}

/** Lists the credentials of an organisation, newest first. */
export async function listCredentials(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  filter: CredentialFilter,
): Promise<CredentialRow[]> {
  const conditions = [sql`org_id = ${orgId} and mode = ${mode}`]
  if (filter.candidate_id !== undefined)
    conditions.push(sql`source_kind = 'candidate' and source_id = ${filter.candidate_id}`)
  if (filter.verification_id !== undefined)
    conditions.push(sql`source_kind = 'session' and source_id = ${filter.verification_id}`)
  if (filter.external_candidate_id !== undefined) conditions.push(sql`external_id = ${filter.external_candidate_id}`)
  if (filter.skillNumber !== undefined) conditions.push(sql`skill_number = ${filter.skillNumber}`)
  if (filter.updatedSince !== undefined) conditions.push(sql`updated_at >= ${filter.updatedSince}`)
  if (filter.status === 'revoked') conditions.push(sql`revoked_at is not null`)
  else if (filter.status === 'expired') conditions.push(sql`revoked_at is null and valid_until <= ${new Date(now)}`)
  else if (filter.status === 'active') conditions.push(sql`revoked_at is null and valid_until > ${new Date(now)}`)
  if (filter.after)
    conditions.push(sql`(issued_at, credential_id) < (${new Date(filter.after.at)}, ${filter.after.id})`)
  const { rows } = await sql<CredentialRow>`
    select ${credentialColumns} from credentials where ${sql.join(conditions, sql` and `)}
    order by issued_at desc, credential_id desc limit ${filter.limit}`.execute(queries)
  return rows
}

/** Returns the credentials of sources that are not revoked, by the ID of the source. */
export async function findCredentialLinks(
  queries: Queries,
  kind: SourceKind,
  sourceIds: string[],
): Promise<Map<string, IssuedCredential[]>> {
  if (sourceIds.length === 0) return new Map()
  const { rows } = await sql<Pick<CredentialRow, 'credential_id' | 'url' | 'source_id' | 'skill_number'>>`
    select credential_id, url, source_id, skill_number from credentials
    where source_kind = ${kind} and source_id = any (${sourceIds}::text[]) and revoked_at is null
    order by issued_at, skill_number`.execute(queries)
  const links = rows.map(({ credential_id, url, source_id, skill_number }) => ({
    sourceId: source_id,
    credentialId: credential_id,
    skillId: skillId(skill_number),
    url,
  }))
  return new Map(
    [...Map.groupBy(links, ({ sourceId }) => sourceId)].map(([sourceId, group]) => [
      sourceId,
      group.map(({ sourceId: _, ...link }) => link),
    ]),
  )
}

/** Returns the credentials of a verification session. */
export async function findCredentialsOfSession(queries: Queries, verificationId: string): Promise<IssuedCredential[]> {
  const links = await findCredentialLinks(queries, 'session', [verificationId])
  return links.get(verificationId) ?? []
}

/** A credential as anybody with its link can see it. */
export interface PublicCredential {
  id: string
  mode: 'test' | 'live'
  organisation: { id: string; name: string }
  /** The signed credential. */
  credential: JsonObject
  jwt: string
  skillName: string
  issuedAt: Date
  validUntil: Date
  revokedAt: Date | null
  revokedReason: RevocationReason | null
  /** Null unless the person wants the name to be shown. */
  holderName: string | null
}

interface PublicRow {
  credential_id: string
  org_id: string
  mode: 'test' | 'live'
  organisation_name: string
  person_id: string | null
  personal: Buffer | null
  skill_name: string
  issued_at: Date
  valid_until: Date
  revoked_at: Date | null
  revocation_reason: RevocationReason | null
}

const publicColumns = sql`c.credential_id, c.org_id, c.mode, o.name as organisation_name, c.person_id, c.personal, c.skill_name, c.issued_at, c.valid_until,
  c.revoked_at, c.revocation_reason`

/**
 * Returns a credential, or undefined if there is none or the person has withdrawn it. The link of a credential that was issued again
 * leads to the newest one.
 */
export async function findPublicCredential(queries: Queries, id: string): Promise<PublicCredential | undefined> {
  if (!isCredentialId(id)) return undefined
  const { rows } = await sql<PublicRow>`
    select ${publicColumns} from credentials requested
      join credentials c on c.credential_id = coalesce(requested.replaced_by, requested.credential_id)
      join organisations o on o.org_id = c.org_id
    where requested.credential_id = ${id} and c.credential is not null`.execute(queries)
  return (await publicCredentials(queries, rows))[0]
}

/** Returns the credentials whose content can be read. */
async function publicCredentials(queries: Queries, rows: PublicRow[]): Promise<PublicCredential[]> {
  const keys = await findPersonKeys(
    queries,
    rows.flatMap(({ person_id }) => person_id ?? []),
  )
  return rows.flatMap((row) => {
    const values = openCredential(keys.get(row.person_id ?? '') ?? null, row.credential_id, row.personal)
    return values ? [publicCredential(row, values)] : []
  })
}

function publicCredential(row: PublicRow, values: CredentialValues): PublicCredential {
  const credential = JSON.parse(values.credential) as JsonObject
  return {
    id: row.credential_id,
    mode: row.mode,
    organisation: {
      id: row.org_id,
      name: row.mode === 'test' ? `${row.organisation_name} (TEST)` : row.organisation_name,
    },
    credential,
    jwt: values.jwt,
    skillName: row.skill_name,
    issuedAt: row.issued_at,
    validUntil: row.valid_until,
    revokedAt: row.revoked_at,
    revokedReason: row.revocation_reason,
    holderName: shownNameOf(credential),
  }
}

/** Returns the name in a credential, or null if it contains none. */
function shownNameOf({ credentialSubject }: JsonObject): string | null {
  const identifiers = isJsonObject(credentialSubject) ? credentialSubject.identifier : undefined
  if (!Array.isArray(identifiers)) return null
  const name = identifiers.find((identifier) => isJsonObject(identifier) && identifier.identityType === 'name')
  return typeof name?.identityHash === 'string' ? name.identityHash : null
}

/** The credentials that a person shows under one link. */
export interface PublicProfile {
  organisationId: string
  name: string | null
  /** Credentials that are neither revoked nor expired nor hidden, newest first. */
  credentials: PublicCredential[]
}

/** Returns a profile, or undefined if there is none or its holder has switched it off. */
export async function findProfile(queries: Queries, slug: string, now: number): Promise<PublicProfile | undefined> {
  if (!/^[A-Z0-9]{26}$/.test(slug)) return undefined
  const { rows: holders } = await sql<{ holder_id: string; org_id: string }>`
    select holder_id, org_id from credential_holders where profile_slug = ${slug} and is_profile_public`.execute(
    queries,
  )
  if (!holders[0]) return undefined
  const { rows } = await sql<PublicRow>`
    select ${publicColumns} from credentials c join organisations o using (org_id)
    where c.holder_id = ${holders[0].holder_id} and c.revoked_at is null and not c.is_hidden and c.valid_until > ${new Date(now)}
    order by c.issued_at desc, c.credential_id`.execute(queries)
  const credentials = await publicCredentials(queries, rows)
  return {
    organisationId: holders[0].org_id,
    name: credentials.find(({ holderName }) => holderName !== null)?.holderName ?? null,
    credentials,
  }
}
