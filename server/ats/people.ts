import { sql } from 'kysely'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import type { Queries } from '../platform/database/database.ts'
import { openOrders, type StoredOrder } from './personal-values.ts'

/** Returns the orders that an applicant tracking system placed for a person. */
export async function exportOrders(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const { rows } = await sql<StoredOrder>`
    select o.*, c.person_id from ats_orders o join candidates c using (candidate_id)
    where c.person_id = ${personId} order by o.order_id`.execute(queries)
  const records = (await openOrders(queries, rows)).map((order) => ({
    order_id: order.order_id,
    applicant_tracking_system: order.adapter,
    candidate_id: order.candidate_id,
    name: order.candidate_name,
    profile_url: order.profile_url,
    basis: order.consent_basis,
    state: order.state,
    created_at: order.created_at.toISOString(),
  }))
  return [{ name: 'orders', title: 'Orders of applicant tracking systems', records }]
}
