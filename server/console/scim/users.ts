import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

/** A user as the provider sent it. */
export interface ScimUser {
  user_id: string
  provider_id: string
  org_id: string
  user_name: string
  external_id: string | null
  email: string
  display_name: string | null
  given_name: string | null
  family_name: string | null
  active: boolean
  created_at: Date
  updated_at: Date
}

export type ScimUserValues = Omit<ScimUser, 'user_id' | 'provider_id' | 'org_id' | 'created_at' | 'updated_at'>

/** The provider and the organisation that a SCIM request is limited to. */
export interface ScimScope {
  providerId: string
  orgId: string
}

/** A condition that the database can check; other filters are evaluated on all users. */
export interface UserCondition {
  attribute: 'username' | 'externalid' | 'id'
  value: string
}

export async function listScimUsers(
  queries: Queries,
  { providerId }: Pick<ScimScope, 'providerId'>,
  condition?: UserCondition,
): Promise<ScimUser[]> {
  const conditions = {
    username: sql<boolean>`lower(user_name) = lower(${condition?.value}::text)`,
    externalid: sql<boolean>`external_id = ${condition?.value}`,
    id: sql<boolean>`user_id = ${condition?.value}`,
  }
  return queries
    .selectFrom('scim_users')
    .selectAll()
    .where('provider_id', '=', providerId)
    .$if(condition !== undefined, (query) => query.where(conditions[condition!.attribute]))
    .orderBy('user_id')
    .execute()
}

export async function findScimUser(
  queries: Queries,
  { providerId }: Pick<ScimScope, 'providerId'>,
  userId: string,
): Promise<ScimUser | undefined> {
  return queries
    .selectFrom('scim_users')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export async function findScimUsers(
  queries: Queries,
  { providerId }: Pick<ScimScope, 'providerId'>,
  userIds: string[],
): Promise<ScimUser[]> {
  return queries
    .selectFrom('scim_users')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where(sql<boolean>`user_id = any (${userIds}::text[])`)
    .orderBy('user_id')
    .execute()
}

export async function findScimUserByEmail(
  queries: Queries,
  providerId: string,
  email: string,
): Promise<ScimUser | undefined> {
  return queries
    .selectFrom('scim_users')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
    .executeTakeFirst()
}

export async function countScimUsers(queries: Queries, { providerId }: Pick<ScimScope, 'providerId'>): Promise<number> {
  const { count } = await queries
    .selectFrom('scim_users')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Creates a user. Returns undefined if another user has the name or the address. */
export async function createScimUser(
  tx: Tx,
  clock: Clock,
  { providerId, orgId }: ScimScope,
  values: ScimUserValues,
): Promise<ScimUser | undefined> {
  const now = new Date(clock.now())
  return tx
    .insertInto('scim_users')
    .values({
      user_id: newId('SU_', clock.now()),
      provider_id: providerId,
      org_id: orgId,
      ...values,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** Replaces the values of a user. Returns undefined if another user has the name or the address. */
export async function replaceScimUser(
  tx: Tx,
  clock: Clock,
  user: ScimUser,
  values: ScimUserValues,
): Promise<ScimUser | undefined> {
  const other = await tx
    .selectFrom('scim_users')
    .select('user_id')
    .where('provider_id', '=', user.provider_id)
    .where('user_id', '<>', user.user_id)
    .where(
      sql<boolean>`(lower(user_name) = lower(${values.user_name}::text) or lower(email) = ${values.email.toLowerCase()})`,
    )
    .executeTakeFirst()
  if (other) return undefined
  return tx
    .updateTable('scim_users')
    .set({ ...values, updated_at: new Date(clock.now()) })
    .where('user_id', '=', user.user_id)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteScimUser(tx: Tx, { user_id }: ScimUser): Promise<void> {
  await tx.deleteFrom('scim_users').where('user_id', '=', user_id).execute()
}
