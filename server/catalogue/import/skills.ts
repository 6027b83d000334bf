import { distinctAliases, nameKey } from '../names.ts'
import type { Source, TaxonomySkill } from '../taxonomy.ts'
import type { Existing, ExistingSkill } from './existing.ts'
import type { Change, Places, SubSkillPlan } from './places.ts'

export interface SkillPlan {
  /** Undefined until a new one is written. */
  number: number | undefined
  isNew: boolean
  sub: SubSkillPlan
  name: string
  key: string
  description: string
  aliases: string[]
  verifiable: boolean
  sources: SourcePlan[]
}

/** What one source says of a skill. */
export interface SourcePlan {
  source: Source
  id: string
  owner: boolean
  name: string
  aliases: string[]
  verifiable: boolean
  skill: SkillPlan
}

/** The skills as they will be: those that exist, changed by the rows of a taxonomy, and new ones. */
export class Skills {
  private readonly before = new Map<number, ExistingSkill>()
  private readonly byKey = new Map<string, SkillPlan>()
  private readonly known = new Map<string, SourcePlan>()
  private readonly touched = new Set<SkillPlan>()
  private readonly sources: Change<SourcePlan> = { added: [], changed: [] }

  constructor(existing: Existing, places: Places) {
    this.places = places
    const byNumber = new Map<number, SkillPlan>()
    for (const row of existing.skills) {
      const { subNumber, ...rest } = row
      const plan = { ...rest, isNew: false, sub: places.withNumber(subNumber), sources: [] }
      byNumber.set(row.number, plan)
      this.byKey.set(row.key, plan)
      this.before.set(row.number, row)
    }
    for (const { skillNumber, sourceId, ...rest } of existing.sources) {
      const skill = byNumber.get(skillNumber)!
      const plan = { ...rest, id: sourceId, skill }
      skill.sources.push(plan)
      this.known.set(`${rest.source} ${sourceId}`, plan)
    }
  }

  private readonly places: Places

  find(source: Source, id: string): SourcePlan | undefined {
    return this.known.get(`${source} ${id}`)
  }

  add(source: Source, row: TaxonomySkill): 'added' | 'merged' {
    const key = nameKey(row.name)
    const { id, name, aliases, verifiable, description } = row
    const there = this.byKey.get(key)
    const skill = there ?? {
      number: row.number,
      isNew: true,
      sub: this.places.get(row.subSkill),
      name,
      key,
      description,
      aliases: [],
      verifiable,
      sources: [],
    }
    const plan = { source, id, owner: !there, name, aliases, verifiable, skill }
    skill.sources.push(plan)
    skill.description ||= description
    this.byKey.set(key, skill)
    this.known.set(`${source} ${id}`, plan)
    this.sources.added.push(plan)
    this.touched.add(skill)
    return there ? 'merged' : 'added'
  }

  /** The owner's row changes the skill itself; any other only what that source adds to it. */
  update(known: SourcePlan, row: TaxonomySkill): { changed: boolean; clash?: SkillPlan } {
    const { skill } = known
    const sub = this.places.get(row.subSkill)
    const description = row.description || skill.description
    const saysOther =
      known.name !== row.name || known.verifiable !== row.verifiable || !sameTexts(known.aliases, row.aliases)
    const standsOther = known.owner && (skill.sub !== sub || skill.description !== description)
    if (!saysOther && !standsOther) return { changed: false }
    if (known.owner) {
      const key = nameKey(row.name)
      const clash = this.byKey.get(key)
      if (clash && clash !== skill) return { changed: false, clash }
      this.byKey.delete(skill.key)
      this.byKey.set(key, skill)
      Object.assign(skill, { sub, description, key, name: row.name })
    }
    Object.assign(known, { name: row.name, aliases: row.aliases, verifiable: row.verifiable })
    if (saysOther) this.sources.changed.push(known)
    this.touched.add(skill)
    return { changed: true }
  }

  subSkillsInUse(): ReadonlySet<SubSkillPlan> {
    return new Set([...this.touched].map(({ sub }) => sub))
  }

  changes(): { skills: Change<SkillPlan>; sources: Change<SourcePlan> } {
    const skills: Change<SkillPlan> = { added: [], changed: [] }
    for (const skill of this.touched) {
      gather(skill)
      if (skill.isNew) skills.added.push(skill)
      else if (differs(skill, this.before.get(skill.number!)!)) skills.changed.push(skill)
    }
    return { skills, sources: this.sources }
  }
}

/** Aliases and flag follow from what all sources say, in an order that does not depend on which was imported first. */
function gather(skill: SkillPlan): void {
  const { sources } = skill
  sources.sort((a, b) => Number(b.owner) - Number(a.owner) || compare(a.source, b.source) || compare(a.id, b.id))
  skill.aliases = distinctAliases(
    skill.name,
    sources.flatMap(({ name, aliases }) => [...aliases, name]),
  )
  skill.verifiable = sources.some(({ verifiable }) => verifiable)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function differs(skill: SkillPlan, before: ExistingSkill): boolean {
  return (
    skill.name !== before.name ||
    skill.description !== before.description ||
    skill.verifiable !== before.verifiable ||
    skill.sub.number !== before.subNumber ||
    !sameTexts(skill.aliases, before.aliases)
  )
}

function sameTexts(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
