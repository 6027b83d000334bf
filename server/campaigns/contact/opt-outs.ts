import { sql } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacies } from '../candidacy.ts'

type Addressed = Pick<Candidacy, 'org_id' | 'mode' | 'phone' | 'email'>

function addressesOf({ phone, email }: Pick<Candidacy, 'phone' | 'email'>): string[] {
  return [phone, email?.toLowerCase()].filter((address): address is string => typeof address === 'string')
}

/** Keeps the phone and the mail address of somebody who said STOP: nobody of the organisation contacts them again. */
export async function keepStop(tx: Tx, clock: Clock, candidate: Addressed): Promise<void> {
  await sql`insert into stopped_addresses (org_id, mode, address, created_at)
    select ${candidate.org_id}, ${candidate.mode}, address, ${new Date(clock.now())}
    from unnest(${addressesOf(candidate)}::text[]) as address on conflict do nothing`.execute(tx)
}

/** Others who are pending under the same phone or mail address, in any campaign of the organisation; locked. */
export async function lockNamesakes(tx: Tx, stopped: Candidacy[], known: string[]): Promise<Candidacy[]> {
  const ids = new Set<string>()
  for (const { org_id, mode, phone, email } of stopped) {
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates c join candidate_progress p using (candidate_id)
      where c.org_id = ${org_id} and c.mode = ${mode} and p.status = 'pending' and candidate_id <> all (${known})
        and (c.phone = ${phone} or lower(c.email) = lower(${email}))`.execute(tx)
    for (const { candidate_id } of rows) ids.add(candidate_id)
  }
  return (await lockCandidacies(tx, [...ids])).filter(({ status }) => status === 'pending')
}

/** Those of the people who have said STOP before. */
export async function whoStopped<Person extends Addressed>(tx: Tx, people: Person[]): Promise<Person[]> {
  if (people.length === 0) return []
  const { rows } = await sql<{ owner: string; address: string }>`
    select org_id || ' ' || mode as owner, address from stopped_addresses
    where address = any (${people.flatMap(addressesOf)})
      and org_id = any (${[...new Set(people.map(({ org_id }) => org_id))]})`.execute(tx)
  if (rows.length === 0) return []
  const stopped = new Set(rows.map(({ owner, address }) => `${owner} ${address}`))
  return people.filter((person) =>
    addressesOf(person).some((address) => stopped.has(`${person.org_id} ${person.mode} ${address}`)),
  )
}
