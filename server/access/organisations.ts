import { sql } from 'kysely'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { linkErrors } from '../platform/text/links.ts'

/** Active keys that an organisation may have per mode and kind, unless the operator set another limit. */
export const DEFAULT_MAX_KEYS = 100
/** The limits of all keys of an organisation and mode together, as a multiple of the limits of one key. */
export const DEFAULT_LIMIT_FACTOR = 10

export interface Organisation {
  org_id: string
  name: string
  /** Whether the partner API is off. */
  service_off: boolean
  /** Whether everything else is stopped too. */
  service_paused: boolean
  created_at: Date
}

export const organisationColumns = [
  'org_id',
  'name',
  'service_off',
  sql<boolean>`paused_since is not null`.as('service_paused'),
  'created_at',
] as const

export async function createOrganisation(tx: Tx, name: string, clock: Clock): Promise<Organisation> {
  const linkDetails = linkErrors([['name', name]])
  if (linkDetails.length > 0) throw invalid(linkDetails)
  const now = clock.now()
  return tx
    .insertInto('organisations')
    .values({ org_id: newId('ORG_', now), name, created_at: new Date(now) })
    .returning(organisationColumns)
    .executeTakeFirstOrThrow()
}

export async function listOrganisations(tx: Queries): Promise<Organisation[]> {
  return tx.selectFrom('organisations').select(organisationColumns).orderBy('created_at').orderBy('org_id').execute()
}

export async function getOrganisation(tx: Queries, orgId: string): Promise<Organisation> {
  const organisation = await tx
    .selectFrom('organisations')
    .select(organisationColumns)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!organisation) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  return organisation
}

export interface OrganisationLimits {
  maxKeys: number
  limitFactor: number
}

/** The limits to set; null restores a default, and an omitted limit is not changed. */
export type OrganisationLimitsChange = { [Name in keyof OrganisationLimits]?: number | null }

/** Returns the limits of an organisation, and changes them if `change` is given. Takes effect within a second. */
export async function organisationLimits(
  tx: Tx,
  orgId: string,
  change: OrganisationLimitsChange = {},
): Promise<OrganisationLimits> {
  await getOrganisation(tx, orgId)
  const columns = {
    ...(change.maxKeys !== undefined ? { max_keys: change.maxKeys } : {}),
    ...(change.limitFactor !== undefined ? { limit_factor: change.limitFactor } : {}),
  }
  if (Object.keys(columns).length > 0)
    await tx.updateTable('organisations').set(columns).where('org_id', '=', orgId).execute()
  return lockOrganisationLimits(tx, orgId)
}

/** Returns the limits of an organisation, and locks them until the transaction ends, so that keys are created one after the other. */
export async function lockOrganisationLimits(tx: Tx, orgId: string): Promise<OrganisationLimits> {
  const row = await tx
    .selectFrom('organisations')
    .select(['max_keys', 'limit_factor'])
    .where('org_id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  return { maxKeys: row.max_keys ?? DEFAULT_MAX_KEYS, limitFactor: row.limit_factor ?? DEFAULT_LIMIT_FACTOR }
}
