import { sql } from 'kysely'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import { buildSkillIndex, type SkillIndex } from './index/skill-index.ts'
import { runInSlices, type Stepwise } from './index/text/time-slicing.ts'
import { nameKey } from './names.ts'
import type { WrittenJson } from './skill-json.ts'

export interface MasterSkill {
  number: number
  name: string
  /** How many skills stand under it. */
  skills: number
}

export interface SubSkill {
  number: number
  name: string
  master: MasterSkill
  skills: number
}

export interface Skill {
  number: number
  name: string
  description: string
  aliases: string[]
  verifiable: boolean
  sub: SubSkill
  /** As the two APIs write it, once one of them was asked for it (skill-json.ts). */
  recordJson?: WrittenJson | undefined
  publicJson?: WrittenJson | undefined
}

/** The whole catalogue at one version. Never changed but for what it learns: another version is another snapshot. */
export interface Snapshot {
  version: number
  /** These three by number. */
  skills: Skill[]
  subSkills: SubSkill[]
  masters: MasterSkill[]
  skill(number: number): Skill | undefined
  subSkill(number: number): SubSkill | undefined
  master(number: number): MasterSkill | undefined
  /** By the skill's own name, compared without case and spacing. */
  named(name: string): Skill | undefined
  index: SkillIndex
  /** Takes in a skill that was added since: it is found by number and name, and stands in no list or search yet. */
  learn(skill: Skill): void
}

/** Rows fetched at once: few enough that reading them keeps nobody waiting. */
const PAGE = 250

/** Reads the catalogue and indexes it a few milliseconds at a time, so that requests are served meanwhile. */
export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const content = await db.queries.transaction().setIsolationLevel('repeatable read').execute(readContent)
  const byNumber = new Map<number, Skill>()
  const byName = new Map<string, Skill>()
  const learn = (skill: Skill) => {
    byNumber.set(skill.number, skill)
    byName.set(nameKey(skill.name), skill)
  }
  await runInSlices(
    (function* (): Stepwise<void> {
      for (const skill of content.skills) {
        learn(skill)
        yield
      }
    })(),
  )
  const subSkills = new Map(content.subSkills.map((sub) => [sub.number, sub]))
  const masters = new Map(content.masters.map((master) => [master.number, master]))
  return {
    ...content,
    skill: (number) => byNumber.get(number),
    subSkill: (number) => subSkills.get(number),
    master: (number) => masters.get(number),
    named: (name) => byName.get(nameKey(name)),
    index: await buildSkillIndex(content.skills),
    learn,
  }
}

type Content = Pick<Snapshot, 'version' | 'skills' | 'subSkills' | 'masters'>

async function readContent(tx: Tx): Promise<Content> {
  const { version } = await tx.selectFrom('catalogue_version').select('version').executeTakeFirstOrThrow()
  const masters = new Map<number, MasterSkill>()
  for (const { number, name } of await tx
    .selectFrom('master_skills')
    .select(['number', 'name'])
    .orderBy('number')
    .execute())
    masters.set(number, { number, name, skills: 0 })
  const subSkills = new Map<number, SubSkill>()
  for (const { number, name, master_number } of await tx
    .selectFrom('sub_skills')
    .select(['number', 'name', 'master_number'])
    .orderBy('number')
    .execute())
    subSkills.set(number, { number, name, master: masters.get(master_number)!, skills: 0 })

  const skills: Skill[] = []
  for (;;) {
    const { rows } = await sql<SkillRow>`
      select number, sub_number, name, description, array_to_string(aliases, e'\n') as aliases, verifiable from skills
      where number > ${skills.at(-1)?.number ?? 0} order by number limit ${PAGE}`.execute(tx)
    for (const row of rows) {
      const sub = subSkills.get(row.sub_number)!
      sub.skills++
      sub.master.skills++
      skills.push(skillOf(row, sub))
    }
    if (rows.length < PAGE) break
  }
  return { version, skills, subSkills: [...subSkills.values()], masters: [...masters.values()] }
}

/** Of these skills, by number or name, those that the database has now. */
export async function readSkills(queries: Queries, numbers: number[], names: string[]): Promise<Skill[]> {
  const { rows } = await sql<SkillRow & { sub_name: string; master_number: number; master_name: string }>`
    select skills.number, sub_number, skills.name, description, array_to_string(aliases, e'\n') as aliases, verifiable,
      sub_skills.name as sub_name, master_number, master_skills.name as master_name
    from skills join sub_skills on sub_skills.number = sub_number join master_skills on master_skills.number = master_number
    where skills.number = any (${numbers}::integer[]) or name_key = any (${names.map(nameKey)}::text[])`.execute(
    queries,
  )
  return rows.map(({ sub_name, master_number, master_name, ...row }) => {
    const master = { number: master_number, name: master_name, skills: 0 }
    return skillOf(row, { number: row.sub_number, name: sub_name, master, skills: 0 })
  })
}

function skillOf({ number, name, description, aliases, verifiable }: SkillRow, sub: SubSkill): Skill {
  const names = aliases ? aliases.split('\n') : []
  return { number, name, description, aliases: names, verifiable, sub, recordJson: undefined, publicJson: undefined }
}

interface SkillRow {
  number: number
  sub_number: number
  name: string
  description: string
  /** One a line: splitting is much cheaper than reading PostgreSQL's notation of lists. */
  aliases: string
  verifiable: boolean
}
