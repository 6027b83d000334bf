import { nameKey } from '../names.ts'
import { combineValues, NO_EDITS, type SkillEdits, type SourceValues } from '../skill-values.ts'
import type { Source, TaxonomySkill } from '../taxonomy.ts'
import { formerLabelsAfter, removeMovedLabels } from './former-labels.ts'
import type { ChangeSet, Hierarchy, SubSkillPlan } from './hierarchy.ts'
import type { StoredCatalogue, StoredSkill } from './stored-catalogue.ts'

/** A skill after the import: a stored one with its changes, or a new one. */
export interface SkillPlan {
  /** Number of the skill; undefined for a new skill until it is written. */
  number: number | undefined
  isNew: boolean
  sub: SubSkillPlan
  name: string
  key: string
  description: string
  aliases: string[]
  verifiable: boolean
  edits: SkillEdits
  sources: SourcePlan[]
}

/** The row of a source that describes a skill. Several sources can describe the same skill. */
export interface SourcePlan extends SourceValues {
  skill: SkillPlan
}

/** All skills after an import. */
export class SkillPlans {
  private readonly storedSkills = new Map<number, StoredSkill>()
  private readonly plansByNameKey = new Map<string, SkillPlan>()
  private readonly sourcePlans = new Map<string, SourcePlan>()
  private readonly changedPlans = new Set<SkillPlan>()
  private readonly addedSources: SourcePlan[] = []
  private readonly changedSources = new Set<SourcePlan>()

  constructor(stored: StoredCatalogue, hierarchy: Hierarchy) {
    this.hierarchy = hierarchy
    const plansByNumber = new Map<number, SkillPlan>()
    for (const row of stored.skills) {
      const { subNumber, ...skillFields } = row
      const plan = { ...skillFields, isNew: false, sub: hierarchy.subSkillByNumber(subNumber), sources: [] }
      plansByNumber.set(row.number, plan)
      this.plansByNameKey.set(row.key, plan)
      this.storedSkills.set(row.number, row)
    }
    for (const { skillNumber, sourceId, ...sourceFields } of stored.sources) {
      const skill = plansByNumber.get(skillNumber)!
      const plan = { ...sourceFields, id: sourceId, skill }
      skill.sources.push(plan)
      this.sourcePlans.set(`${sourceFields.source} ${sourceId}`, plan)
    }
    // Rows with a name that an operator replaced belong to the renamed skill.
    for (const skill of plansByNumber.values()) {
      const owner = skill.edits.name === null ? undefined : skill.sources.find((source) => source.owner)
      if (owner && !this.plansByNameKey.has(nameKey(owner.name))) this.plansByNameKey.set(nameKey(owner.name), skill)
    }
  }

  private readonly hierarchy: Hierarchy

  findSource(source: Source, id: string): SourcePlan | undefined {
    return this.sourcePlans.get(`${source} ${id}`)
  }

  add(source: Source, row: TaxonomySkill): 'added' | 'merged' {
    const key = nameKey(row.name)
    const { id, name, aliases, verifiable, description } = row
    const existingSkill = this.plansByNameKey.get(key)
    const skill = existingSkill ?? {
      number: row.number,
      isNew: true,
      sub: this.hierarchy.subSkill(row.subSkill),
      name,
      key,
      description,
      aliases: [],
      verifiable,
      edits: NO_EDITS,
      sources: [],
    }
    const plan = { source, id, owner: !existingSkill, name, aliases, formerLabels: [], verifiable, skill }
    skill.sources.push(plan)
    skill.description ||= description
    this.plansByNameKey.set(key, skill)
    this.sourcePlans.set(`${source} ${id}`, plan)
    this.addedSources.push(plan)
    this.changedPlans.add(skill)
    return existingSkill ? 'merged' : 'added'
  }

  /** Updates a skill from a row that was imported before. Rows that do not own the skill change only its aliases and `verifiable` flag. */
  update(sourcePlan: SourcePlan, row: TaxonomySkill): { changed: boolean; conflictingSkill?: SkillPlan } {
    const { skill } = sourcePlan
    const sub = this.hierarchy.subSkill(row.subSkill)
    const description = row.description || skill.description
    const sourceChanged =
      sourcePlan.name !== row.name ||
      sourcePlan.verifiable !== row.verifiable ||
      !sameTexts(sourcePlan.aliases, row.aliases)
    const skillChanged = sourcePlan.owner && (skill.sub !== sub || skill.description !== description)
    if (!sourceChanged && !skillChanged) return { changed: false }
    if (sourcePlan.owner && skill.edits.name === null) {
      const key = nameKey(row.name)
      const conflictingSkill = this.plansByNameKey.get(key)
      if (conflictingSkill && conflictingSkill !== skill) return { changed: false, conflictingSkill }
      this.plansByNameKey.delete(skill.key)
      this.plansByNameKey.set(key, skill)
      Object.assign(skill, { key, name: row.name })
    }
    if (sourcePlan.owner) Object.assign(skill, { sub, description })
    const formerLabels = formerLabelsAfter(sourcePlan, row)
    Object.assign(sourcePlan, { name: row.name, aliases: row.aliases, formerLabels, verifiable: row.verifiable })
    if (sourceChanged) this.changedSources.add(sourcePlan)
    this.changedPlans.add(skill)
    return { changed: true }
  }

  /** Returns the sub-skills of all new and changed skills. */
  subSkillsInUse(): ReadonlySet<SubSkillPlan> {
    return new Set([...this.changedPlans].map(({ sub }) => sub))
  }

  /** Returns the changes of an import of this source. */
  changes(source: Source): { skills: ChangeSet<SkillPlan>; sources: ChangeSet<SourcePlan> } {
    for (const plan of removeMovedLabels(source, this.sourcePlans.values())) {
      this.changedSources.add(plan)
      this.changedPlans.add(plan.skill)
    }
    const skills: ChangeSet<SkillPlan> = { added: [], changed: [] }
    for (const skill of this.changedPlans) {
      Object.assign(skill, combineValues(skill.name, skill.sources, skill.edits))
      if (skill.isNew) skills.added.push(skill)
      else if (differsFromStored(skill, this.storedSkills.get(skill.number!)!)) skills.changed.push(skill)
    }
    return { skills, sources: { added: this.addedSources, changed: [...this.changedSources] } }
  }
}

function differsFromStored(skill: SkillPlan, storedSkill: StoredSkill): boolean {
  return (
    skill.name !== storedSkill.name ||
    skill.description !== storedSkill.description ||
    skill.verifiable !== storedSkill.verifiable ||
    skill.sub.number !== storedSkill.subNumber ||
    !sameTexts(skill.aliases, storedSkill.aliases)
  )
}

function sameTexts(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
