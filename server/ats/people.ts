import { sql } from 'kysely'
import type { Correction, ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { AtsOrder } from './order.ts'
import { openOrders, resealOrder, type StoredOrder } from './personal-values.ts'

async function listOrdersOf(queries: Queries, { personId }: PersonRef): Promise<AtsOrder[]> {
  const { rows } = await sql<StoredOrder>`
    select o.*, ${personId} as person_id from ats_orders o where o.person_id = ${personId}
      or o.candidate_id in (select candidate_id from candidates where person_id = ${personId})
    order by o.order_id`.execute(queries)
  return openOrders(queries, rows)
}

/** Corrects the name in all orders of a person. Reports that were sent stay as they are. */
export async function correctOrders(
  tx: Tx,
  _deps: ErasureDeps,
  person: PersonRef,
  { name }: Correction,
): Promise<void> {
  if (name === undefined) return
  for (const { order_id, profile_url } of await listOrdersOf(tx, person)) {
    const personal = await resealOrder(tx, person.personId, order_id, { candidate_name: name, profile_url })
    await sql`update ats_orders set personal = ${personal} where order_id = ${order_id}`.execute(tx)
  }
}

/** Returns the orders that an applicant tracking system placed for a person. */
export async function exportOrders(queries: Queries, _deps: ErasureDeps, person: PersonRef): Promise<ExportSection[]> {
  const records = (await listOrdersOf(queries, person)).map((order) => ({
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
