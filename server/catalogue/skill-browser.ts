import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../platform/database/database.ts'
import { masterSkillId, masterSkillNumber, skillId, skillNumber, subSkillId, subSkillNumber } from './ids.ts'
import { readSkillFamilies } from './skill-families.ts'
import { describeMerge, readMerges } from './skill-merges.ts'
import { filterGroupsByName, filterSkills, type HierarchyFilter } from './skill-pages.ts'
import { readSkillQuestions, type SkillQuestions } from './skill-questions.ts'
import { countSkillUse, type SkillUse } from './skill-use.ts'
import { inheritedAliases } from './skill-values.ts'
import type { MasterSkill, Snapshot, SnapshotSkill, SubSkill } from './snapshot.ts'

type BrowserDeps = Pick<Context, 'db' | 'catalogue'>

/** Sources of skills. `operator`: an operator has changed the skill. */
export const browsableSources = ['builtin', 'esco', 'onet', 'lightcast', 'csv', 'request', 'operator'] as const
type BrowsableSource = (typeof browsableSources)[number]

/** `built_in`: in the built-in bank. `own`: of organisations. `none`: neither. */
export const questionFilters = ['built_in', 'own', 'none'] as const

export interface SkillFilter extends HierarchyFilter {
  /** Words of a name or alias, or an ID. */
  q?: string | undefined
  verifiable?: boolean | undefined
  questions?: (typeof questionFilters)[number] | undefined
  source?: BrowsableSource | undefined
}

/** Returns the skills that match the filters: the best matches first if there is a search text, otherwise by ID. */
export async function browseSkills(
  { db, catalogue }: BrowserDeps,
  filter: SkillFilter,
  { offset, limit }: { offset: number; limit: number },
) {
  const { current } = catalogue
  const { q = '', verifiable, questions: questionFilter, source } = filter
  const allQuestions = questionFilter && (await readSkillQuestions(db.queries, 'all'))
  const sourceNumbers = source && (await findNumbersOfSource(db.queries, source))
  const allowedNumbers = new Set(filterSkills(current, filter).map(({ number }) => number))
  const isListed = ({ number, verifiable: isVerifiable }: SnapshotSkill) =>
    allowedNumbers.has(number) &&
    (verifiable === undefined || isVerifiable === verifiable) &&
    (allQuestions === undefined || matchesQuestions(allQuestions, number, questionFilter!)) &&
    (sourceNumbers === undefined || sourceNumbers.has(number))
  const { skills, total } = findSkillsByText(current, q.trim(), isListed, { offset, limit })
  const numbers = skills.map(({ number }) => number)
  const questions = allQuestions ?? (await readSkillQuestions(db.queries, numbers))
  const sources = await findSources(db.queries, numbers)
  return { items: skills.map((skill) => listedSkill(skill, questions, sources.get(skill.number) ?? [])), total }
}

function findSkillsByText(
  current: Snapshot,
  text: string,
  isListed: (skill: SnapshotSkill) => boolean,
  { offset, limit }: { offset: number; limit: number },
): { skills: SnapshotSkill[]; total: number } {
  const number = skillNumber(text)
  if (text === '' || number !== undefined) {
    const candidates =
      number === undefined ? current.skills : [current.skill(number)].filter((skill) => skill !== undefined)
    const skills = candidates.filter(isListed)
    return { skills: skills.slice(offset, offset + limit), total: skills.length }
  }
  const filter = (hit: number) => isListed(current.skill(hit)!)
  const { skills, total } = current.index.search(text, { offset, limit, filter })
  return { skills: skills.map((hit) => current.skill(hit.number)!), total }
}

function matchesQuestions(
  { hasBuiltIn, own }: SkillQuestions,
  number: number,
  filter: (typeof questionFilters)[number],
): boolean {
  if (filter === 'built_in') return hasBuiltIn(number)
  if (filter === 'own') return own.has(number)
  return !hasBuiltIn(number) && !own.has(number)
}

async function findNumbersOfSource(queries: Queries, source: BrowsableSource): Promise<ReadonlySet<number>> {
  const { rows } =
    source === 'operator'
      ? await sql<{ number: number }>`
          select number from skills where edited_name is not null or added_aliases <> '{}' or removed_aliases <> '{}'
            or edited_verifiable is not null or verification_off`.execute(queries)
      : await sql<{ number: number }>`
          select distinct skill_number as number from skill_sources where source = ${source}`.execute(queries)
  return new Set(rows.map(({ number }) => number))
}

async function findSources(queries: Queries, numbers: number[]): Promise<Map<number, string[]>> {
  const { rows } = await sql<{ skill_number: number; sources: string[] }>`
    select skill_number, array_agg(distinct source order by source) as sources from skill_sources
    where skill_number = any (${numbers}::integer[]) group by skill_number`.execute(queries)
  return new Map(rows.map(({ skill_number, sources }) => [skill_number, sources]))
}

function placeOf({ sub }: SnapshotSkill) {
  return {
    sub_skill: { sub_skill_id: subSkillId(sub.number), name: sub.name },
    master_skill: { master_skill_id: masterSkillId(sub.master.number), name: sub.master.name },
  }
}

function listedSkill(skill: SnapshotSkill, { hasBuiltIn, own }: SkillQuestions, sources: string[]) {
  const { number, name, aliases, verifiable } = skill
  return {
    skill_id: skillId(number),
    name,
    aliases,
    ...placeOf(skill),
    verifiable,
    built_in_questions: hasBuiltIn(number),
    own_questions: own.get(number)?.questions ?? 0,
    sources,
  }
}

/** Returns the sub-skills that match, sorted by ID. */
export function browseSubSkills({ subSkills }: Snapshot, q: string, { master_skill_id }: HierarchyFilter): SubSkill[] {
  const masterNumber = master_skill_id === undefined ? undefined : masterSkillNumber(master_skill_id)
  return findGroups(subSkills, q.trim(), subSkillNumber).filter(
    ({ master }) => master_skill_id === undefined || master.number === masterNumber,
  )
}

/** Returns the master skills that match, sorted by ID. */
export function browseMasterSkills({ masters }: Snapshot, q: string): MasterSkill[] {
  return findGroups(masters, q.trim(), masterSkillNumber)
}

function findGroups<T extends { number: number; name: string }>(
  groups: T[],
  text: string,
  parseId: (id: string) => number | undefined,
): T[] {
  const number = parseId(text)
  if (number !== undefined) return groups.filter((group) => group.number === number)
  return filterGroupsByName(groups, text === '' ? undefined : text)
}

/** Why a skill is verifiable, or why it is not. */
export const verifiableReasons = ['built_in_questions', 'ai_writer', 'too_few_questions', 'switched_off'] as const

/** Returns a skill with its sources, its questions and the changes of operators. */
export async function describeSkill({ db, catalogue, config }: BrowserDeps & Pick<Context, 'config'>, id: string) {
  const { number, ...row } = await getSkillRow(db.queries, id)
  const loaded = await catalogue.load({ ids: [skillId(number)] })
  const skill = loaded.skill(number)!
  const questions = await readSkillQuestions(db.queries, [number])
  const { rows: sources } = await sql<{ source: string; source_id: string; name: string; owner: boolean }>`
    select source, source_id, name, owner from skill_sources where skill_number = ${number} order by owner desc, source, source_id`.execute(
    db.queries,
  )
  const { mergedInto, mergedSkills } = await readMerges(db.queries, number)
  const own = questions.own.get(number)
  const verifiableReason: (typeof verifiableReasons)[number] = row.verification_off
    ? 'switched_off'
    : !skill.measurable
      ? 'too_few_questions'
      : config.ai === undefined
        ? 'built_in_questions'
        : 'ai_writer'
  return {
    skill_id: skillId(number),
    name: row.name,
    description: row.description,
    aliases: row.aliases,
    added_aliases: row.added_aliases,
    removed_aliases: row.removed_aliases,
    is_renamed: row.edited_name !== null,
    ...placeOf(skill),
    withdrawn: row.withdrawn,
    verifiable: skill.measurable && !row.verification_off,
    verifiable_reason: verifiableReason,
    verification: !row.verification_off,
    often_required: row.verifiable,
    built_in_questions: questions.hasBuiltIn(number),
    own_questions: own?.questions ?? 0,
    organisations_with_questions: own?.organisations ?? 0,
    sources,
    merged_into: mergedInto
      ? {
          skill_id: skillId(mergedInto.number),
          name: mergedInto.name,
          merged_at: mergedInto.mergedAt.toISOString(),
        }
      : null,
    merged_skills: mergedSkills.map(({ number: merged, name, aliases, into, mergedAt }) => ({
      skill_id: skillId(merged),
      name,
      aliases: inheritedAliases([{ name, aliases }], row.removed_aliases),
      into: { skill_id: skillId(into.number), name: into.name },
      merged_at: mergedAt.toISOString(),
    })),
    revision: row.revision,
    updated_at: row.updated_at.toISOString(),
  }
}

/** Counts the records that refer to a skill, or to skills that were merged into it. */
export async function describeSkillUse(queries: Queries, id: string): Promise<SkillUse> {
  const { number } = await getSkillRow(queries, id)
  const families = await readSkillFamilies(queries, [number])
  return countSkillUse(queries, families.survivorOf(number) === number ? families.numbersOf(number) : [number])
}

/** Returns the effects of merging a skill into another one, as the API shows them. */
export async function describeMergeEffects(queries: Queries, id: string, intoId: string) {
  const { skill, into, newAliases, earlierMerged, use, questions } = await describeMerge(
    queries,
    skillNumber(id) ?? 0,
    skillNumber(intoId) ?? 0,
  )
  const { hasBuiltIn } = await readSkillQuestions(queries, [skill.number])
  return {
    skill: { skill_id: skillId(skill.number), name: skill.name },
    into: { skill_id: skillId(into.number), name: into.name },
    new_aliases: newAliases,
    earlier_merged_skill_ids: earlierMerged.map(skillId),
    ...use,
    own_questions: questions,
    built_in_questions: hasBuiltIn(skill.number),
  }
}

async function getSkillRow(queries: Queries, id: string) {
  const row = await queries
    .selectFrom('skills')
    .select(['number', 'name', 'description', 'aliases', 'verifiable', 'revision', 'updated_at'])
    .select(['edited_name', 'added_aliases', 'removed_aliases', 'verification_off', 'withdrawn'])
    .where('number', '=', skillNumber(id) ?? 0)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Skill ${id} not found.`)
  return row
}
