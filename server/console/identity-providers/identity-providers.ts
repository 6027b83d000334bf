import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { ConsoleRole } from '../auth/roles.ts'

interface RoleMapping {
  group: string
  role: ConsoleRole
}

/** An OpenID Connect provider of an organisation or, if `org_id` is null, of the operators. */
export interface IdentityProvider {
  provider_id: string
  org_id: string | null
  name: string
  issuer: string
  client_id: string
  /** Sealed. */
  client_secret: Buffer | null
  allowed_domains: string[]
  group_claim: string
  role_mappings: RoleMapping[]
  default_role: ConsoleRole | null
  required: boolean
  end_session_endpoint: string | null
  created_at: Date
  updated_at: Date
}

export interface ProviderSettingsInput {
  name: string
  issuer: string
  client_id: string
  /** Undefined keeps the stored secret; null removes it. */
  client_secret?: string | null
  allowed_domains: string[]
  group_claim?: string
  role_mappings?: RoleMapping[]
  default_role?: ConsoleRole | null
  required?: boolean
}

const DEFAULT_GROUP_CLAIM = 'groups'

export async function findProvider(queries: Queries, providerId: string): Promise<IdentityProvider | undefined> {
  const row = await queries
    .selectFrom('identity_providers')
    .selectAll()
    .where('provider_id', '=', providerId)
    .executeTakeFirst()
  return row as IdentityProvider | undefined
}

/** Returns the provider of an organisation, or that of the operators for null. */
export async function findProviderOf(queries: Queries, orgId: string | null): Promise<IdentityProvider | undefined> {
  const row = await queries
    .selectFrom('identity_providers')
    .selectAll()
    .where(sql<boolean>`org_id is not distinct from ${orgId}`)
    .executeTakeFirst()
  return row as IdentityProvider | undefined
}

export interface SavedProvider {
  provider: IdentityProvider
  /** Whether the sessions, accounts, SCIM token, users and groups of the provider were removed, because the issuer or the client changed. */
  replaced: boolean
}

/** Creates or replaces the provider of an organisation or of the operators. */
export async function saveProvider(
  tx: Tx,
  { clock, vault }: Pick<Context, 'clock' | 'vault'>,
  orgId: string | null,
  { client_secret, ...input }: ProviderSettingsInput,
  endSessionEndpoint: string | null,
): Promise<SavedProvider> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`identity provider of ${orgId}`}, 0))`.execute(tx)
  const existing = await findProviderOf(tx, orgId)
  const now = new Date(clock.now())
  const providerId = existing?.provider_id ?? newId('IP_', clock.now())
  const replaced = existing !== undefined && isOtherClient(existing, input)
  if (replaced) {
    // The accounts of another issuer are other people, even if they have the same subject.
    for (const table of ['console_identities', 'console_sessions', 'scim_tokens', 'scim_groups', 'scim_users'] as const)
      await tx.deleteFrom(table).where('provider_id', '=', providerId).execute()
  }
  const keptSecret = replaced ? null : (existing?.client_secret ?? null)
  const values = {
    name: input.name,
    issuer: input.issuer,
    client_id: input.client_id,
    client_secret:
      client_secret === undefined
        ? keptSecret
        : client_secret === null
          ? null
          : vault.seal(client_secret, secretPurpose(providerId)),
    allowed_domains: [...new Set(input.allowed_domains.map((domain) => domain.toLowerCase()))],
    group_claim: input.group_claim ?? DEFAULT_GROUP_CLAIM,
    role_mappings: JSON.stringify(input.role_mappings ?? []),
    default_role: input.default_role ?? null,
    required: input.required ?? false,
    end_session_endpoint: endSessionEndpoint,
    updated_at: now,
  }
  const row = await tx
    .insertInto('identity_providers')
    .values({ provider_id: providerId, org_id: orgId, created_at: now, ...values })
    .onConflict((conflict) => conflict.column('provider_id').doUpdateSet(values))
    .returningAll()
    .executeTakeFirstOrThrow()
  return { provider: row as unknown as IdentityProvider, replaced }
}

/** Returns whether the settings name another issuer or client than the provider. */
export function isOtherClient(
  provider: Pick<IdentityProvider, 'issuer' | 'client_id'>,
  { issuer, client_id }: Pick<ProviderSettingsInput, 'issuer' | 'client_id'>,
): boolean {
  return provider.issuer !== issuer || provider.client_id !== client_id
}

/** Removes the provider, and ends the sessions of people who signed in with it. */
export async function removeProvider(tx: Tx, orgId: string | null): Promise<IdentityProvider | undefined> {
  const row = await tx
    .deleteFrom('identity_providers')
    .where(sql<boolean>`org_id is not distinct from ${orgId}`)
    .returningAll()
    .executeTakeFirst()
  return row as IdentityProvider | undefined
}

/** Lets people sign in by email again. Returns undefined if there is no provider. */
export async function makeProviderOptional(tx: Tx, orgId: string | null): Promise<IdentityProvider | undefined> {
  const row = await tx
    .updateTable('identity_providers')
    .set({ required: false })
    .where(sql<boolean>`org_id is not distinct from ${orgId}`)
    .returningAll()
    .executeTakeFirst()
  return row as IdentityProvider | undefined
}

export function openClientSecret(
  { vault }: Pick<Context, 'vault'>,
  { provider_id, client_secret }: Pick<IdentityProvider, 'provider_id' | 'client_secret'>,
): string | undefined {
  return client_secret === null ? undefined : vault.open(client_secret, secretPurpose(provider_id))
}

function secretPurpose(providerId: string) {
  return `client secret of ${providerId}`
}

export const sealedClientSecrets: SealedColumn = {
  table: 'identity_providers',
  column: 'client_secret',
  id: ['provider_id'],
  purpose: secretPurpose,
}

export function providerRecord({
  org_id: _orgId,
  client_secret,
  end_session_endpoint: _endpoint,
  created_at,
  updated_at,
  ...provider
}: IdentityProvider) {
  return {
    ...provider,
    has_client_secret: client_secret !== null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
