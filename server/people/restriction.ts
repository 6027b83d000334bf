import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Tx } from '../platform/database/database.ts'
import { type ErasureDeps, restrictionChanged } from './identity/hooks.ts'
import { getPerson, lockReadablePerson, type Person, refOf } from './people.ts'

/** Restricts the processing of a person's data: they are not contacted, and their replies are not processed, until the restriction is lifted. */
export async function restrictPerson(tx: Tx, deps: ErasureDeps, scope: OrgScope, personId: string): Promise<Person> {
  const person = await lockReadablePerson(tx, scope, personId)
  if (person.restricted_at !== null) return person
  return setRestriction(tx, deps, scope, person, true)
}

/** Lifts a restriction. Messages that became due in the meantime are sent now. */
export async function liftRestriction(tx: Tx, deps: ErasureDeps, scope: OrgScope, personId: string): Promise<Person> {
  const person = await lockReadablePerson(tx, scope, personId)
  if (person.restricted_at === null) return person
  return setRestriction(tx, deps, scope, person, false)
}

async function setRestriction(tx: Tx, deps: ErasureDeps, scope: OrgScope, person: Person, isRestricted: boolean) {
  const now = new Date(deps.clock.now())
  await sql`update people set restricted_at = ${isRestricted ? now : null}, updated_at = ${now}
    where org_id = ${scope.orgId} and person_id = ${person.person_id}`.execute(tx)
  await restrictionChanged.run(tx, deps, refOf(person), isRestricted)
  return getPerson(tx, scope, person.person_id)
}
