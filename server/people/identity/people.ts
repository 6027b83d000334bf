import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'
import { newId } from '../../platform/ids.ts'
import { blindIndexOf } from './blind-index.ts'
import { newPersonKey, openPersonKey, type PersonKey, sealPersonKey } from './person-key.ts'

/** The addresses of a candidate, student or reviewer. At least one is required. */
export interface PersonAddresses {
  phone?: string | null | undefined
  email?: string | null | undefined
}

/** A person whose data can be sealed. */
export interface IdentifiedPerson {
  personId: string
  key: Buffer
  phoneIndex: Buffer | null
  emailIndex: Buffer | null
  isRestricted: boolean
}

interface KnownPerson {
  personId: string
  key: Buffer
  isRestricted: boolean
}

/**
 * Returns the person of each entry, and creates people who do not exist yet. The phone number identifies a person, because messages are
 * sent to it; without a phone number, the mailbox does. If an entry has both, the email address is unverified: a search for it finds the
 * person, but it does not join them with the owner of the mailbox. The people stay locked until the transaction ends, so that none of
 * them is erased between reading the key and storing the values that it seals.
 */
export async function identifyPeople(
  tx: Tx,
  scope: OrgScope,
  now: number,
  entries: PersonAddresses[],
): Promise<IdentifiedPerson[]> {
  const { orgId, mode } = scope
  const blindIndex = blindIndexOf(tx)
  const indexed = entries.map(({ phone, email }) => {
    const phoneIndex = phone == null ? null : blindIndex.phone(scope, phone)
    const emailIndex = email == null ? null : blindIndex.email(scope, email)
    if (!phoneIndex && !emailIndex) throw new Error('a person must have a phone number or an email address')
    const keyAddress = (phoneIndex ?? emailIndex)!
    return { phoneIndex, emailIndex, keyAddress, hex: keyAddress.toString('hex'), kind: phoneIndex ? 'phone' : 'email' }
  })
  const wanted = new Map(indexed.map(({ hex, keyAddress, kind }) => [hex, { keyAddress, kind }]))
  const known = new Map<string, KnownPerson>()
  // A person can be created or erased by another transaction between the two statements.
  while (known.size < wanted.size) {
    await addExisting()
    await createMissing()
  }
  const people = indexed.map(({ phoneIndex, emailIndex, hex }) => ({ ...known.get(hex)!, phoneIndex, emailIndex }))
  await addContactAddresses(
    tx,
    scope,
    people.flatMap(({ personId, phoneIndex, emailIndex }) =>
      phoneIndex && emailIndex ? [{ personId, address: emailIndex, kind: 'email' as const }] : [],
    ),
  )
  return people

  function missingAddresses() {
    // Sorted, so that concurrent transactions lock addresses in the same order and do not deadlock.
    return [...wanted].filter(([hex]) => !known.has(hex)).sort(([a], [b]) => (a < b ? -1 : 1))
  }

  async function addExisting() {
    const { rows } = await sql<{
      address: Buffer
      person_id: string
      sealed_key: Buffer | null
      restricted_at: Date | null
    }>`
      select a.address, o.person_id, o.sealed_key, o.restricted_at
      from person_addresses a join people o using (person_id)
      where a.org_id = ${orgId} and a.mode = ${mode} and a.is_key
        and a.address = any (${missingAddresses().map(([, { keyAddress }]) => keyAddress)}::bytea[])
      order by o.person_id for key share of o`.execute(tx)
    const vault = vaultOf(tx)
    for (const { address, person_id: personId, sealed_key, restricted_at } of rows) {
      const key = openPersonKey(vault, personId, sealed_key)
      if (key) known.set(address.toString('hex'), { personId, key, isRestricted: restricted_at !== null })
    }
  }

  async function createMissing() {
    const missing = missingAddresses()
    if (missing.length === 0) return
    const vault = vaultOf(tx)
    const created = missing.map(([hex, { keyAddress, kind }]) => {
      const personId = newId('PER_', now)
      const key = newPersonKey()
      return { hex, keyAddress, kind, personId, key, sealedKey: sealPersonKey(vault, personId, key) }
    })
    const { rows } = await sql<{ person_id: string }>`
      with added as (
        insert into person_addresses (org_id, mode, address, person_id, kind, is_key)
        select ${orgId}, ${mode}, address, person_id, kind, true
        from unnest(${created.map(({ keyAddress }) => keyAddress)}::bytea[], ${created.map(({ personId }) => personId)}::text[],
          ${created.map(({ kind }) => kind)}::text[]) as n (address, person_id, kind)
        on conflict (org_id, mode, address) where is_key do nothing returning person_id
      )
      insert into people (person_id, org_id, mode, sealed_key, created_at, updated_at)
      select person_id, ${orgId}, ${mode}, sealed_key, ${new Date(now)}, ${new Date(now)}
      from unnest(${created.map(({ personId }) => personId)}::text[], ${created.map(({ sealedKey }) => sealedKey)}::bytea[])
        as n (person_id, sealed_key) join added using (person_id)
      returning person_id`.execute(tx)
    const addedIds = new Set(rows.map(({ person_id }) => person_id))
    for (const { hex, personId, key } of created)
      if (addedIds.has(personId)) known.set(hex, { personId, key, isRestricted: false })
  }
}

/** Returns the person with these addresses, as `identifyPeople` does. */
export async function identifyPerson(
  tx: Tx,
  scope: OrgScope,
  now: number,
  addresses: PersonAddresses,
): Promise<IdentifiedPerson> {
  return (await identifyPeople(tx, scope, now, [addresses]))[0]!
}

/** Creates a person without a known address, whose key encrypts personal values. The person is found only through rows that contain its ID. */
export async function createPersonWithoutAddress(
  tx: Tx,
  { orgId, mode }: OrgScope,
  now: number,
): Promise<{ personId: string; key: Buffer }> {
  const personId = newId('PER_', now)
  const key = newPersonKey()
  await sql`insert into people (person_id, org_id, mode, sealed_key, created_at, updated_at)
    values (${personId}, ${orgId}, ${mode}, ${sealPersonKey(vaultOf(tx), personId, key)}, ${new Date(now)}, ${new Date(now)})`.execute(
    tx,
  )
  return { personId, key }
}

/** Stores a phone number by which a person can be found. It does not join them with a person whom the number identifies. */
export async function addContactPhone(tx: Tx, scope: OrgScope, personId: string, phone: string): Promise<void> {
  await addContactAddresses(tx, scope, [{ personId, address: blindIndexOf(tx).phone(scope, phone), kind: 'phone' }])
}

/** Stores addresses by which people can be found, but which do not identify them. */
async function addContactAddresses(
  tx: Tx,
  { orgId, mode }: OrgScope,
  addresses: { personId: string; address: Buffer; kind: 'phone' | 'email' }[],
): Promise<void> {
  if (addresses.length === 0) return
  const ordered = addresses.toSorted(
    (a, b) => Buffer.compare(a.address, b.address) || (a.personId < b.personId ? -1 : 1),
  )
  await sql`insert into person_addresses (org_id, mode, address, person_id, kind, is_key)
    select ${orgId}, ${mode}, address, person_id, kind, false
    from unnest(${ordered.map(({ address }) => address)}::bytea[], ${ordered.map(({ personId }) => personId)}::text[],
      ${ordered.map(({ kind }) => kind)}::text[]) as n (address, person_id, kind)
    on conflict do nothing`.execute(tx)
}

/** Returns the IDs of the people who have this address, verified or not. */
export async function findPersonIds(
  queries: Queries,
  scope: OrgScope,
  { phone, email }: PersonAddresses,
): Promise<string[]> {
  const blindIndex = blindIndexOf(queries)
  const addresses = [
    ...(phone == null ? [] : [blindIndex.phone(scope, phone)]),
    ...(email == null ? [] : [blindIndex.email(scope, email)]),
  ]
  const { rows } = await sql<{ person_id: string }>`
    select distinct person_id from person_addresses
    where org_id = ${scope.orgId} and mode = ${scope.mode} and address = any (${addresses}::bytea[]) order by person_id`.execute(
    queries,
  )
  return rows.map(({ person_id }) => person_id)
}

/** Returns the keys of people by ID; null for erased people. */
export async function findPersonKeys(queries: Queries, personIds: readonly string[]): Promise<Map<string, PersonKey>> {
  if (personIds.length === 0) return new Map()
  const { rows } = await sql<{ person_id: string; sealed_key: Buffer | null }>`
    select person_id, sealed_key from people where person_id = any (${[...new Set(personIds)]})`.execute(queries)
  const vault = vaultOf(queries)
  return new Map(rows.map(({ person_id, sealed_key }) => [person_id, openPersonKey(vault, person_id, sealed_key)]))
}

/**
 * Returns the key of a person, who cannot be erased until the transaction ends, so that values can be sealed with it. Null if the person
 * was erased.
 */
export async function lockPersonKey(tx: Tx, personId: string): Promise<PersonKey> {
  const { rows } = await sql<{ sealed_key: Buffer | null }>`
    select sealed_key from people where person_id = ${personId} for key share`.execute(tx)
  return rows[0] ? openPersonKey(vaultOf(tx), personId, rows[0].sealed_key) : null
}

/** Returns the key of a person; null if the person was erased. */
export async function findPersonKey(queries: Queries, personId: string): Promise<PersonKey> {
  return (await findPersonKeys(queries, [personId])).get(personId) ?? null
}
