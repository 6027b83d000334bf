import { sql } from 'kysely'
import type { Database, Tx } from '../platform/database.ts'
import { buildSkillIndex, type SkillIndex } from './index/skill-index.ts'
import { runInSlices, type Stepwise } from './index/slices.ts'
import { nameKey } from './names.ts'

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
}

/** The whole catalogue at one version. Never changed: another version is another snapshot. */
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
}

/** Rows fetched at once: few enough that reading them keeps nobody waiting. */
const PAGE = 250

/** Reads the catalogue and indexes it a few milliseconds at a time, so that requests are served meanwhile. */
export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const content = await db.queries.transaction().setIsolationLevel('repeatable read').execute(readContent)
  const byNumber = new Map<number, Skill>()
  const byName = new Map<string, Skill>()
  await runInSlices(
    (function* (): Stepwise<void> {
      for (const skill of content.skills) {
        byNumber.set(skill.number, skill)
        byName.set(nameKey(skill.name), skill)
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
    for (const { sub_number, aliases, ...rest } of rows) {
      const sub = subSkills.get(sub_number)!
      sub.skills++
      sub.master.skills++
      skills.push({ ...rest, aliases: aliases ? aliases.split('\n') : [], sub })
    }
    if (rows.length < PAGE) break
  }
  return { version, skills, subSkills: [...subSkills.values()], masters: [...masters.values()] }
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
