import { skillId } from '../ids.ts'
import { distinctAliases, nameKey, normaliseText } from '../names.ts'
import type { RejectedRow, Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import { type ChangeSet, Hierarchy, type MasterPlan, type SubSkillPlan } from './hierarchy.ts'
import { type SkillPlan, SkillPlans, type SourcePlan } from './skill-plans.ts'
import type { StoredCatalogue } from './stored-catalogue.ts'

export interface MergeSummary {
  /** Skills that are new in the catalogue. */
  added: number
  /** Previously imported rows whose name, description, aliases, sub-skill or `verifiable` flag has changed. */
  changed: number
  /** New rows whose name already belongs to a skill: their ID and aliases were added to it. */
  merged: number
  unchanged: number
  /** Groups that were created for the added skills. */
  new_master_skills: number
  new_sub_skills: number
  /** Changed skills with a new name. If a list reuses IDs for different skills, skills would be overwritten. */
  renamed: { at: string; skill_id: string; from: string; to: string }[]
  /** Rejected rows. The CLI prints this property as JSON. */
  refused: RejectedRow[]
}

/** Rows to write. New rows get their numbers when they are written. */
export interface CatalogueChanges {
  masters: ChangeSet<MasterPlan>
  subSkills: ChangeSet<SubSkillPlan>
  skills: ChangeSet<SkillPlan>
  sources: ChangeSet<SourcePlan>
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
  const skills = new SkillPlans(stored, hierarchy)
  const summary: MergeSummary = {
    added: 0,
    changed: 0,
    merged: 0,
    unchanged: 0,
    new_master_skills: 0,
    new_sub_skills: 0,
    renamed: [],
    refused: [...taxonomy.rejected],
  }
  const firstLocations = new Map<string, string>()

  for (const skill of taxonomy.skills) {
    const row = { ...skill, name: normaliseText(skill.name), description: normaliseText(skill.description) }
    const reject = (reason: string) => summary.refused.push({ at: row.at, row: row.name || row.id, reason })
    const error = findRowError(row) ?? hierarchy.errorFor(row.subSkill)
    const first = firstLocations.get(row.id)
    if (error || first) {
      reject(error ?? `duplicate ID ${row.id}, first used at ${first}`)
      continue
    }
    firstLocations.set(row.id, row.at)
    row.aliases = distinctAliases(row.name, row.aliases.filter(isAlias))
    const known = skills.find(source, row.id)
    if (known) {
      const from = known.skill.name
      const { changed, clash } = skills.update(known, row)
      if (clash) reject(`${skillId(clash.number!)} already has this name; the skill keeps its old name, ${from}`)
      else summary[changed ? 'changed' : 'unchanged']++
      const { number, name: to } = known.skill
      if (nameKey(from) !== nameKey(to)) summary.renamed.push({ at: row.at, skill_id: skillId(number!), from, to })
    } else summary[skills.add(source, row)]++
  }
  summary.refused.sort(byLocation)
  const skillChanges = skills.changes()
  const hierarchyChanges = hierarchy.changes(skills.subSkillsInUse())
  summary.new_master_skills = hierarchyChanges.masters.added.length
  summary.new_sub_skills = hierarchyChanges.subSkills.added.length
  return { changes: { ...hierarchyChanges, ...skillChanges }, summary }
}

/** Sorts rejected rows by file and line. */
function byLocation(a: RejectedRow, b: RejectedRow): number {
  const [fileA, fileB] = [a.at, b.at].map((at) => at.replace(/:\d+$/, '')) as [string, string]
  const line = ({ at }: RejectedRow) => Number(/:(\d+)$/.exec(at)?.[1] ?? 0)
  return fileA === fileB ? line(a) - line(b) : fileA < fileB ? -1 : 1
}

const MAX_ID_LENGTH = 500
const MAX_NAME_LENGTH = 200
/** The ESCO maximum is 78. Thousands of aliases are a mistake in the file, and would slow down every search. */
const MAX_ALIASES = 200
const MAX_DESCRIPTION_LENGTH = 4000

function findRowError({ id, name, description, aliases }: TaxonomySkill): string | undefined {
  if (!id) return 'the ID is missing'
  if (id.length > MAX_ID_LENGTH) return `the ID is longer than ${MAX_ID_LENGTH} characters`
  if (!nameKey(name)) return 'the name is missing'
  if (!/[\p{L}\p{N}]/u.test(name)) return 'the name contains no letters or digits'
  if ([...name].length > MAX_NAME_LENGTH) return `the name is longer than ${MAX_NAME_LENGTH} characters`
  if ([...description].length > MAX_DESCRIPTION_LENGTH)
    return `the description is longer than ${MAX_DESCRIPTION_LENGTH} characters`
  if (aliases.length > MAX_ALIASES) return `it has ${aliases.length} aliases; the maximum is ${MAX_ALIASES}`
  if (![id, name, description].every(isStorable)) return 'it contains characters that cannot be stored'
  return undefined
}

function isAlias(text: string): boolean {
  return isStorable(text) && text.length <= MAX_NAME_LENGTH
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
