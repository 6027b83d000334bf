import { sql } from 'kysely'
import { organisationColumns } from '../../access/organisations.ts'
import type { Queries } from '../../platform/database/database.ts'

export interface ListedOrganisation {
  org_id: string
  name: string
  service_off: boolean
  service_paused: boolean
  service_off_reason: string | null
  created_at: Date
}

export interface OrganisationFilter {
  /** Substring of the organisation's name or ID. */
  q?: string | undefined
  before?: string | undefined
  limit: number
}

/** Returns organisations, newest first: IDs increase with time. */
export async function searchOrganisations(
  queries: Queries,
  { q, before, limit }: OrganisationFilter,
): Promise<ListedOrganisation[]> {
  return queries
    .selectFrom('organisations')
    .select([...organisationColumns, 'service_off_reason'])
    .$if(q !== undefined, (query) => query.where(sql<boolean>`strpos(lower(name || ' ' || org_id), lower(${q})) > 0`))
    .$if(before !== undefined, (query) => query.where('org_id', '<', before!))
    .orderBy('org_id', 'desc')
    .limit(limit)
    .execute()
}

export interface OrganisationTotals {
  credits: { test: number; live: number }
  members: number
  keys: number
}

/** Returns the credits and the numbers of members and keys of each organisation. */
export async function organisationTotals(queries: Queries, orgIds: string[]): Promise<Map<string, OrganisationTotals>> {
  const { rows } = await sql<{ org_id: string; test: number; live: number; members: number; keys: number }>`
    select o.org_id,
      coalesce((select balance from credit_balances b where b.org_id = o.org_id and mode = 'test'), 0) as test,
      coalesce((select balance from credit_balances b where b.org_id = o.org_id and mode = 'live'), 0) as live,
      (select count(*) from console_members m where m.org_id = o.org_id)::int as members,
      ((select count(*) from partner_keys k where k.org_id = o.org_id and revoked_at is null)
        + (select count(*) from session_keys k where k.org_id = o.org_id and revoked_at is null))::int as keys
    from unnest(${orgIds}::text[]) as o (org_id)`.execute(queries)
  return new Map(
    rows.map(({ org_id, test, live, members, keys }) => [org_id, { credits: { test, live }, members, keys }]),
  )
}
