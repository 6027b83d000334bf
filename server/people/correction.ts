import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Tx } from '../platform/database/database.ts'
import { blindIndexOf } from './identity/blind-index.ts'
import { type Correction, type ErasureDeps, personCorrected } from './identity/hooks.ts'
import { getPerson, lockReadablePerson, type Person, refOf } from './people.ts'

/** Corrects the name, phone number or email address of a person in all records of the organisation. */
export async function correctPerson(
  tx: Tx,
  deps: ErasureDeps,
  scope: OrgScope,
  personId: string,
  correction: Correction,
): Promise<Person> {
  const person = await lockReadablePerson(tx, scope, personId)
  const blindIndex = blindIndexOf(tx)
  if (correction.phone !== undefined)
    await replaceAddress(tx, scope, personId, 'phone', blindIndex.phone(scope, correction.phone))
  if (correction.email !== undefined)
    await replaceAddress(tx, scope, personId, 'email', blindIndex.email(scope, correction.email))
  await personCorrected.run(tx, deps, refOf(person), correction)
  await sql`update people set updated_at = ${new Date(deps.clock.now())} where person_id = ${personId}`.execute(tx)
  return getPerson(tx, scope, personId)
}

/** Replaces the hashes of one kind of address. The new address identifies the person if the old one did. */
async function replaceAddress(
  tx: Tx,
  { orgId, mode }: OrgScope,
  personId: string,
  kind: 'phone' | 'email',
  address: Buffer,
): Promise<void> {
  const { rows: replaced } = await sql<{ is_key: boolean }>`
    delete from person_addresses where person_id = ${personId} and kind = ${kind} returning is_key`.execute(tx)
  const isKey = replaced.some(({ is_key }) => is_key)
  const { rows: added } = await sql`
    insert into person_addresses (org_id, mode, address, person_id, kind, is_key)
    values (${orgId}, ${mode}, ${address}, ${personId}, ${kind}, ${isKey}) on conflict do nothing returning 1`.execute(
    tx,
  )
  if (added.length === 0)
    throw problem(
      'CONFLICT',
      `This ${kind === 'phone' ? 'phone number' : 'email address'} belongs to another person. Erase or correct that person first.`,
    )
}
