import { sql } from 'kysely'
import type { Caller, OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { indianDate } from '../platform/india-time.ts'
import { defineJob } from '../platform/jobs/queue.ts'

/**
 * Counts the distinct people that a key, and all keys of its organisation and mode together, have enrolled today (IST), identified by
 * the hash of their phone number, or else of their mailbox. Throws if a count exceeds its limit.
 */
export async function countDailyPeople(
  tx: Tx,
  clock: Clock,
  caller: Pick<Caller, 'orgId' | 'mode' | 'keyId'> & { key: Pick<Caller['key'], 'limits'> },
  addresses: Buffer[],
): Promise<void> {
  if (addresses.length === 0) return
  const {
    keyId,
    key: { limits },
  } = caller
  const day = indianDate(clock.now())
  const personHashes = [...new Map(addresses.map((address) => [address.toString('hex'), address])).values()]
  // Always in this order, so that two requests do not wait for each other's counter row.
  if (limits.shared) {
    const sharedCount = await countPeople(tx, caller, limits.shared.id, day, personHashes)
    requireWithinLimit(sharedCount, limits.shared.limits.peoplePerDay, 'day for all keys of your organisation together')
  }
  requireWithinLimit(await countPeople(tx, caller, keyId, day, personHashes), limits.peoplePerDay, 'key and day')
}

/** Returns how many people the key or the organisation has enrolled on the day. */
async function countPeople(
  tx: Tx,
  { orgId, mode }: OrgScope,
  keyId: string,
  day: string,
  personHashes: Buffer[],
): Promise<number> {
  // Lock the counter row first, so that concurrent requests are counted one after the other.
  await sql`insert into people_days (key_id, org_id, mode, day, people) values (${keyId}, ${orgId}, ${mode}, ${day}, 0)
    on conflict (key_id, day) do update set people = people_days.people`.execute(tx)
  const { rows: counted } = await sql<{ person: Buffer }>`
    select person from people_enrolled
    where key_id = ${keyId} and day = ${day} and person = any (${personHashes}::bytea[])`.execute(tx)
  const countedHashes = new Set(counted.map(({ person }) => person.toString('hex')))
  const newHashes = personHashes.filter((person) => !countedHashes.has(person.toString('hex')))
  const { rows } = await sql<{ people: number }>`
    with added as (
      insert into people_enrolled (key_id, org_id, mode, day, person)
      select ${keyId}, ${orgId}, ${mode}, ${day}, person from unnest(${newHashes}::bytea[]) as person
    )
    update people_days set people = people + ${newHashes.length}
    where key_id = ${keyId} and day = ${day} returning people`.execute(tx)
  return rows[0]!.people
}

function requireWithinLimit(peopleToday: number, limit: number, period: string): void {
  if (peopleToday <= limit) return
  const message = `with this request, ${peopleToday} different people would be enrolled today; the limit is ${limit} per ${period}, reset at midnight IST`
  throw problem('LIMIT_EXCEEDED', `candidates: ${message}.`, { details: [{ path: 'candidates', message }] })
}

export const deletePastDailyPeopleJob = defineJob<Record<string, never>>('forget-people-of-past-days')

export async function deletePastDailyPeople(tx: Tx, clock: Clock): Promise<void> {
  const today = indianDate(clock.now())
  await sql`delete from people_enrolled where day < ${today}`.execute(tx)
  await sql`delete from people_days where day < ${today}`.execute(tx)
}
