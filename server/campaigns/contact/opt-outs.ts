import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacies } from '../candidacy.ts'

type AddressedPerson = Pick<Candidacy, 'org_id' | 'mode' | 'phone' | 'email' | 'test_clock_id'>

/** Returns the addresses as they are stored. An opt-out in a campaign with a test clock applies to the campaigns of that clock only. */
function addressesOf({ phone, email, test_clock_id }: AddressedPerson): string[] {
  return [phone, email?.toLowerCase()]
    .filter((address): address is string => typeof address === 'string')
    .map((address) => (test_clock_id === null ? address : `${test_clock_id} ${address}`))
}

/** Stores the phone number and email address of a candidate who opted out of the organisation's messages. */
export async function recordOptOut(tx: Tx, clock: Clock, candidate: AddressedPerson): Promise<void> {
  await sql`insert into stopped_addresses (org_id, mode, address, created_at)
    select ${candidate.org_id}, ${candidate.mode}, address, ${new Date(clock.now())}
    from unnest(${addressesOf(candidate)}::text[]) as address on conflict do nothing`.execute(tx)
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
  for (const { org_id, mode, phone, email, test_clock_id } of optedOutCandidates) {
    const hasSameClock =
      mode === 'live'
        ? sql`true`
        : sql`exists (select from campaigns g where g.campaign_id = c.campaign_id and g.test_clock_id is not distinct from ${test_clock_id})`
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates c join candidate_progress p using (candidate_id)
      where c.org_id = ${org_id} and c.mode = ${mode} and p.status = 'pending' and candidate_id <> all (${excludedIds})
        and ${hasSameClock}
        and (c.phone = ${phone} or lower(c.email) = lower(${email}))`.execute(tx)
    for (const { candidate_id } of rows) ids.add(candidate_id)
  }
  return (await lockCandidacies(tx, [...ids])).filter(({ status }) => status === 'pending')
}

/** Returns the people who have opted out. */
export async function findOptedOut<Person extends AddressedPerson>(tx: Tx, people: Person[]): Promise<Person[]> {
  if (people.length === 0) return []
  const { rows } = await sql<{ scope: string; address: string }>`
    select org_id || ' ' || mode as scope, address from stopped_addresses
    where address = any (${people.flatMap(addressesOf)})
      and org_id = any (${[...new Set(people.map(({ org_id }) => org_id))]})`.execute(tx)
  if (rows.length === 0) return []
  const optedOutAddresses = new Set(rows.map(({ scope, address }) => `${scope} ${address}`))
  return people.filter((person) =>
    addressesOf(person).some((address) => optedOutAddresses.has(`${person.org_id} ${person.mode} ${address}`)),
  )
}
