import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { ScimScope } from './users.ts'

export interface ScimGroup {
  group_id: string
  provider_id: string
  display_name: string
  external_id: string | null
  created_at: Date
  updated_at: Date
  members: { user_id: string; user_name: string }[]
}

export interface ScimGroupValues {
  display_name: string
  external_id: string | null
  /** IDs of users. */
  memberIds: string[]
}

export async function listScimGroups(
  queries: Queries,
  { providerId }: Pick<ScimScope, 'providerId'>,
  groupId?: string,
): Promise<ScimGroup[]> {
  const rows = await queries
    .selectFrom('scim_groups as g')
    .select(['g.group_id', 'g.provider_id', 'g.display_name', 'g.external_id', 'g.created_at', 'g.updated_at'])
    .select(
      sql<ScimGroup['members']>`coalesce((
        select json_agg(json_build_object('user_id', u.user_id, 'user_name', u.user_name) order by u.user_id)
        from scim_group_members as m join scim_users as u on u.user_id = m.user_id where m.group_id = g.group_id
      ), '[]')`.as('members'),
    )
    .where('g.provider_id', '=', providerId)
    .$if(groupId !== undefined, (query) => query.where('g.group_id', '=', groupId!))
    .orderBy('g.group_id')
    .execute()
  return rows
}

export type GroupReference = Pick<ScimGroup, 'group_id' | 'display_name'>

/** Returns the groups of users, by the ID of the user. */
export async function findGroupsOfUsers(queries: Queries, userIds: string[]): Promise<Map<string, GroupReference[]>> {
  const rows = await queries
    .selectFrom('scim_group_members as m')
    .innerJoin('scim_groups as g', 'g.group_id', 'm.group_id')
    .select(['m.user_id', 'g.group_id', 'g.display_name'])
    .where(sql<boolean>`m.user_id = any (${userIds}::text[])`)
    .orderBy('g.group_id')
    .execute()
  return Map.groupBy(rows, ({ user_id }) => user_id)
}

/** Returns the names of the groups of a user. */
export async function listGroupNames(queries: Queries, userId: string): Promise<string[]> {
  const rows = await queries
    .selectFrom('scim_group_members as m')
    .innerJoin('scim_groups as g', 'g.group_id', 'm.group_id')
    .select('g.display_name')
    .where('m.user_id', '=', userId)
    .execute()
  return rows.map(({ display_name }) => display_name)
}

export async function countScimGroups(
  queries: Queries,
  { providerId }: Pick<ScimScope, 'providerId'>,
): Promise<number> {
  const { count } = await queries
    .selectFrom('scim_groups')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('provider_id', '=', providerId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Creates a group, or replaces the values of one. Returns undefined if another group has the name. */
export async function saveScimGroup(
  tx: Tx,
  clock: Clock,
  { providerId, orgId }: ScimScope,
  { display_name, external_id, memberIds }: ScimGroupValues,
  existing?: ScimGroup,
): Promise<string | undefined> {
  const now = new Date(clock.now())
  const groupId = existing?.group_id ?? newId('SG_', clock.now())
  const other = await tx
    .selectFrom('scim_groups')
    .select('group_id')
    .where('provider_id', '=', providerId)
    .where('group_id', '<>', groupId)
    .where(sql<boolean>`lower(display_name) = lower(${display_name}::text)`)
    .executeTakeFirst()
  if (other) return undefined
  await tx
    .insertInto('scim_groups')
    .values({
      group_id: groupId,
      provider_id: providerId,
      org_id: orgId,
      display_name,
      external_id,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('group_id').doUpdateSet({ display_name, external_id, updated_at: now }))
    .execute()
  await sql`
    delete from scim_group_members where group_id = ${groupId} and user_id <> all (${memberIds}::text[])`.execute(tx)
  // IDs of users of other providers are ignored.
  await sql`
    insert into scim_group_members (group_id, user_id)
    select ${groupId}, user_id from scim_users
    where provider_id = ${providerId} and user_id = any (${memberIds}::text[])
    on conflict do nothing`.execute(tx)
  return groupId
}

export async function deleteScimGroup(tx: Tx, { group_id }: ScimGroup): Promise<void> {
  await tx.deleteFrom('scim_groups').where('group_id', '=', group_id).execute()
}
