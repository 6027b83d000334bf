import { findPersonKeys } from '../people/identity/people.ts'
import { openForPeople, type PersonKey, sealForPeople } from '../people/identity/person-key.ts'
import type { Queries } from '../platform/database/database.ts'

/** The columns of an event from which its data are read. */
export interface SealedEventData {
  event_id: string
  /** JSON, with the marker in place of the values of people. */
  data: string
  person_id: string | null
  other_person_id: string | null
  personal: Buffer | null
}

/** Encrypts the data of an event for the people it is about. Returns null if one of them was erased. */
export function sealEventData(
  subject: { key: PersonKey; other?: { key: PersonKey } | undefined } | undefined,
  eventId: string,
  data: unknown,
): Buffer | null {
  if (!subject) return null
  const keys = subject.other ? [subject.key, subject.other.key] : [subject.key]
  const readableKeys = keys.filter((key): key is Buffer => key !== null)
  return readableKeys.length < keys.length ? null : sealForPeople(readableKeys, data, eventPurpose(eventId))
}

/** Returns the events with their complete data as JSON; after the erasure of a person, with the marker in place of the values. */
export async function openEvents<Row extends SealedEventData>(
  queries: Queries,
  rows: Row[],
): Promise<Omit<Row, 'person_id' | 'other_person_id' | 'personal'>[]> {
  const keys = await findPersonKeys(queries, rows.flatMap(personIdsOf))
  return rows.map((sealedRow) => {
    const { person_id: _, other_person_id: __, personal, ...row } = sealedRow
    const personIds = personIdsOf(sealedRow)
    const data = openForPeople(
      personIds.map((id) => keys.get(id) ?? null),
      personal,
      eventPurpose(row.event_id),
    )
    return data === undefined ? row : { ...row, data: JSON.stringify(data) }
  })
}

function personIdsOf({ person_id, other_person_id }: SealedEventData): string[] {
  return [person_id, other_person_id].filter((id): id is string => id !== null)
}

function eventPurpose(eventId: string) {
  return `event ${eventId}`
}
