import { sql } from 'kysely'
import type { Tx } from '../platform/database/database.ts'
import { type AttemptValues, type OrderValues, sealAttempt, sealOrder } from './personal-values.ts'

const BATCH_SIZE = 200

/** Seals a batch of orders that earlier versions stored, with their reports. */
export async function sealExistingOrders(tx: Tx) {
  const { rows } = await sql<OrderValues & { order_id: string; candidate_id: string }>`
    select order_id, candidate_id, candidate_name, profile_url from ats_orders
    where candidate_name is not null order by order_id limit ${BATCH_SIZE} for update`.execute(tx)
  for (const { order_id, candidate_id, candidate_name, profile_url } of rows) {
    const personal = await sealOrder(tx, candidate_id, order_id, { candidate_name, profile_url })
    await sql`update ats_orders set personal = ${personal}, candidate_name = null, profile_url = null
      where order_id = ${order_id}`.execute(tx)
    const { rows: reports } = await sql<AttemptValues & { number: number }>`
      select number, last_request, last_response from ats_reports where order_id = ${order_id} for update`.execute(tx)
    for (const { number, last_request, last_response } of reports)
      await sql`update ats_reports set personal = ${await sealAttempt(tx, order_id, number, { last_request, last_response })},
        last_request = null, last_response = null where order_id = ${order_id} and number = ${number}`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}
