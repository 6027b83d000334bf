import { subSkillId } from '../ids.ts'
import { nameKey } from '../names.ts'
import type { Taxonomy, TaxonomyMasterSkill, TaxonomySubSkill } from '../taxonomy.ts'
import type { StoredCatalogue } from './stored-catalogue.ts'

/** A master skill after the import: a stored one with its changes, or a new one. */
export interface MasterSkillPlan {
  /** Number of the row; undefined for a new row until it is written. */
  number: number | undefined
  isNew: boolean
  id: string
  name: string
}

export interface SubSkillPlan extends MasterSkillPlan {
  master: MasterSkillPlan
}

export interface ChangeSet<T> {
  added: T[]
  changed: T[]
}

/**
 * The master skills and sub-skills of a taxonomy. They are matched by ID with stored ones of the same source. The operator's CSV
 * contains only their names, so its master skills and sub-skills are matched by name with stored ones of any source.
 */
export class Hierarchy {
  private readonly stored: StoredCatalogue
  private readonly matchByName: boolean
  private readonly plansBySourceId = new Map<string, MasterSkillPlan | SubSkillPlan>()
  private readonly plansByName = new Map<string, MasterSkillPlan | SubSkillPlan>()
  private readonly subSkillsByNumber = new Map<number, SubSkillPlan>()
  private readonly masters = new Map<string, MasterSkillPlan>()
  private readonly subSkills = new Map<string, SubSkillPlan>()
  private readonly errorsBySourceId = new Map<string, string>()

  constructor(stored: StoredCatalogue, { source, masters, subSkills }: Taxonomy) {
    this.stored = stored
    this.matchByName = source === 'csv'
    const masterPlans = new Map<number, MasterSkillPlan>()
    for (const { number, name, sourceId, source: storedSource } of stored.masters) {
      const plan = { number, isNew: false, id: sourceId, name }
      masterPlans.set(number, plan)
      if (storedSource === source) this.plansBySourceId.set(`master ${sourceId}`, plan)
      this.indexByName(`master ${nameKey(name)}`, plan)
    }
    for (const { number, masterNumber, name, sourceId, source: storedSource } of stored.subSkills) {
      const plan = { number, isNew: false, id: sourceId, name, master: masterPlans.get(masterNumber)! }
      this.subSkillsByNumber.set(number, plan)
      if (storedSource === source) this.plansBySourceId.set(`sub ${sourceId}`, plan)
      this.indexByName(`${masterNumber} ${nameKey(name)}`, plan)
    }
    for (const master of masters) this.masters.set(master.id, this.planMaster(master))
    for (const sub of subSkills) this.addSubSkill(sub)
  }

  /** Returns why skills of this sub-skill cannot be imported; undefined if they can. */
  errorFor(sourceId: string): string | undefined {
    return (
      this.errorsBySourceId.get(sourceId) ?? (this.subSkills.has(sourceId) ? undefined : 'its sub-skill was not found')
    )
  }

  subSkill(sourceId: string): SubSkillPlan {
    return this.subSkills.get(sourceId)!
  }

  subSkillByNumber(number: number): SubSkillPlan {
    return this.subSkillsByNumber.get(number)!
  }

  /** Returns the master skills and sub-skills to write. New ones without skills are left out. */
  changes(subSkillsInUse: ReadonlySet<SubSkillPlan>): {
    masters: ChangeSet<MasterSkillPlan>
    subSkills: ChangeSet<SubSkillPlan>
  } {
    const subSkills = [...new Set(this.subSkills.values())]
    const newSubSkills = subSkills.filter((sub) => sub.isNew && subSkillsInUse.has(sub))
    const mastersInUse = new Set(
      [...newSubSkills, ...subSkills.filter((sub) => !sub.isNew)].map(({ master }) => master),
    )
    const storedMasters = new Map(this.stored.masters.map((row) => [row.number, row]))
    const storedSubSkills = new Map(this.stored.subSkills.map((row) => [row.number, row]))
    return {
      masters: {
        added: [...mastersInUse].filter((master) => master.isNew),
        changed: [...new Set(this.masters.values())].filter(
          ({ isNew, number, name }) => !isNew && storedMasters.get(number!)!.name !== name,
        ),
      },
      subSkills: {
        added: newSubSkills,
        changed: subSkills.filter(({ isNew, number, name, master }) => {
          if (isNew) return false
          const storedSubSkill = storedSubSkills.get(number!)!
          return storedSubSkill.name !== name || storedSubSkill.masterNumber !== master.number
        }),
      },
    }
  }

  /** Registers a stored master skill or sub-skill by its name. If several have the same name, the oldest one is used. */
  private indexByName(key: string, plan: MasterSkillPlan | SubSkillPlan): void {
    if (!this.plansByName.has(key)) this.plansByName.set(key, plan)
  }

  private planMaster({ id, name, number }: TaxonomyMasterSkill): MasterSkillPlan {
    const plan =
      (this.matchByName && this.plansByName.get(`master ${nameKey(name)}`)) || this.plansBySourceId.get(`master ${id}`)
    if (!plan) return { number, isNew: true, id, name }
    if (!this.matchByName) plan.name = name
    return plan
  }

  private addSubSkill({ id, name, number, master: masterId, expectedMaster }: TaxonomySubSkill): void {
    if (masterId === undefined) {
      const existing = this.subSkillsByNumber.get(number!)
      if (!existing) this.errorsBySourceId.set(id, `sub-skill ${subSkillId(number!)} not found`)
      else if (expectedMaster && nameKey(expectedMaster) !== nameKey(existing.master.name))
        this.errorsBySourceId.set(
          id,
          `${subSkillId(number!)} belongs to ${existing.master.name}, not to ${expectedMaster}`,
        )
      else this.subSkills.set(id, existing)
      return
    }
    const master = this.masters.get(masterId)!
    const plan = ((this.matchByName && this.plansByName.get(`${master.number} ${nameKey(name)}`)) ||
      this.plansBySourceId.get(`sub ${id}`)) as SubSkillPlan | undefined
    if (plan && !this.matchByName) Object.assign(plan, { name, master })
    this.subSkills.set(id, plan ?? { number, isNew: true, id, name, master })
  }
}
