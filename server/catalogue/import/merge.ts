import { skillId } from '../ids.ts'
import { distinctAliases, findNameError, MAX_ALIASES, MAX_NAME_LENGTH, nameKey, normaliseText } from '../names.ts'
import type { RejectedRow, Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import { type ChangeSet, Hierarchy, type MasterSkillPlan, type SubSkillPlan } from './hierarchy.ts'
import { type SkillPlan, SkillPlans, type SourceChanges } from './skill-plans.ts'
import type { StoredCatalogue } from './stored-catalogue.ts'

export interface MergeSummary {
  /** Skills that are new in the catalogue, or that were withdrawn with an undone import. */
  added: number
  /** Previously imported rows whose name, description, aliases, sub-skill or `verifiable` flag has changed. */
  changed: number
  /** New rows whose name already belongs to a skill: their ID and aliases were added to it. */
  merged: number
  unchanged: number
  /** Master skills and sub-skills that were created for the added skills. */
  new_master_skills: number
  new_sub_skills: number
  /** Changed skills with a new name, for the operator to check: a file that reuses IDs for different skills overwrites skills. */
  renamed: { at: string; skill_id: string; from: string; to: string }[]
  /** Rows whose name differs from the name that an operator gave the skill. The skill keeps the name of the operator. */
  kept_names: { at: string; skill_id: string; name: string; name_in_file: string }[]
  /** Rejected rows. The CLI prints this property as JSON. */
  refused: RejectedRow[]
}

/** Rows of the catalogue to write. New rows get their numbers when they are written. */
export interface CatalogueChanges {
  masters: ChangeSet<MasterSkillPlan>
  subSkills: ChangeSet<SubSkillPlan>
  skills: ChangeSet<SkillPlan>
  sources: SourceChanges
}

/**
 * Compares a taxonomy with the catalogue. A row that was imported before updates its skill, a row with the name of an existing
 * skill is merged into it, and other rows become new skills. Merging the same taxonomy again results in no changes.
 */
export function mergeTaxonomy(
  stored: StoredCatalogue,
  taxonomy: Taxonomy,
): { changes: CatalogueChanges; summary: MergeSummary } {
  const { source } = taxonomy
  const hierarchy = new Hierarchy(stored, taxonomy)
  const skillPlans = new SkillPlans(stored, hierarchy)
  const summary: MergeSummary = {
    added: 0,
    changed: 0,
    merged: 0,
    unchanged: 0,
    new_master_skills: 0,
    new_sub_skills: 0,
    renamed: [],
    kept_names: [],
    refused: [...taxonomy.rejected],
  }
  const firstLocationsById = new Map<string, string>()

  for (const skill of taxonomy.skills) {
    const row = { ...skill, name: normaliseText(skill.name), description: normaliseText(skill.description) }
    const reject = (reason: string) => summary.refused.push({ at: row.location, row: row.name || row.id, reason })
    const error = findRowError(row) ?? hierarchy.errorFor(row.subSkill)
    const firstLocation = firstLocationsById.get(row.id)
    if (error || firstLocation) {
      reject(error ?? `duplicate ID ${row.id}, first used at ${firstLocation}`)
      continue
    }
    firstLocationsById.set(row.id, row.location)
    row.aliases = distinctAliases(row.name, row.aliases.filter(isUsableAlias))
    const sourcePlan = skillPlans.findSource(source, row.id)
    if (sourcePlan) {
      const nameBefore = sourcePlan.skill.name
      const { changed, conflictingSkill } = skillPlans.update(sourcePlan, row)
      if (conflictingSkill)
        reject(
          `${skillId(conflictingSkill.number!)} already has this name; the skill keeps its old name, ${nameBefore}`,
        )
      else summary[changed ? 'changed' : 'unchanged']++
      const { number, name: newName, edits } = sourcePlan.skill
      if (nameKey(nameBefore) !== nameKey(newName))
        summary.renamed.push({ at: row.location, skill_id: skillId(number!), from: nameBefore, to: newName })
      if (sourcePlan.owner && edits.name !== null && nameKey(row.name) !== nameKey(newName))
        summary.kept_names.push({ at: row.location, skill_id: skillId(number!), name: newName, name_in_file: row.name })
    } else summary[skillPlans.add(source, row)]++
  }
  summary.refused.sort(compareLocations)
  const skillChanges = skillPlans.changes(source)
  const hierarchyChanges = hierarchy.changes(skillPlans.subSkillsInUse())
  summary.new_master_skills = hierarchyChanges.masters.added.length
  summary.new_sub_skills = hierarchyChanges.subSkills.added.length
  return { changes: { ...hierarchyChanges, ...skillChanges }, summary }
}

/** Compares two rejected rows by file and line. */
function compareLocations(a: RejectedRow, b: RejectedRow): number {
  const [fileA, fileB] = [a.at, b.at].map((at) => at.replace(/:\d+$/, '')) as [string, string]
  const lineNumber = ({ at }: RejectedRow) => Number(/:(\d+)$/.exec(at)?.[1] ?? 0)
  return fileA === fileB ? lineNumber(a) - lineNumber(b) : fileA < fileB ? -1 : 1
}

const MAX_ID_LENGTH = 500
const MAX_DESCRIPTION_LENGTH = 4000

function findRowError({ id, name, description, aliases }: TaxonomySkill): string | undefined {
  if (!id) return 'the ID is missing'
  if (id.length > MAX_ID_LENGTH) return `the ID is longer than ${MAX_ID_LENGTH} characters`
  const nameError = findNameError(name)
  if (nameError) return nameError
  if ([...description].length > MAX_DESCRIPTION_LENGTH)
    return `the description is longer than ${MAX_DESCRIPTION_LENGTH} characters`
  if (aliases.length > MAX_ALIASES) return `it has ${aliases.length} aliases; the maximum is ${MAX_ALIASES}`
  if (![id, name, description].every(isStorable)) return 'it contains characters that cannot be stored'
  return undefined
}

function isUsableAlias(text: string): boolean {
  return isStorable(text) && text.length <= MAX_NAME_LENGTH
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
