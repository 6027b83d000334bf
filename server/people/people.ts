import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { type PersonRecordIds, type PersonRef, recordIdsRequested } from './identity/hooks.ts'
import { findPersonIds, type PersonAddresses } from './identity/people.ts'

/** A person in one organisation and mode. */
export interface Person {
  person_id: string
  org_id: string
  mode: 'test' | 'live'
  created_at: Date
  updated_at: Date
  restricted_at: Date | null
  legal_hold: string | null
  erased_at: Date | null
}

const columns = sql`person_id, org_id, mode, created_at, updated_at, restricted_at, legal_hold, erased_at`

export async function getPerson(queries: Queries, { orgId, mode }: OrgScope, personId: string): Promise<Person> {
  const { rows } = await sql<Person>`
    select ${columns} from people where person_id = ${personId} and org_id = ${orgId} and mode = ${mode}`.execute(
    queries,
  )
  if (!rows[0]) throw personNotFound(personId)
  return rows[0]
}

/** Locks a person, so that no other transaction can store data of the person until this one ends. */
export async function lockPerson(tx: Tx, { orgId, mode }: OrgScope, personId: string): Promise<Person> {
  const { rows } = await sql<Person>`
    select ${columns} from people where person_id = ${personId} and org_id = ${orgId} and mode = ${mode} for update`.execute(
    tx,
  )
  if (!rows[0]) throw personNotFound(personId)
  return rows[0]
}

/** Locks a person and returns them. Throws if the person was erased. */
export async function lockReadablePerson(tx: Tx, scope: OrgScope, personId: string): Promise<Person> {
  const person = await lockPerson(tx, scope, personId)
  if (person.erased_at !== null)
    throw problem('CONFLICT', `Person ${personId} was erased on ${person.erased_at.toISOString()}.`)
  return person
}

function personNotFound(personId: string) {
  return problem('NOT_FOUND', `Person ${personId} not found.`)
}

/** The maximum number of people that a search returns. An unverified email address can be stored for many people. */
const MAX_FOUND_PEOPLE = 100

/** Finds the people who have a phone number or an email address, the oldest first. Erased people are not found. */
export async function findPeople(queries: Queries, scope: OrgScope, addresses: PersonAddresses): Promise<Person[]> {
  const ids = await findPersonIds(queries, scope, addresses)
  if (ids.length === 0) return []
  const { rows } = await sql<Person>`
    select ${columns} from people where person_id = any (${ids}) and erased_at is null
    order by person_id limit ${MAX_FOUND_PEOPLE}`.execute(queries)
  return rows
}

export function refOf({ org_id: orgId, mode, person_id: personId }: Person): PersonRef {
  return { scope: { orgId, mode }, personId }
}

/** Returns the IDs of all records of a person. */
export async function findRecordIds(queries: Queries, person: PersonRef): Promise<PersonRecordIds> {
  const idsByModule = await recordIdsRequested.run(queries, person)
  return Object.assign({}, ...Object.values(idsByModule)) as PersonRecordIds
}

/** Builds the record of a person for responses. It contains no personal values; the export does. */
export function personRecord(person: Person, ids: PersonRecordIds) {
  return {
    person_id: person.person_id,
    status: statusOf(person),
    legal_hold: person.legal_hold,
    candidates: ids.candidates ?? [],
    students: ids.students ?? [],
    reviews: ids.reviews ?? [],
    created_at: person.created_at.toISOString(),
    updated_at: person.updated_at.toISOString(),
    restricted_at: person.restricted_at?.toISOString() ?? null,
    erased_at: person.erased_at?.toISOString() ?? null,
  }
}

export const personStatuses = ['active', 'restricted', 'erased'] as const

function statusOf({ erased_at, restricted_at }: Person): (typeof personStatuses)[number] {
  if (erased_at !== null) return 'erased'
  return restricted_at === null ? 'active' : 'restricted'
}
