import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { subSkillId } from './ids.ts'
import { distinctAliases, nameKey, tidy } from './names.ts'
import type { Source } from './taxonomy.ts'

/** Every writer takes this lock first: names are unique because one writer at a time looks and then adds. */
export async function lockCatalogue(tx: Tx): Promise<{ version: number; builtInChecksum: string | null }> {
  const row = await tx.selectFrom('catalogue_version').selectAll().forUpdate().executeTakeFirstOrThrow()
  return { version: row.version, builtInChecksum: row.built_in_checksum }
}

/** Makes running servers take the change up once it is committed. */
export async function raiseCatalogueVersion(tx: Tx): Promise<number> {
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

/** Adds one skill; where there is one of that name already, it is that one, made verifiable if this one is. */
export async function addSkill(tx: Tx, clock: Clock, skill: NewSkill): Promise<{ number: number; added: boolean }> {
  await lockCatalogue(tx)
  const { subNumber, source, sourceId, description = '', verifiable = false } = skill
  const name = tidy(skill.name)
  const key = nameKey(name)
  const sub = await tx.selectFrom('sub_skills').select('number').where('number', '=', subNumber).executeTakeFirst()
  if (!sub)
    throw problem('NOT_FOUND', `There is no sub-skill ${subSkillId(subNumber)}; GET /api/skills/sub-skills lists them.`)
  const now = new Date(clock.now())
  const aliases = distinctAliases(name, skill.aliases ?? [])
  const there = await tx
    .selectFrom('skills')
    .select(['number', 'verifiable'])
    .where('name_key', '=', key)
    .executeTakeFirst()
  const number = there?.number ?? (await nextSkillNumber(tx))
  if (!there)
    await tx
      .insertInto('skills')
      .values({
        number,
        sub_number: subNumber,
        name,
        name_key: key,
        description,
        aliases,
        verifiable,
        created_at: now,
        updated_at: now,
      })
      .execute()
  else if (verifiable && !there.verifiable)
    await tx.updateTable('skills').set({ verifiable, updated_at: now }).where('number', '=', number).execute()
  await tx
    .insertInto('skill_sources')
    .values({ source, source_id: sourceId, skill_number: number, owner: !there, name, aliases, verifiable })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await raiseCatalogueVersion(tx)
  return { number, added: !there }
}

async function nextSkillNumber(tx: Tx): Promise<number> {
  const { rows } = await sql<{ number: number }>`select nextval('skill_numbers')::int as number`.execute(tx)
  return rows[0]!.number
}

/** Of these skills, those that the catalogue has; for commands, which have no snapshot of it. */
export async function findSkills(tx: Queries, numbers: number[]): Promise<Map<number, { verifiable: boolean }>> {
  const wanted = numbers.length > 0 ? numbers : [0]
  const rows = await tx.selectFrom('skills').select(['number', 'verifiable']).where('number', 'in', wanted).execute()
  return new Map(rows.map(({ number, verifiable }) => [number, { verifiable }]))
}

/** Of these names, those that are other names of skills already, each with the first such skill. */
export async function skillsAlsoCalled(
  tx: Queries,
  names: string[],
): Promise<Map<string, { number: number; name: string }>> {
  const { rows } = await sql<{ given: string; number: number; name: string }>`
    select distinct on (given) given, number, name from skills, unnest(aliases) as alias, unnest(${names}::text[]) as given
    where lower(alias) = lower(given) order by given, number`.execute(tx)
  return new Map(rows.map(({ given, ...skill }) => [given, skill]))
}
