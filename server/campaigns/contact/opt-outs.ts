import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacies } from '../candidacy.ts'
import { addressIndexes } from '../personal-values.ts'

type AddressedPerson = Pick<Candidacy, 'org_id' | 'mode' | 'phone' | 'email' | 'test_clock_id'>

/**
 * Returns the keyed hashes of the addresses, which is all that is stored of them: they stay when the person is erased. An opt-out in a
 * campaign with a test clock applies to the campaigns of that clock only.
 */
export function optOutAddressesOf(queries: Queries, person: AddressedPerson): Buffer[] {
  const { phone, email } = addressIndexes(queries, person, `opt-out ${person.test_clock_id ?? ''}`)
  return [phone, email].filter((address): address is Buffer => address !== null)
}

/** Stores that the phone number and email address of a candidate opted out of the organisation's messages. */
export async function recordOptOut(tx: Tx, clock: Clock, candidate: AddressedPerson): Promise<void> {
  await storeOptOuts(tx, clock, candidate, optOutAddressesOf(tx, candidate))
}

/** Stores opt-outs by the hashes of the addresses. */
export async function storeOptOuts(
  tx: Tx,
  clock: Clock,
  { org_id, mode }: Pick<AddressedPerson, 'org_id' | 'mode'>,
  addresses: Buffer[],
): Promise<void> {
  await sql`insert into opt_outs (org_id, mode, address, created_at)
    select ${org_id}, ${mode}, address, ${new Date(clock.now())}
    from unnest(${addresses}::bytea[]) as address on conflict do nothing`.execute(tx)
}

/**
 * Locks other pending candidates with the same phone number or email address, in any campaign of the organisation that has the same
 * test clock, or none.
 */
export async function lockCandidatesWithSameAddress(
  tx: Tx,
  optedOutCandidates: Candidacy[],
  excludedIds: string[],
): Promise<Candidacy[]> {
  const ids = new Set<string>()
  for (const candidate of optedOutCandidates) {
    const { org_id, mode, test_clock_id } = candidate
    const { phone, email } = addressIndexes(tx, candidate)
    const hasSameClock =
      mode === 'live'
        ? sql`true`
        : sql`exists (select from campaigns g where g.campaign_id = c.campaign_id and g.test_clock_id is not distinct from ${test_clock_id})`
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates c join candidate_progress p using (candidate_id)
      where c.org_id = ${org_id} and c.mode = ${mode} and p.status = 'pending' and candidate_id <> all (${excludedIds})
        and ${hasSameClock}
        and (c.phone_index = ${phone} or c.email_index = ${email})`.execute(tx)
    for (const { candidate_id } of rows) ids.add(candidate_id)
  }
  return (await lockCandidacies(tx, [...ids])).filter(({ status }) => status === 'pending')
}

/** Returns the people who have opted out. */
export async function findOptedOut<Person extends AddressedPerson>(
  queries: Queries,
  people: Person[],
): Promise<Person[]> {
  if (people.length === 0) return []
  const hashedPeople = people.map((person) => ({
    person,
    addresses: optOutAddressesOf(queries, person),
  }))
  // The hashes of different organisations and modes differ.
  const { rows } = await sql<{ address: Buffer }>`
    select address from opt_outs
    where address = any (${hashedPeople.flatMap(({ addresses }) => addresses)}::bytea[])
      and org_id = any (${[...new Set(people.map(({ org_id }) => org_id))]})`.execute(queries)
  if (rows.length === 0) return []
  const optedOutAddresses = new Set(rows.map(({ address }) => address.toString('hex')))
  return hashedPeople
    .filter(({ addresses }) => addresses.some((address) => optedOutAddresses.has(address.toString('hex'))))
    .map(({ person }) => person)
}
