import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import {
  createPersonWithoutAddress,
  findPersonKey,
  findPersonKeys,
  identifyPerson,
  type PersonAddresses,
} from '../people/identity/people.ts'
import { ERASED, openPersonal, type PersonKey, sealPersonal } from '../people/identity/person-key.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { AtsOrder } from './order.ts'

/** The personal values of an order, sealed with the key of the candidate. */
export type OrderValues = Pick<AtsOrder, 'candidate_name' | 'profile_url'>

/** An order as it is stored. */
export type StoredOrder = Omit<AtsOrder, keyof OrderValues> & { personal: Buffer | null }

/** Encrypts the values of an order. Returns null if the candidate was erased. */
export async function sealOrder(
  queries: Queries,
  candidateId: string,
  orderId: string,
  values: OrderValues,
): Promise<Buffer | null> {
  const key = await findCandidateKey(queries, candidateId)
  return key === null ? null : sealPersonal(key, values, orderPurpose(orderId))
}

/** Encrypts the values of an order that was rejected, with the key of the person who has these addresses. */
export async function sealRejectedOrder(
  tx: Tx,
  scope: OrgScope,
  now: number,
  orderId: string,
  addresses: PersonAddresses,
  values: OrderValues,
): Promise<{ personId: string; personal: Buffer }> {
  const hasAddress = addresses.phone != null || addresses.email != null
  const { personId, key } = hasAddress
    ? await identifyPerson(tx, scope, now, addresses)
    : await createPersonWithoutAddress(tx, scope, now)
  return { personId, personal: sealPersonal(key, values, orderPurpose(orderId)) }
}

/** Encrypts new values of an order. The person is locked, and was not erased. */
export async function resealOrder(tx: Tx, personId: string, orderId: string, values: OrderValues): Promise<Buffer> {
  return sealPersonal((await findPersonKey(tx, personId))!, values, orderPurpose(orderId))
}

async function findCandidateKey(queries: Queries, candidateId: string): Promise<PersonKey> {
  const { rows } = await sql<{ person_id: string }>`
    select person_id from candidates where candidate_id = ${candidateId}`.execute(queries)
  return rows[0] ? findPersonKey(queries, rows[0].person_id) : null
}

/** Returns orders with their values, or with the marker if the candidate was erased. */
export async function openOrders(queries: Queries, rows: StoredOrder[]): Promise<AtsOrder[]> {
  const keys = await findPersonKeys(
    queries,
    rows.flatMap(({ person_id }) => person_id ?? []),
  )
  return rows.map(({ personal, ...row }) => {
    const key = keys.get(row.person_id ?? '') ?? null
    const values = openPersonal<OrderValues>(key, personal, orderPurpose(row.order_id))
    // Earlier versions did not store the values of rejected orders.
    const nameIfMissing = row.state === 'rejected' && row.person_id === null ? `Order ${row.identity}` : ERASED
    return { ...row, candidate_name: values?.candidate_name ?? nameIfMissing, profile_url: values?.profile_url ?? null }
  })
}

function orderPurpose(orderId: string) {
  return `order ${orderId}`
}

/** The last attempt of a report: the request and the response can contain values of the candidate. */
export interface AttemptValues {
  last_request: { method: string; url: string; body?: object | undefined } | null
  last_response: string | null
}

export async function sealAttempt(
  queries: Queries,
  orderId: string,
  number: number,
  values: AttemptValues,
): Promise<Buffer | null> {
  const key = (await findOrderKeys(queries, [orderId])).get(orderId) ?? null
  return key === null ? null : sealPersonal(key, values, attemptPurpose(orderId, number))
}

export function openAttempt(
  key: PersonKey,
  { order_id, number, personal }: { order_id: string; number: number; personal: Buffer | null },
): AttemptValues {
  const values = openPersonal<AttemptValues>(key, personal, attemptPurpose(order_id, number))
  return values ?? { last_request: null, last_response: null }
}

/** Returns the keys of the people of orders, by the ID of the order. */
export async function findOrderKeys(queries: Queries, orderIds: string[]): Promise<Map<string, PersonKey>> {
  const { rows } = await sql<{ order_id: string; person_id: string }>`
    select order_id, coalesce(o.person_id, c.person_id) as person_id from ats_orders o left join candidates c using (candidate_id)
    where order_id = any (${orderIds}::text[]) and coalesce(o.person_id, c.person_id) is not null`.execute(queries)
  const keys = await findPersonKeys(
    queries,
    rows.map(({ person_id }) => person_id),
  )
  return new Map(rows.map(({ order_id, person_id }) => [order_id, keys.get(person_id) ?? null]))
}

function attemptPurpose(orderId: string, number: number) {
  return `report ${number} of ${orderId}`
}
