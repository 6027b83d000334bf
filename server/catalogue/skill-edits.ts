import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { unstorableReason } from '../platform/http/json.ts'
import { skillId } from './ids.ts'
import { distinctAliases, findNameError, MAX_ALIASES, nameKey, normaliseText, sameLabel } from './names.ts'
import { readSkillFamilies } from './skill-families.ts'
import { readMerges, requireListed, requireNotMerged } from './skill-merges.ts'
import { combineValues, inheritedAliases, type SkillEdits, type SourceValues } from './skill-values.ts'
import { incrementCatalogueVersion, lockCatalogue } from './store.ts'
import type { Source } from './taxonomy.ts'

/** The change of an operator to a skill. Absent properties stay as they are. */
export interface SkillChange {
  /** The revision that the operator saw. */
  revision: number
  name?: string | undefined
  add_aliases?: string[] | undefined
  remove_aliases?: string[] | undefined
  /** Whether employers often require the skill, so that it ranks higher in searches. */
  often_required?: boolean | undefined
  /** False switches off the verification with the questions of this deployment. */
  verification?: boolean | undefined
}

/** A skill as the editor reads it, in the transaction of a change. */
interface EditedSkill {
  number: number
  name: string
  aliases: string[]
  revision: number
  verifiable: boolean
  verification_off: boolean
  edits: SkillEdits
}

/** Changes a skill. Returns what has changed, for the audit log; undefined if nothing has. */
export async function changeSkill(
  tx: Tx,
  clock: Clock,
  number: number,
  change: SkillChange,
): Promise<Record<string, unknown> | undefined> {
  await lockCatalogue(tx)
  const skill = await getSkillToEdit(tx, number)
  requireRevision(skill, change.revision)
  await requireNotMerged(tx, number)
  const inherited = inheritedAliases((await readMerges(tx, number)).mergedSkills, skill.edits.removedAliases)
  const name = change.name === undefined ? skill.name : normaliseText(change.name)
  const addedAliases = distinctAliases('', change.add_aliases ?? [])
  const removedAliases = distinctAliases('', change.remove_aliases ?? [])
  requireValidLabels(skill, change, name, inherited)
  await requireFreeLabels(tx, number, [
    ...(name === skill.name ? [] : [{ path: 'name', label: name }]),
    ...(change.add_aliases ?? []).map((alias, index) => ({
      path: `add_aliases[${index}]`,
      label: normaliseText(alias),
    })),
  ])

  const sources = await readSources(tx, number)
  const ownerName = sources.find(({ owner }) => owner)?.name
  const isIn = (labels: readonly string[]) => (label: string) => labels.some((other) => sameLabel(other, label))
  // The previous name stays as an alias.
  const formerNames = name === skill.name ? [] : [skill.name]
  const kept = [...addedAliases, ...formerNames, name]
  const edits: SkillEdits = {
    name: change.name === undefined ? skill.edits.name : name === ownerName ? null : name,
    addedAliases: distinctAliases('', [...skill.edits.addedAliases, ...formerNames, ...addedAliases]).filter(
      (label) => !isIn(removedAliases)(label),
    ),
    removedAliases: distinctAliases('', [...skill.edits.removedAliases, ...removedAliases]).filter(
      (label) => !isIn(kept)(label),
    ),
    verifiable: change.often_required ?? skill.edits.verifiable,
  }
  const verificationOff = change.verification === undefined ? skill.verification_off : !change.verification
  const { aliases, verifiable } = combineValues(name, sources, edits)
  if (addedAliases.length > 0 && aliases.length > MAX_ALIASES)
    throw invalid([{ path: 'add_aliases', message: `a skill can have at most ${MAX_ALIASES} aliases` }])
  // An alias that a source already has becomes the operator's too, so that it stays if the source drops it.
  const newAliases = distinctAliases('', [
    ...aliases.filter((alias) => !skill.aliases.includes(alias)),
    ...edits.addedAliases.filter((alias) => !skill.edits.addedAliases.includes(alias)),
  ])
  const lostAliases = [
    ...skill.aliases.filter((alias) => !aliases.includes(alias)),
    ...inherited.filter((alias) => isIn(removedAliases)(alias) && !isIn(skill.aliases)(alias)),
  ]
  const details = {
    ...(name === skill.name ? {} : { old_name: skill.name }),
    ...(newAliases.length > 0 ? { added_aliases: newAliases } : {}),
    ...(lostAliases.length > 0 ? { removed_aliases: lostAliases } : {}),
    ...(verifiable === skill.verifiable && edits.verifiable === skill.edits.verifiable
      ? {}
      : { often_required: verifiable }),
    ...(verificationOff === skill.verification_off ? {} : { verification: !verificationOff }),
  }
  if (Object.keys(details).length === 0 && isDeepStrictEqual(edits, skill.edits)) return undefined
  await storeSkill(tx, clock, number, { name, aliases, verifiable, edits, verificationOff })
  await incrementCatalogueVersion(tx)
  return { name, ...details }
}

/**
 * Adds the name of a skill request to the aliases that operators added, so that later requests for it find the skill. Unlike
 * `changeSkill`, accepts an alias that another skill has: taxonomies share aliases, and the operator has decided what the name means.
 * Throws if it is the name of another skill. The number of a merged skill means the surviving one.
 */
export async function addAliasOfRequest(
  tx: Tx,
  clock: Clock,
  requestedNumber: number,
  alias: string,
): Promise<{ number: number; name: string }> {
  await lockCatalogue(tx)
  const families = await readSkillFamilies(tx, [requestedNumber])
  const number = families.survivorOf(requestedNumber)
  const skill = await getSkillToEdit(tx, number)
  const other = await tx
    .selectFrom('skills')
    .select('number')
    .where('name_key', '=', nameKey(alias))
    .where('number', '<>', number)
    .executeTakeFirst()
  // The name of a merged skill already means this skill.
  if (other && families.survivorOf(other.number) === number) return { number, name: skill.name }
  if (other)
    throw problem(
      'CONFLICT',
      `${JSON.stringify(alias)} is already the name of ${skillId(other.number)}. Approve the request as that skill.`,
    )
  const isAlias = (label: string) => sameLabel(label, alias)
  if ([skill.name, ...skill.edits.addedAliases].some(isAlias)) return { number, name: skill.name }
  const edits = {
    ...skill.edits,
    addedAliases: [...skill.edits.addedAliases, alias],
    removedAliases: skill.edits.removedAliases.filter((removed) => !isAlias(removed)),
  }
  const values = combineValues(skill.name, await readSources(tx, number), edits)
  await storeSkill(tx, clock, number, { name: skill.name, ...values, edits, verificationOff: skill.verification_off })
  await incrementCatalogueVersion(tx)
  return { number, name: skill.name }
}

/**
 * Returns the number of the skill that a requested name means: the skill with this name, or with this alias by decision of an operator. If
 * that skill was merged, returns the surviving one.
 */
export async function findSkillForRequest(tx: Tx, key: string): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`
    select coalesce(survivor_number, number) as number from (
      (select 1 as position, number from skills where name_key = ${key} and not withdrawn)
      union all
      (select 2, number from skills where added_alias_keys <> '{}' and added_alias_keys @> array[${key}] and not withdrawn
        order by number limit 1)) found
    left join skill_merges on skill_number = number order by position`.execute(tx)
  return rows[0]?.number
}

/** Returns a skill for a change, locked. Throws if it does not exist. */
async function getSkillToEdit(tx: Tx, number: number): Promise<EditedSkill> {
  const row = await tx
    .selectFrom('skills')
    .select(['number', 'name', 'aliases', 'revision', 'verifiable', 'verification_off'])
    .select(['edited_name', 'added_aliases', 'removed_aliases', 'edited_verifiable', 'withdrawn'])
    .where('number', '=', number)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Skill ${skillId(number)} not found.`)
  requireListed(row)
  const { edited_name, added_aliases, removed_aliases, edited_verifiable, withdrawn: _, ...skill } = row
  const edits = {
    name: edited_name,
    addedAliases: added_aliases,
    removedAliases: removed_aliases,
    verifiable: edited_verifiable,
  }
  return { ...skill, edits }
}

function requireRevision({ number, revision }: EditedSkill, expected: number): void {
  if (revision !== expected)
    throw problem(
      'CONFLICT',
      `${skillId(number)} has been changed in the meantime (revision ${revision}, expected ${expected}). Load it again and repeat the change.`,
    )
}

/**
 * Throws if a name or alias is malformed, or if an alias to remove does not exist. `inherited` are the aliases that the skill has because of
 * merged skills.
 */
function requireValidLabels(
  skill: EditedSkill,
  { add_aliases = [], remove_aliases = [] }: SkillChange,
  name: string,
  inherited: readonly string[],
): void {
  const details: Detail[] = []
  const check = (path: string, label: string) => {
    const error = findNameError(normaliseText(label)) ?? unstorableReason(label)
    if (error) details.push({ path, message: error })
  }
  check('name', name)
  for (const [index, alias] of add_aliases.entries()) {
    check(`add_aliases[${index}]`, alias)
    if (sameLabel(alias, name)) details.push({ path: `add_aliases[${index}]`, message: 'is the name of the skill' })
  }
  for (const [index, alias] of remove_aliases.entries()) {
    const path = `remove_aliases[${index}]`
    if (![...skill.aliases, ...inherited].some((existing) => sameLabel(existing, alias)))
      details.push({ path, message: 'is not an alias of the skill' })
    else if (add_aliases.some((added) => sameLabel(added, alias)))
      details.push({ path, message: 'is also in add_aliases; list it once' })
  }
  if (details.length > 0) throw invalid(details)
}

/** Throws if another skill has one of these labels as its name or alias. */
async function requireFreeLabels(tx: Tx, number: number, labels: { path: string; label: string }[]): Promise<void> {
  if (labels.length === 0) return
  const { rows } = await sql<{ label: string; number: number; name: string; is_name: boolean }>`
    select distinct on (label) label, number, name, is_name from (
      select input.label, number, name, true as is_name
      from unnest(${labels.map(({ label }) => label)}::text[], ${labels.map(({ label }) => nameKey(label))}::text[]) as input (label, key)
      join skills on name_key = input.key and not withdrawn
      union all
      select input.label, number, name, false
      from unnest(${labels.map(({ label }) => label)}::text[]) as input (label)
      join (select number, name, lower(unnest(aliases)) as alias from skills where not withdrawn) labelled on alias = lower(input.label)) found
    where number <> ${number} order by label, is_name desc, number`.execute(tx)
  const others = new Map(rows.map((row) => [row.label, row]))
  const details = labels.flatMap(({ path, label }): Detail[] => {
    const other = others.get(label)
    if (!other) return []
    const message = other.is_name
      ? `${JSON.stringify(label)} is already the name of ${skillId(other.number)}; choose another name`
      : `${JSON.stringify(label)} is already an alias of ${other.name} (${skillId(other.number)}); remove the alias there first`
    return [{ path, message }]
  })
  if (details.length > 0) throw problem('CONFLICT', `${details.map(({ message }) => message).join('. ')}.`, { details })
}

async function readSources(tx: Tx, number: number): Promise<SourceValues[]> {
  const rows = await tx
    .selectFrom('skill_sources')
    .select(['source', 'source_id as id', 'owner', 'name', 'aliases', 'former_labels as formerLabels', 'verifiable'])
    .where('skill_number', '=', number)
    .execute()
  return rows.map((row) => ({ ...row, source: row.source as Source }))
}

async function storeSkill(
  tx: Tx,
  clock: Clock,
  number: number,
  skill: { name: string; aliases: string[]; verifiable: boolean; edits: SkillEdits; verificationOff: boolean },
): Promise<void> {
  const { name, aliases, verifiable, edits, verificationOff } = skill
  await tx
    .updateTable('skills')
    .set((eb) => ({
      name,
      name_key: nameKey(name),
      aliases,
      verifiable,
      verification_off: verificationOff,
      edited_name: edits.name,
      added_aliases: edits.addedAliases,
      added_alias_keys: edits.addedAliases.map(nameKey),
      removed_aliases: edits.removedAliases,
      edited_verifiable: edits.verifiable,
      revision: eb('revision', '+', 1),
      updated_at: new Date(clock.now()),
    }))
    .where('number', '=', number)
    .execute()
}
