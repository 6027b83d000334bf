import { sql } from 'kysely'
import { findPersonKeys } from '../people/identity/people.ts'
import { ERASED } from '../people/identity/person-key.ts'
import type { Tx } from '../platform/database/database.ts'
import { sealEventData } from './personal-data.ts'

const BATCH_SIZE = 500

interface PlainEvent {
  /** The day and the ID in the ledger; the ID in the outbox. */
  position: string
  event_id: string
  data: string
  person_id: string | null
  other_person_id: string | null
}

/** The parts of events in which earlier versions stored personal values. */
interface EventData {
  candidate?: { name: string; metadata: object }
  output?: { enrichment?: Record<string, { type: string; answer: string }> }
  skills?: { comment?: string }[]
}

/** The people of the events `e`: the candidate of a result, or the student and the reviewer of a verification. */
const joinPeople = sql`
  left join candidates c on e.type like 'result.%' and c.candidate_id = e.data::jsonb #>> '{candidate,candidate_id}'
  left join verification_sessions s on e.type like 'verification.%' and s.verification_id = e.data::jsonb ->> 'serviceVerificationId'
  left join verification_reviews r on r.verification_id = s.verification_id`
const people = sql`coalesce(c.person_id, s.person_id) as person_id, r.person_id as other_person_id`

/** Seals a batch of the events in the ledger that earlier versions recorded. */
export async function sealExistingEvents(tx: Tx, after: string) {
  const [day, eventId] = after === '' ? ['0001-01-01', ''] : (after.split(' ') as [string, string])
  const { rows } = await sql<PlainEvent>`
    select to_char(e.day, 'YYYY-MM-DD') || ' ' || e.event_id as position, e.event_id, e.data, ${people}
    from (
      select day, event_id, type, data from events
      where (day, event_id) > (${day}::date, ${eventId}) and person_id is null and (type like 'result.%' or type like 'verification.%')
      order by day, event_id limit ${BATCH_SIZE}
    ) e ${joinPeople} order by e.day, e.event_id`.execute(tx)
  for (const { sealed, redacted, ...event } of await sealBatch(tx, rows))
    await sql`update events set data = ${redacted}, person_id = ${event.person_id}, other_person_id = ${event.other_person_id},
      personal = ${sealed} where day = ${event.position.split(' ')[0]}::date and event_id = ${event.event_id}`.execute(
      tx,
    )
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? rows.at(-1)!.position : undefined }
}

/** Seals a batch of the events that earlier versions recorded and did not move to the ledger. */
export async function sealExistingOutbox(tx: Tx, after: string) {
  const { rows } = await sql<PlainEvent>`
    select e.event_id as position, e.event_id, e.data, ${people}
    from (
      select event_id, type, data from event_outbox
      where event_id > ${after} and person_id is null and (type like 'result.%' or type like 'verification.%')
      order by event_id limit ${BATCH_SIZE}
    ) e ${joinPeople} order by e.event_id`.execute(tx)
  for (const { sealed, redacted, ...event } of await sealBatch(tx, rows))
    await sql`update event_outbox set data = ${redacted}, person_id = ${event.person_id}, other_person_id = ${event.other_person_id},
      personal = ${sealed} where event_id = ${event.event_id}`.execute(tx)
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? rows.at(-1)!.position : undefined }
}

/** Returns the events that contain personal values, sealed and redacted. */
async function sealBatch(tx: Tx, rows: PlainEvent[]) {
  const keys = await findPersonKeys(
    tx,
    rows.flatMap(({ person_id, other_person_id }) => [person_id, other_person_id]).filter((id) => id !== null),
  )
  return rows.flatMap((row) => {
    const { event_id, data, person_id } = row
    const record = JSON.parse(data) as EventData
    const hasComments = record.skills?.some(({ comment }) => comment !== undefined) ?? false
    if (person_id === null || (!record.candidate && !hasComments)) return []
    const other_person_id = hasComments ? row.other_person_id : null
    const key = keys.get(person_id) ?? null
    const other = other_person_id === null ? undefined : { key: keys.get(other_person_id) ?? null }
    const sealed = sealEventData({ key, other }, event_id, record)
    return [{ ...row, person_id, other_person_id, sealed, redacted: JSON.stringify(redact(record)) }]
  })
}

/** Replaces personal values with the marker, as events of this version contain it. */
function redact({ candidate, output, skills, ...record }: EventData) {
  const enrichment =
    output?.enrichment &&
    Object.fromEntries(
      Object.entries(output.enrichment).map(([key, entry]) => [
        key,
        entry.type === 'yes_no' ? entry : { ...entry, answer: ERASED },
      ]),
    )
  return {
    ...record,
    ...(candidate ? { candidate: { ...candidate, name: ERASED, metadata: {} } } : {}),
    ...(output ? { output: { ...output, ...(enrichment ? { enrichment } : {}) } } : {}),
    ...(skills
      ? { skills: skills.map((skill) => (skill.comment === undefined ? skill : { ...skill, comment: ERASED })) }
      : {}),
  }
}
