import { sql } from 'kysely'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import { buildSkillIndex, buildSkillIndexSync, type SkillIndex } from './index/skill-index.ts'
import { runInSlices, type SlicedTask } from './index/text/time-slicing.ts'
import type { IndexFile } from './index-file.ts'
import { distinctAliases, nameKey } from './names.ts'
import type { SerialisedJson } from './serialised-json.ts'
import { inheritedAliases } from './skill-values.ts'

export interface MasterSkill {
  number: number
  name: string
  /** Number of skills in all its sub-skills. */
  skillCount: number
}

export interface SubSkill {
  number: number
  name: string
  master: MasterSkill
  skillCount: number
}

export interface SnapshotSkill {
  number: number
  name: string
  description: string
  aliases: string[]
  /** Whether this deployment can measure the skill without the items of an organisation. */
  measurable: boolean
  /** Whether the skill is measurable, and no operator has switched its verification off. */
  verifiable: boolean
  /** Whether the catalogue marks the skill as often required. It then ranks higher in searches. */
  isPreferred: boolean
  sub: SubSkill
  /** The skills that were merged into this one, by number. Their IDs and names mean this skill. Absent if there are none. */
  merged?: MergedSkill[]
  /** Whether an import that was undone had added the skill. It is found by its ID only. */
  withdrawn?: true
  /** Serialised records of the partner API and the public API, cached on first use (skill-json.ts). */
  recordJson?: SerialisedJson | undefined
  publicJson?: SerialisedJson | undefined
}

interface MergedSkill {
  number: number
  name: string
  sub: SubSkill
  withdrawn?: true
}

/** One version of the whole catalogue. It is immutable except for `add`. A new version of the catalogue is a new snapshot. */
export interface Snapshot {
  version: number
  /** Skills, sub-skills and master skills, each ordered by number. Merged and withdrawn skills are not included, nor withdrawn groups without skills. */
  skills: SnapshotSkill[]
  subSkills: SubSkill[]
  masters: MasterSkill[]
  /** Finds a skill. The number of a merged skill finds the surviving skill. */
  skill(number: number): SnapshotSkill | undefined
  subSkill(number: number): SubSkill | undefined
  master(number: number): MasterSkill | undefined
  /** Finds a skill by its name, or by the name of a skill that was merged into it, not by an alias. Ignores case and white space. */
  skillByName(name: string): SnapshotSkill | undefined
  readonly index: SkillIndex
  /**
   * Adds a skill that is newer than the snapshot. `skill` and `skillByName` return it, but lists and searches do not include it.
   */
  add(skill: SnapshotSkill): void
}

export interface SnapshotOptions {
  /** Returns whether a skill can be measured, if this many items of the built-in bank about it are retired. */
  isMeasurable: IsMeasurable
  /** Whether the index is built at its first use instead of with every snapshot, because searches are unlikely. */
  indexOnDemand?: boolean
  /** The file from which the first snapshot gets its index, if its skills have not changed. */
  indexFile?: IndexFile | undefined
}

/** Number of rows per query, small enough not to block the event loop. */
const ROWS_PER_QUERY = 250

/**
 * Reads and indexes the catalogue in time slices of a few milliseconds. Between two slices, the server can process requests. With
 * `indexOnDemand`, the index is built at its first use, without interruption. If `indexFile` has the index of these skills, it is not built.
 */
export async function takeSnapshot(
  db: Database,
  { isMeasurable, indexOnDemand = false, indexFile }: SnapshotOptions,
): Promise<Snapshot> {
  const { withdrawnSkills, allSubSkills, allMasters, ...content } = await db.queries
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute((tx) => readCatalogueContent(tx, isMeasurable))
  const skillsByNumber = new Map<number, SnapshotSkill>()
  const skillsByName = new Map<string, SnapshotSkill>()
  const add = (skill: SnapshotSkill) => {
    skillsByNumber.set(skill.number, skill)
    if (!skill.withdrawn) skillsByName.set(nameKey(skill.name), skill)
    for (const merged of skill.merged ?? []) {
      skillsByNumber.set(merged.number, skill)
      if (!skill.withdrawn && !merged.withdrawn) skillsByName.set(nameKey(merged.name), skill)
    }
  }
  await runInSlices(
    (function* (): SlicedTask<void> {
      for (const skills of [withdrawnSkills, content.skills])
        for (const skill of skills) {
          add(skill)
          yield
        }
    })(),
  )
  let index = indexOnDemand
    ? undefined
    : ((await indexFile?.load(content.skills)) ?? (await buildSkillIndex(content.skills)))
  return {
    ...content,
    skill: (number) => skillsByNumber.get(number),
    subSkill: (number) => allSubSkills.get(number),
    master: (number) => allMasters.get(number),
    skillByName: (name) => skillsByName.get(nameKey(name)),
    get index() {
      index ??= buildSkillIndexSync(content.skills)
      return index
    },
    add,
  }
}

interface CatalogueContent extends Pick<Snapshot, 'version' | 'skills' | 'subSkills' | 'masters'> {
  withdrawnSkills: SnapshotSkill[]
  allSubSkills: Map<number, SubSkill>
  allMasters: Map<number, MasterSkill>
}

/** Returns whether a skill can be measured, if this many items of the built-in bank about it are retired. */
export type IsMeasurable = (skillNumber: number, retiredItems: number) => boolean

/** Returns the number of retired items of the built-in bank by skill. */
async function countRetiredItems(queries: Queries): Promise<Map<number, number>> {
  const { rows } = await sql<{ skill_number: number; count: number }>`
    select skill_number, count(*)::int as count from bank_items where status = 'retired' group by skill_number`.execute(
    queries,
  )
  return new Map(rows.map(({ skill_number, count }) => [skill_number, count]))
}

async function readCatalogueContent(tx: Tx, isMeasurable: IsMeasurable): Promise<CatalogueContent> {
  const retiredItems = await countRetiredItems(tx)
  const { version } = await tx.selectFrom('catalogue_version').select('version').executeTakeFirstOrThrow()
  const masters = new Map<number, MasterSkill>()
  const withdrawnGroups = new Set<MasterSkill | SubSkill>()
  for (const { number, name, withdrawn } of await tx
    .selectFrom('master_skills')
    .select(['number', 'name', 'withdrawn'])
    .orderBy('number')
    .execute()) {
    const master = { number, name, skillCount: 0 }
    masters.set(number, master)
    if (withdrawn) withdrawnGroups.add(master)
  }
  const subSkills = new Map<number, SubSkill>()
  for (const { number, name, master_number, withdrawn } of await tx
    .selectFrom('sub_skills')
    .select(['number', 'name', 'master_number', 'withdrawn'])
    .orderBy('number')
    .execute()) {
    const sub = { number, name, master: masters.get(master_number)!, skillCount: 0 }
    subSkills.set(number, sub)
    if (withdrawn) withdrawnGroups.add(sub)
  }
  const isListed = (group: MasterSkill | SubSkill) => group.skillCount > 0 || !withdrawnGroups.has(group)

  const survivors = new Map(
    (await tx.selectFrom('skill_merges').select(['skill_number', 'survivor_number']).execute()).map(
      ({ skill_number, survivor_number }) => [skill_number, survivor_number],
    ),
  )
  const skills: SnapshotSkill[] = []
  const mergedSkills: SnapshotSkill[] = []
  const withdrawnSkills: SnapshotSkill[] = []
  let last = 0
  for (;;) {
    const { rows } = await sql<SkillRow>`
      select number, sub_number, name, description, array_to_string(aliases, e'\n') as aliases, verifiable as is_preferred,
        verification_off, withdrawn
      from skills where number > ${last} order by number limit ${ROWS_PER_QUERY}`.execute(tx)
    for (const row of rows) {
      const sub = subSkills.get(row.sub_number)!
      const skill = skillFromRow(row, sub, isMeasurable(row.number, retiredItems.get(row.number) ?? 0))
      if (survivors.has(row.number)) mergedSkills.push(skill)
      else if (skill.withdrawn) withdrawnSkills.push(skill)
      else {
        sub.skillCount++
        sub.master.skillCount++
        skills.push(skill)
      }
    }
    if (rows.length < ROWS_PER_QUERY) break
    last = rows.at(-1)!.number
  }
  if (mergedSkills.length > 0) await addMergedSkills(tx, [...skills, ...withdrawnSkills], survivors, mergedSkills)
  return {
    version,
    skills,
    subSkills: [...subSkills.values()].filter(isListed),
    masters: [...masters.values()].filter(isListed),
    withdrawnSkills,
    allSubSkills: subSkills,
    allMasters: masters,
  }
}

/** Adds to each surviving skill the names, aliases and questions of the skills that were merged into it. */
async function addMergedSkills(
  tx: Tx,
  skills: SnapshotSkill[],
  survivors: ReadonlyMap<number, number>,
  mergedSkills: SnapshotSkill[],
): Promise<void> {
  const mergedBySurvivor = Map.groupBy(mergedSkills, ({ number }) => survivors.get(number)!)
  const { rows } = await sql<{ number: number; removed_aliases: string[]; verification_off: boolean }>`
    select number, removed_aliases, verification_off from skills
    where number = any (${[...mergedBySurvivor.keys()]}::integer[])`.execute(tx)
  const edits = new Map(rows.map((row) => [row.number, row]))
  for (const skill of skills) {
    const merged = mergedBySurvivor.get(skill.number)
    if (!merged) continue
    const { removed_aliases, verification_off } = edits.get(skill.number)!
    const labels = inheritedAliases(
      merged.filter(({ withdrawn }) => !withdrawn),
      removed_aliases,
    )
    skill.aliases = distinctAliases(skill.name, [...skill.aliases, ...labels])
    // The questions about the merged skills are questions about this skill. Whether verification is allowed is a setting of this skill.
    skill.measurable ||= merged.some(({ measurable }) => measurable)
    skill.verifiable = skill.measurable && !verification_off
    skill.merged = merged.map(({ number, name, sub, withdrawn }) => {
      return { number, name, sub, ...(withdrawn ? { withdrawn } : {}) }
    })
  }
}

/** Reads the skills with these numbers or names from the database. */
export async function readSkills(
  queries: Queries,
  numbers: number[],
  names: string[],
  isMeasurable: IsMeasurable,
): Promise<SnapshotSkill[]> {
  const retiredItems = await countRetiredItems(queries)
  const { rows } = await sql<SkillRow & { sub_name: string; master_number: number; master_name: string }>`
    select skills.number, sub_number, skills.name, description, array_to_string(aliases, e'\n') as aliases, verifiable as is_preferred,
      verification_off, skills.withdrawn, sub_skills.name as sub_name, master_number, master_skills.name as master_name
    from skills join sub_skills on sub_skills.number = sub_number join master_skills on master_skills.number = master_number
    where skills.number = any (${numbers}::integer[]) or name_key = any (${names.map(nameKey)}::text[]) and not skills.withdrawn`.execute(
    queries,
  )
  return rows.map(({ sub_name, master_number, master_name, ...row }) => {
    const master = { number: master_number, name: master_name, skillCount: 0 }
    const sub = { number: row.sub_number, name: sub_name, master, skillCount: 0 }
    return skillFromRow(row, sub, isMeasurable(row.number, retiredItems.get(row.number) ?? 0))
  })
}

function skillFromRow(
  { number, name, description, aliases, is_preferred, verification_off, withdrawn }: SkillRow,
  sub: SubSkill,
  measurable: boolean,
): SnapshotSkill {
  const aliasList = aliases ? aliases.split('\n') : []
  return {
    number,
    name,
    description,
    aliases: aliasList,
    measurable,
    verifiable: measurable && !verification_off,
    isPreferred: is_preferred,
    sub,
    ...(withdrawn ? { withdrawn } : {}),
    recordJson: undefined,
    publicJson: undefined,
  }
}

interface SkillRow {
  number: number
  sub_number: number
  name: string
  description: string
  /** One alias per line. Splitting lines is much faster than parsing PostgreSQL's array syntax. */
  aliases: string
  is_preferred: boolean
  verification_off: boolean
  withdrawn: boolean
}
