import { subSkillId } from '../ids.ts'
import { nameKey } from '../names.ts'
import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'
import type { StoredCatalogue } from './stored-catalogue.ts'

export interface MasterPlan {
  /** Undefined for a new row until it is written. */
  number: number | undefined
  isNew: boolean
  id: string
  name: string
}

export interface SubSkillPlan extends MasterPlan {
  master: MasterPlan
}

export interface ChangeSet<T> {
  added: T[]
  changed: T[]
}

/**
 * The master skills and sub-skills of a taxonomy. They are matched with stored ones of the same source by ID. In the operator's
 * CSV, which contains only their names, they are matched with those of any source by name.
 */
export class Hierarchy {
  private readonly stored: StoredCatalogue
  private readonly matchByName: boolean
  private readonly plansBySourceId = new Map<string, MasterPlan | SubSkillPlan>()
  private readonly plansByName = new Map<string, MasterPlan | SubSkillPlan>()
  private readonly subSkillsByNumber = new Map<number, SubSkillPlan>()
  private readonly masters = new Map<string, MasterPlan>()
  private readonly subSkills = new Map<string, SubSkillPlan>()
  private readonly errors = new Map<string, string>()

  constructor(stored: StoredCatalogue, { source, masters, subSkills }: Taxonomy) {
    this.stored = stored
    this.matchByName = source === 'csv'
    const masterPlans = new Map<number, MasterPlan>()
    for (const { number, name, sourceId, source: from } of stored.masters) {
      const plan = { number, isNew: false, id: sourceId, name }
      masterPlans.set(number, plan)
      if (from === source) this.plansBySourceId.set(`master ${sourceId}`, plan)
      this.indexByName(`master ${nameKey(name)}`, plan)
    }
    for (const { number, masterNumber, name, sourceId, source: from } of stored.subSkills) {
      const plan = { number, isNew: false, id: sourceId, name, master: masterPlans.get(masterNumber)! }
      this.subSkillsByNumber.set(number, plan)
      if (from === source) this.plansBySourceId.set(`sub ${sourceId}`, plan)
      this.indexByName(`${masterNumber} ${nameKey(name)}`, plan)
    }
    for (const master of masters) this.masters.set(master.id, this.planMaster(master))
    for (const sub of subSkills) this.addSubSkill(sub)
  }

  errorFor(subSkill: string): string | undefined {
    return this.errors.get(subSkill) ?? (this.subSkills.has(subSkill) ? undefined : 'its sub-skill was not found')
  }

  subSkill(subSkill: string): SubSkillPlan {
    return this.subSkills.get(subSkill)!
  }

  subSkillByNumber(number: number): SubSkillPlan {
    return this.subSkillsByNumber.get(number)!
  }

  /** Returns the changes to write. New groups without skills are left out. */
  changes(inUse: ReadonlySet<SubSkillPlan>): { masters: ChangeSet<MasterPlan>; subSkills: ChangeSet<SubSkillPlan> } {
    const subSkills = [...new Set(this.subSkills.values())]
    const newSubSkills = subSkills.filter((sub) => sub.isNew && inUse.has(sub))
    const mastersInUse = new Set(
      [...newSubSkills, ...subSkills.filter((sub) => !sub.isNew)].map(({ master }) => master),
    )
    const mastersBefore = new Map(this.stored.masters.map((row) => [row.number, row]))
    const subSkillsBefore = new Map(this.stored.subSkills.map((row) => [row.number, row]))
    return {
      masters: {
        added: [...mastersInUse].filter((master) => master.isNew),
        changed: [...new Set(this.masters.values())].filter(
          ({ isNew, number, name }) => !isNew && mastersBefore.get(number!)!.name !== name,
        ),
      },
      subSkills: {
        added: newSubSkills,
        changed: subSkills.filter(({ isNew, number, name, master }) => {
          if (isNew) return false
          const before = subSkillsBefore.get(number!)!
          return before.name !== name || before.masterNumber !== master.number
        }),
      },
    }
  }

  /** If several groups have the same name, the oldest one is used. */
  private indexByName(key: string, plan: MasterPlan | SubSkillPlan): void {
    if (!this.plansByName.has(key)) this.plansByName.set(key, plan)
  }

  private planMaster({ id, name, number }: TaxonomyMaster): MasterPlan {
    const found =
      (this.matchByName && this.plansByName.get(`master ${nameKey(name)}`)) || this.plansBySourceId.get(`master ${id}`)
    if (!found) return { number, isNew: true, id, name }
    if (!this.matchByName) found.name = name
    return found
  }

  private addSubSkill({ id, name, number, master: masterId, expectedMaster }: TaxonomySubSkill): void {
    if (masterId === undefined) {
      const existing = this.subSkillsByNumber.get(number!)
      if (!existing) this.errors.set(id, `sub-skill ${subSkillId(number!)} not found`)
      else if (expectedMaster && nameKey(expectedMaster) !== nameKey(existing.master.name))
        this.errors.set(id, `${subSkillId(number!)} belongs to ${existing.master.name}, not to ${expectedMaster}`)
      else this.subSkills.set(id, existing)
      return
    }
    const master = this.masters.get(masterId)!
    const found = ((this.matchByName && this.plansByName.get(`${master.number} ${nameKey(name)}`)) ||
      this.plansBySourceId.get(`sub ${id}`)) as SubSkillPlan | undefined
    if (found && !this.matchByName) Object.assign(found, { name, master })
    this.subSkills.set(id, found ?? { number, isNew: true, id, name, master })
  }
}
