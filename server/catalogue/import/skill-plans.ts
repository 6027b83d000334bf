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
  /** Whether an import that was undone had added the skill, and this import adds it again. */
  isRevived: boolean
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

export interface SourceChanges extends ChangeSet<SourcePlan> {
  removed: SourcePlan[]
}

/** All skills after an import. */
export class SkillPlans {
  private readonly storedSkills = new Map<number, StoredSkill>()
  private readonly plansByNameKey = new Map<string, SkillPlan>()
  private readonly sourcePlans = new Map<string, SourcePlan>()
  private readonly changedPlans = new Set<SkillPlan>()
  private readonly addedSources: SourcePlan[] = []
  private readonly changedSources = new Set<SourcePlan>()
  private readonly removedSources: SourcePlan[] = []
  /** Skills of imports that were undone, which keep their number if they are imported again. */
  private readonly withdrawnPlansByNameKey = new Map<string, SkillPlan>()
  private readonly withdrawnSources = new Map<string, SourcePlan>()

  constructor(stored: StoredCatalogue, hierarchy: Hierarchy) {
    this.hierarchy = hierarchy
    const plansByNumber = new Map<number, SkillPlan>()
    const withdrawnPlans = new Set<SkillPlan>()
    for (const row of stored.skills) {
      const { subNumber, withdrawn, ...skillFields } = row
      const plan = {
        ...skillFields,
        isNew: false,
        isRevived: false,
        sub: hierarchy.subSkillByNumber(subNumber),
        sources: [],
      }
      plansByNumber.set(row.number, plan)
      if (withdrawn) withdrawnPlans.add(plan)
      const sameName = withdrawn ? this.withdrawnPlansByNameKey : this.plansByNameKey
      if (!sameName.has(row.key)) sameName.set(row.key, plan)
      this.storedSkills.set(row.number, row)
    }
    for (const { skillNumber, sourceId, ...sourceFields } of stored.sources) {
      const skill = plansByNumber.get(skillNumber)!
      const plan = { ...sourceFields, id: sourceId, skill }
      skill.sources.push(plan)
      const sourcePlans = withdrawnPlans.has(skill) ? this.withdrawnSources : this.sourcePlans
      sourcePlans.set(`${sourceFields.source} ${sourceId}`, plan)
    }
    // Rows with a name that an operator replaced belong to the renamed skill.
    for (const skill of plansByNumber.values()) {
      const owner = skill.edits.name === null ? undefined : skill.sources.find((source) => source.owner)
      const sameName = withdrawnPlans.has(skill) ? this.withdrawnPlansByNameKey : this.plansByNameKey
      if (owner && !sameName.has(nameKey(owner.name))) sameName.set(nameKey(owner.name), skill)
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
    const formerSource = this.withdrawnSources.get(`${source} ${id}`)
    const revivedSkill = existingSkill ? undefined : this.revive(row, key, formerSource)
    // The row now belongs to a skill with this name.
    if (existingSkill && formerSource && !formerSource.skill.isRevived) this.removedSources.push(formerSource)
    const skill = existingSkill ??
      revivedSkill ?? {
        number: row.number,
        isNew: true,
        isRevived: false,
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

  /** Adds the withdrawn skill of a row again: the one with its ID, else the one with its name. Undefined if there is none. */
  private revive(row: TaxonomySkill, key: string, formerSource: SourcePlan | undefined): SkillPlan | undefined {
    const skill = [
      formerSource?.skill,
      // Built-in skills have fixed numbers.
      row.number === undefined ? this.withdrawnPlansByNameKey.get(key) : undefined,
    ].find((candidate) => candidate && !candidate.isRevived)
    if (!skill) return undefined
    this.removedSources.push(...skill.sources)
    const { name: editedName } = skill.edits
    const keepsEditedName = editedName !== null && !this.plansByNameKey.has(nameKey(editedName))
    const name = keepsEditedName ? editedName : row.name
    this.plansByNameKey.set(nameKey(name), skill)
    return Object.assign(skill, {
      isRevived: true,
      sub: this.hierarchy.subSkill(row.subSkill),
      name,
      key: nameKey(name),
      description: row.description,
      edits: { ...skill.edits, name: keepsEditedName ? name : null },
      sources: [],
    })
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
  changes(source: Source): { skills: ChangeSet<SkillPlan>; sources: SourceChanges } {
    for (const plan of removeMovedLabels(source, this.sourcePlans.values())) {
      this.changedSources.add(plan)
      this.changedPlans.add(plan.skill)
    }
    const skills: ChangeSet<SkillPlan> = { added: [], changed: [] }
    for (const skill of this.changedPlans) {
      Object.assign(skill, combineValues(skill.name, skill.sources, skill.edits))
      if (skill.isNew) skills.added.push(skill)
      else if (skill.isRevived || differsFromStored(skill, this.storedSkills.get(skill.number!)!))
        skills.changed.push(skill)
    }
    return {
      skills,
      sources: { added: this.addedSources, changed: [...this.changedSources], removed: this.removedSources },
    }
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
