import { distinctAliases, nameKey } from '../names.ts'
import type { Source, TaxonomySkill } from '../taxonomy.ts'
import type { ChangeSet, Hierarchy, SubSkillPlan } from './hierarchy.ts'
import type { StoredCatalogue, StoredSkill } from './stored-catalogue.ts'

export interface SkillPlan {
  /** Undefined for a new row until it is written. */
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

/** The row of one source about a skill. */
export interface SourcePlan {
  source: Source
  id: string
  owner: boolean
  name: string
  aliases: string[]
  verifiable: boolean
  skill: SkillPlan
}

/** The skills after an import: stored skills with their changes, and new skills. */
export class SkillPlans {
  private readonly storedSkills = new Map<number, StoredSkill>()
  private readonly plansByNameKey = new Map<string, SkillPlan>()
  private readonly sourcePlans = new Map<string, SourcePlan>()
  private readonly changedPlans = new Set<SkillPlan>()
  private readonly sourceChanges: ChangeSet<SourcePlan> = { added: [], changed: [] }

  constructor(stored: StoredCatalogue, hierarchy: Hierarchy) {
    this.hierarchy = hierarchy
    const byNumber = new Map<number, SkillPlan>()
    for (const row of stored.skills) {
      const { subNumber, ...rest } = row
      const plan = { ...rest, isNew: false, sub: hierarchy.subSkillByNumber(subNumber), sources: [] }
      byNumber.set(row.number, plan)
      this.plansByNameKey.set(row.key, plan)
      this.storedSkills.set(row.number, row)
    }
    for (const { skillNumber, sourceId, ...rest } of stored.sources) {
      const skill = byNumber.get(skillNumber)!
      const plan = { ...rest, id: sourceId, skill }
      skill.sources.push(plan)
      this.sourcePlans.set(`${rest.source} ${sourceId}`, plan)
    }
  }

  private readonly hierarchy: Hierarchy

  find(source: Source, id: string): SourcePlan | undefined {
    return this.sourcePlans.get(`${source} ${id}`)
  }

  add(source: Source, row: TaxonomySkill): 'added' | 'merged' {
    const key = nameKey(row.name)
    const { id, name, aliases, verifiable, description } = row
    const existing = this.plansByNameKey.get(key)
    const skill = existing ?? {
      number: row.number,
      isNew: true,
      sub: this.hierarchy.subSkill(row.subSkill),
      name,
      key,
      description,
      aliases: [],
      verifiable,
      sources: [],
    }
    const plan = { source, id, owner: !existing, name, aliases, verifiable, skill }
    skill.sources.push(plan)
    skill.description ||= description
    this.plansByNameKey.set(key, skill)
    this.sourcePlans.set(`${source} ${id}`, plan)
    this.sourceChanges.added.push(plan)
    this.changedPlans.add(skill)
    return existing ? 'merged' : 'added'
  }

  /** A row of the owner changes the skill itself; rows of other sources only change the aliases and flag that they contribute. */
  update(known: SourcePlan, row: TaxonomySkill): { changed: boolean; clash?: SkillPlan } {
    const { skill } = known
    const sub = this.hierarchy.subSkill(row.subSkill)
    const description = row.description || skill.description
    const sourceChanged =
      known.name !== row.name || known.verifiable !== row.verifiable || !sameTexts(known.aliases, row.aliases)
    const skillChanged = known.owner && (skill.sub !== sub || skill.description !== description)
    if (!sourceChanged && !skillChanged) return { changed: false }
    if (known.owner) {
      const key = nameKey(row.name)
      const clash = this.plansByNameKey.get(key)
      if (clash && clash !== skill) return { changed: false, clash }
      this.plansByNameKey.delete(skill.key)
      this.plansByNameKey.set(key, skill)
      Object.assign(skill, { sub, description, key, name: row.name })
    }
    Object.assign(known, { name: row.name, aliases: row.aliases, verifiable: row.verifiable })
    if (sourceChanged) this.sourceChanges.changed.push(known)
    this.changedPlans.add(skill)
    return { changed: true }
  }

  subSkillsInUse(): ReadonlySet<SubSkillPlan> {
    return new Set([...this.changedPlans].map(({ sub }) => sub))
  }

  changes(): { skills: ChangeSet<SkillPlan>; sources: ChangeSet<SourcePlan> } {
    const skills: ChangeSet<SkillPlan> = { added: [], changed: [] }
    for (const skill of this.changedPlans) {
      combineSources(skill)
      if (skill.isNew) skills.added.push(skill)
      else if (differs(skill, this.storedSkills.get(skill.number!)!)) skills.changed.push(skill)
    }
    return { skills, sources: this.sourceChanges }
  }
}

/** Combines the aliases and flags of all sources, in an order that does not depend on the order of imports. */
function combineSources(skill: SkillPlan): void {
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

function differs(skill: SkillPlan, before: StoredSkill): boolean {
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
