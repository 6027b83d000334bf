import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { indianDay } from './contact/contact-hours.ts'

/** Counts different people, by phone or else by mail, whom a key has enrolled since midnight in India. */
export async function countPeople(
  tx: Tx,
  clock: Clock,
  keyId: string,
  most: number,
  people: { phone: string | null; email: string | null }[],
): Promise<void> {
  if (people.length === 0) return
  const day = indianDay(clock.now())
  const hashes = [...new Set(people.map(({ phone, email }) => phone ?? email!.toLowerCase()))].map((address) =>
    createHash('sha256').update(address).digest().subarray(0, 16),
  )
  // The row first: calls of one key take turns, so that none of them counts what another is about to add.
  await sql`insert into people_days (key_id, day, people) values (${keyId}, ${day}, 0)
    on conflict (key_id, day) do update set people = people_days.people`.execute(tx)
  const { rows } = await sql<{ people: number }>`
    with added as (
      insert into people_enrolled (key_id, day, person) select ${keyId}, ${day}, person from unnest(${hashes}::bytea[]) as person
      on conflict do nothing returning 1
    )
    update people_days set people = people + (select count(*) from added)::int
    where key_id = ${keyId} and day = ${day} returning people`.execute(tx)
  const count = rows[0]!.people
  if (count <= most) return
  const message = `${count} different people since midnight IST are more than the ${most} that this key may enrol a day`
  throw problem('LIMIT_EXCEEDED', `${message}.`, { details: [{ path: 'candidates', message }] })
}

export const forgetPeople = defineJob<Record<string, never>>('forget-people-of-past-days')

export async function deletePastPeople(tx: Tx, clock: Clock): Promise<void> {
  const today = indianDay(clock.now())
  await sql`delete from people_enrolled where day < ${today}`.execute(tx)
  await sql`delete from people_days where day < ${today}`.execute(tx)
}
