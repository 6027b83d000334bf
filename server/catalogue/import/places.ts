import { subSkillId } from '../ids.ts'
import { nameKey } from '../names.ts'
import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'
import type { Existing } from './existing.ts'

export interface MasterPlan {
  /** Undefined until a new one is written. */
  number: number | undefined
  isNew: boolean
  id: string
  name: string
}

export interface SubSkillPlan extends MasterPlan {
  master: MasterPlan
}

export interface Change<T> {
  added: T[]
  changed: T[]
}

/**
 * Where the rows of a taxonomy stand. Master skills and sub-skills are those of the source, known by their ids; in our own
 * CSV, which has names only, those of any source, known by their names.
 */
export class Places {
  private readonly existing: Existing
  private readonly byName: boolean
  private readonly bySourceId = new Map<string, MasterPlan | SubSkillPlan>()
  private readonly named = new Map<string, MasterPlan | SubSkillPlan>()
  private readonly numbered = new Map<number, SubSkillPlan>()
  private readonly masters = new Map<string, MasterPlan>()
  private readonly subSkills = new Map<string, SubSkillPlan>()
  private readonly faults = new Map<string, string>()

  constructor(existing: Existing, { source, masters, subSkills }: Taxonomy) {
    this.existing = existing
    this.byName = source === 'csv'
    const masterPlans = new Map<number, MasterPlan>()
    for (const { number, name, sourceId, source: from } of existing.masters) {
      const plan = { number, isNew: false, id: sourceId, name }
      masterPlans.set(number, plan)
      if (from === source) this.bySourceId.set(`master ${sourceId}`, plan)
      this.name(`master ${nameKey(name)}`, plan)
    }
    for (const { number, masterNumber, name, sourceId, source: from } of existing.subSkills) {
      const plan = { number, isNew: false, id: sourceId, name, master: masterPlans.get(masterNumber)! }
      this.numbered.set(number, plan)
      if (from === source) this.bySourceId.set(`sub ${sourceId}`, plan)
      this.name(`${masterNumber} ${nameKey(name)}`, plan)
    }
    for (const master of masters) this.masters.set(master.id, this.masterFor(master))
    for (const sub of subSkills) this.place(sub)
  }

  faultOf(subSkill: string): string | undefined {
    return this.faults.get(subSkill) ?? (this.subSkills.has(subSkill) ? undefined : 'it has no place in the hierarchy')
  }

  get(subSkill: string): SubSkillPlan {
    return this.subSkills.get(subSkill)!
  }

  withNumber(number: number): SubSkillPlan {
    return this.numbered.get(number)!
  }

  /** New ones only where a skill stands under them. */
  changes(inUse: ReadonlySet<SubSkillPlan>): { masters: Change<MasterPlan>; subSkills: Change<SubSkillPlan> } {
    const subSkills = [...new Set(this.subSkills.values())]
    const newSubSkills = subSkills.filter((sub) => sub.isNew && inUse.has(sub))
    const mastersInUse = new Set(
      [...newSubSkills, ...subSkills.filter((sub) => !sub.isNew)].map(({ master }) => master),
    )
    const mastersBefore = new Map(this.existing.masters.map((row) => [row.number, row]))
    const subSkillsBefore = new Map(this.existing.subSkills.map((row) => [row.number, row]))
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

  /** Of several with one name, the oldest. */
  private name(key: string, plan: MasterPlan | SubSkillPlan): void {
    if (!this.named.has(key)) this.named.set(key, plan)
  }

  private masterFor({ id, name, number }: TaxonomyMaster): MasterPlan {
    const found = (this.byName && this.named.get(`master ${nameKey(name)}`)) || this.bySourceId.get(`master ${id}`)
    if (!found) return { number, isNew: true, id, name }
    if (!this.byName) found.name = name
    return found
  }

  private place({ id, name, number, master: masterId, within }: TaxonomySubSkill): void {
    if (masterId === undefined) {
      const there = this.numbered.get(number!)
      if (!there) this.faults.set(id, `there is no sub-skill ${subSkillId(number!)}`)
      else if (within && nameKey(within) !== nameKey(there.master.name))
        this.faults.set(id, `${subSkillId(number!)} stands under ${there.master.name}, not under ${within}`)
      else this.subSkills.set(id, there)
      return
    }
    const master = this.masters.get(masterId)!
    const found = ((this.byName && this.named.get(`${master.number} ${nameKey(name)}`)) ||
      this.bySourceId.get(`sub ${id}`)) as SubSkillPlan | undefined
    if (found && !this.byName) Object.assign(found, { name, master })
    this.subSkills.set(id, found ?? { number, isNew: true, id, name, master })
  }
}
