import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { subSkillId } from './ids.ts'
import { distinctAliases, nameKey, normaliseText } from './names.ts'
import { readSkillFamilies } from './skill-families.ts'
import type { Source } from './taxonomy.ts'

/**
 * Locks the catalogue for writing until the transaction ends. Every writer must take this lock first. It keeps names unique: only one
 * writer at a time can check and add a name.
 */
export async function lockCatalogue(tx: Tx): Promise<{ version: number; builtInChecksum: string | null }> {
  const row = await tx.selectFrom('catalogue_version').selectAll().forUpdate().executeTakeFirstOrThrow()
  return { version: row.version, builtInChecksum: row.built_in_checksum }
}

/** Increments the version of the catalogue, so that running servers reload it after the commit. */
export async function incrementCatalogueVersion(tx: Tx): Promise<number> {
  const { rows } = await sql<{ version: number }>`select next_catalogue_version() as version`.execute(tx)
  return rows[0]!.version
}

export interface NewSkill {
  name: string
  subNumber: number
  source: Source
  sourceId: string
  description?: string
  aliases?: string[]
  verifiable?: boolean
}

/**
 * Adds a skill. If a skill with this name exists, returns that skill instead, or the one that it was merged into; it becomes verifiable if the new skill is
 * verifiable, unless an operator has decided that.
 */
export async function addSkill(tx: Tx, clock: Clock, skill: NewSkill): Promise<{ number: number; added: boolean }> {
  await lockCatalogue(tx)
  const { subNumber, source, sourceId, description = '', verifiable = false } = skill
  const name = normaliseText(skill.name)
  const key = nameKey(name)
  const sub = await tx.selectFrom('sub_skills').select('number').where('number', '=', subNumber).executeTakeFirst()
  if (!sub)
    throw problem(
      'NOT_FOUND',
      `Sub-skill ${subSkillId(subNumber)} not found; GET /api/skills/sub-skills lists all sub-skills.`,
    )
  const now = new Date(clock.now())
  const aliases = distinctAliases(name, skill.aliases ?? [])
  const existing = await tx
    .selectFrom('skills')
    .select(['number', 'name', 'verifiable', 'edited_verifiable'])
    .where('name_key', '=', key)
    .where('withdrawn', '=', false)
    .executeTakeFirst()
  const withdrawnNumber = existing ? undefined : await removeWithdrawnSource(tx, key)
  const number = existing?.number ?? withdrawnNumber ?? (await nextSkillNumber(tx))
  const values = { sub_number: subNumber, name, name_key: key, description, aliases, verifiable, updated_at: now }
  if (withdrawnNumber !== undefined)
    await tx
      .updateTable('skills')
      .set((eb) => ({ ...values, withdrawn: false, revision: eb('revision', '+', 1) }))
      .where('number', '=', number)
      .execute()
  else if (!existing)
    await tx
      .insertInto('skills')
      .values({ number, ...values, created_at: now })
      .execute()
  else if (verifiable && !existing.verifiable && existing.edited_verifiable === null)
    await tx
      .updateTable('skills')
      .set((eb) => ({ verifiable, revision: eb('revision', '+', 1), updated_at: now }))
      .where('number', '=', number)
      .execute()
  await tx
    .insertInto('skill_sources')
    .values({ source, source_id: sourceId, skill_number: number, owner: !existing, name, aliases, verifiable })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await incrementCatalogueVersion(tx)
  const families = await readSkillFamilies(tx, [number])
  return { number: families.survivorOf(number), added: !existing }
}

/** Finds the withdrawn skill of a name, and removes its source, so that it can be added again with the same number. */
async function removeWithdrawnSource(tx: Tx, key: string): Promise<number | undefined> {
  const skill = await tx
    .selectFrom('skills')
    .select('number')
    .where('name_key', '=', key)
    .where('withdrawn', '=', true)
    .orderBy('number')
    .executeTakeFirst()
  if (skill) await tx.deleteFrom('skill_sources').where('skill_number', '=', skill.number).execute()
  return skill?.number
}

async function nextSkillNumber(tx: Tx): Promise<number> {
  const { rows } = await sql<{ number: number }>`select nextval('skill_numbers')::int as number`.execute(tx)
  return rows[0]!.number
}

/** Returns the existing skills with these numbers, as a map by number. For CLI commands, which have no snapshot. */
export async function findSkills(
  tx: Queries,
  numbers: number[],
): Promise<Map<number, { number: number; name: string; verifiable: boolean }>> {
  // An empty list, `in ()`, is a syntax error in SQL. No skill has the number 0.
  const numbersOrZero = numbers.length > 0 ? numbers : [0]
  const rows = await tx
    .selectFrom('skills')
    .select(['number', 'name', 'verifiable'])
    .where('number', 'in', numbersOrZero)
    .execute()
  return new Map(rows.map((skill) => [skill.number, skill]))
}

/** Finds, for each name, the skill that has it as an alias. If there are several, returns the skill with the lowest number. */
export async function findSkillsByAlias(
  tx: Queries,
  names: string[],
): Promise<Map<string, { number: number; name: string }>> {
  const { rows } = await sql<{ requested: string; number: number; name: string }>`
    select distinct on (requested) requested, survivor.number, survivor.name
    from skills, unnest(aliases) as alias, unnest(${names}::text[]) as requested, skills as survivor
    where lower(alias) = lower(requested) and not skills.withdrawn
      and survivor.number = coalesce((select survivor_number from skill_merges where skill_number = skills.number), skills.number)
    order by requested, survivor.number`.execute(tx)
  return new Map(rows.map(({ requested, ...skill }) => [requested, skill]))
}
