import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { indianDate } from '../platform/india-time.ts'
import { defineJob } from '../platform/jobs/queue.ts'

/**
 * Counts the distinct people that a key has enrolled today (IST), identified by their phone number or else their email address.
 * Throws if the count exceeds the limit.
 */
export async function countDailyPeople(
  tx: Tx,
  clock: Clock,
  keyId: string,
  limit: number,
  people: { phone: string | null; email: string | null }[],
): Promise<void> {
  if (people.length === 0) return
  const day = indianDate(clock.now())
  const personHashes = [...new Set(people.map(({ phone, email }) => phone ?? email!.toLowerCase()))].map((address) =>
    createHash('sha256').update(address).digest().subarray(0, 16),
  )
  // Lock the counter row first, so that concurrent requests of one key are counted one after the other.
  await sql`insert into people_days (key_id, day, people) values (${keyId}, ${day}, 0)
    on conflict (key_id, day) do update set people = people_days.people`.execute(tx)
  const { rows } = await sql<{ people: number }>`
    with added as (
      insert into people_enrolled (key_id, day, person) select ${keyId}, ${day}, person from unnest(${personHashes}::bytea[]) as person
      on conflict do nothing returning 1
    )
    update people_days set people = people + (select count(*) from added)::int
    where key_id = ${keyId} and day = ${day} returning people`.execute(tx)
  const peopleToday = rows[0]!.people
  if (peopleToday <= limit) return
  const message = `with this request, ${peopleToday} different people would be enrolled today; the limit is ${limit} per key and day, reset at midnight IST`
  throw problem('LIMIT_EXCEEDED', `candidates: ${message}.`, { details: [{ path: 'candidates', message }] })
}

export const deletePastDailyPeopleJob = defineJob<Record<string, never>>('forget-people-of-past-days')

export async function deletePastDailyPeople(tx: Tx, clock: Clock): Promise<void> {
  const today = indianDate(clock.now())
  await sql`delete from people_enrolled where day < ${today}`.execute(tx)
  await sql`delete from people_days where day < ${today}`.execute(tx)
}
