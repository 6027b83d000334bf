import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId, randomCode, randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { Contact } from '../build-credential.ts'
import { baseUrl, type UrlConfig } from '../issuers/issuers.ts'

/** A person to whom an organisation issues credentials. The address is stored as a keyed hash only. */
export interface Holder {
  holder_id: string
  org_id: string
  mode: 'test' | 'live'
  profile_slug: string
  is_profile_public: boolean
}

/** Links that a holder can have at the same time; an older one is revoked for each further one. */
const MAX_LINKS = 20

export type HolderDeps = Pick<Context, 'clock' | 'mailboxes'>

function hashContact({ mailboxes }: Pick<Context, 'mailboxes'>, { kind, value }: Contact): Buffer {
  return kind === 'email' ? mailboxes.hash(value) : mailboxes.hashPhone(value)
}

/** The person of a session or a candidacy: the address, which nobody has verified, and the ID in the partner's system. */
interface Person {
  contact: Contact
  externalId: string
}

const holderColumns = sql`holder_id, org_id, mode, profile_slug, is_profile_public`

/**
 * Locks the holder of the credentials of a person, and creates it if necessary. The lock orders consents, issues and the erasure of the
 * same person one after the other.
 */
export async function ensureHolder(tx: Tx, deps: HolderDeps, scope: OrgScope, person: Person): Promise<Holder> {
  const now = deps.clock.now()
  const { contact, externalId } = person
  await sql`insert into credential_holders
      (holder_id, org_id, mode, contact_kind, contact_hash, external_id, profile_slug, created_at, updated_at)
    values (${newId('CH_', now)}, ${scope.orgId}, ${scope.mode}, ${contact.kind}, ${hashContact(deps, contact)}, ${externalId},
      ${randomCode(26)}, ${new Date(now)}, ${new Date(now)})
    on conflict (org_id, mode, contact_kind, contact_hash, external_id) do nothing`.execute(tx)
  const { rows } = await sql<Holder>`
    select ${holderColumns} from credential_holders
    where ${hasContact(deps, scope, contact)} and external_id = ${externalId} for no key update`.execute(tx)
  // Not found if the person was erased while this transaction waited for the lock: the next attempt creates a new holder.
  return rows[0] ?? ensureHolder(tx, deps, scope, person)
}

function hasContact(deps: Pick<Context, 'mailboxes'>, { orgId, mode }: OrgScope, contact: Contact) {
  return sql`org_id = ${orgId} and mode = ${mode} and contact_kind = ${contact.kind}
    and contact_hash = ${hashContact(deps, contact)}`
}

export async function findHolderOf(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  { contact, externalId }: Person,
): Promise<Holder | undefined> {
  const { rows } = await sql<Holder>`
    select ${holderColumns} from credential_holders
    where ${hasContact(deps, scope, contact)} and external_id = ${externalId}`.execute(queries)
  return rows[0]
}

/** Locks all holders with an address, for the erasure of a person. */
export async function lockHoldersWithContact(
  tx: Tx,
  deps: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  contact: Contact,
): Promise<Holder[]> {
  const { rows } = await sql<Holder>`
    select ${holderColumns} from credential_holders where ${hasContact(deps, scope, contact)}
    order by holder_id for no key update`.execute(tx)
  return rows
}

/** Creates a secret link for managing the holder's credentials. Only its hash is stored. */
export async function createHolderLink(tx: Tx, clock: Clock, config: UrlConfig, holder: Holder): Promise<string> {
  const token = `hct_${randomToken(32)}`
  const now = new Date(clock.now())
  await sql`insert into credential_holder_links (token_hash, holder_id, org_id, mode, created_at)
    values (${hashToken(token)}, ${holder.holder_id}, ${holder.org_id}, ${holder.mode}, ${now})`.execute(tx)
  await sql`update credential_holder_links set revoked_at = ${now} where token_hash in (
    select token_hash from credential_holder_links where holder_id = ${holder.holder_id} and revoked_at is null
    order by created_at desc offset ${MAX_LINKS})`.execute(tx)
  return `${baseUrl(config)}/my-credentials#token=${token}`
}

export async function findHolderByToken(queries: Queries, token: string): Promise<Holder | undefined> {
  const { rows } = await sql<Holder>`
    select h.holder_id, h.org_id, h.mode, h.profile_slug, h.is_profile_public
    from credential_holder_links l join credential_holders h using (holder_id)
    where l.token_hash = ${hashToken(token)} and l.revoked_at is null`.execute(queries)
  return rows[0]
}

/** Locks the holder, so that changes of the same person are made one after the other. */
export async function lockHolder(tx: Tx, holderId: string): Promise<Holder> {
  const { rows } = await sql<Holder>`
    select ${holderColumns} from credential_holders
    where holder_id = ${holderId} for no key update`.execute(tx)
  return rows[0]!
}

/** Revokes all links of a holder except the one that is used. */
export async function revokeOtherLinks(tx: Tx, clock: Clock, holderId: string, token: string): Promise<void> {
  await sql`update credential_holder_links set revoked_at = ${new Date(clock.now())}
    where holder_id = ${holderId} and revoked_at is null and token_hash <> ${hashToken(token)}`.execute(tx)
}

/** Switches the profile on or off, or gives it a new link. */
export async function changeProfile(
  tx: Tx,
  clock: Clock,
  holderId: string,
  { isPublic, newLink }: { isPublic?: boolean | undefined; newLink?: boolean | undefined },
): Promise<void> {
  await sql`update credential_holders set updated_at = ${new Date(clock.now())},
    is_profile_public = coalesce(${isPublic ?? null}::boolean, is_profile_public),
    profile_slug = coalesce(${newLink ? randomCode(26) : null}::text, profile_slug)
    where holder_id = ${holderId}`.execute(tx)
}

/** Returns the URL of the profile, or null while it is off. */
export function profileUrl(config: UrlConfig, { profile_slug, is_profile_public }: Holder): string | null {
  return is_profile_public ? `${baseUrl(config)}/profiles/${profile_slug}` : null
}
