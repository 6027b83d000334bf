import { skillId } from '../ids.ts'
import { distinctAliases, nameKey, tidy } from '../names.ts'
import type { Refusal, Taxonomy, TaxonomySkill } from '../taxonomy.ts'
import type { Existing } from './existing.ts'
import { type Change, type MasterPlan, Places, type SubSkillPlan } from './places.ts'
import { type SkillPlan, Skills, type SourcePlan } from './skills.ts'

export interface MergeSummary {
  /** Skills that are new in the catalogue. */
  added: number
  /** Rows taken before whose name, description, aliases, place or flag is another now. */
  changed: number
  /** Rows taken for the first time whose name was there already: their id and aliases joined that skill. */
  merged: number
  unchanged: number
  /** Places that are made for what is added. */
  new_master_skills: number
  new_sub_skills: number
  /** Of what is changed, the skills that get another name: where a list uses ids again, one skill would become another. */
  renamed: { at: string; skill_id: string; from: string; to: string }[]
  refused: Refusal[]
}

/** What must be written; new things get their numbers then. */
export interface Changes {
  masters: Change<MasterPlan>
  subSkills: Change<SubSkillPlan>
  skills: Change<SkillPlan>
  sources: Change<SourcePlan>
}

/**
 * Holds a taxonomy against the catalogue. A row that was taken before stays with its skill; a row whose name there is
 * already joins that skill; the rest are new. The same rows again come out as nothing to do.
 */
export function merge(existing: Existing, taxonomy: Taxonomy): { changes: Changes; summary: MergeSummary } {
  const { source } = taxonomy
  const places = new Places(existing, taxonomy)
  const skills = new Skills(existing, places)
  const summary: MergeSummary = {
    added: 0,
    changed: 0,
    merged: 0,
    unchanged: 0,
    new_master_skills: 0,
    new_sub_skills: 0,
    renamed: [],
    refused: [...taxonomy.refused],
  }
  const firstAt = new Map<string, string>()

  for (const given of taxonomy.skills) {
    const row = { ...given, name: tidy(given.name), description: tidy(given.description) }
    const refuse = (reason: string) => summary.refused.push({ at: row.at, row: row.name || row.id, reason })
    const fault = faultOf(row) ?? places.faultOf(row.subSkill)
    const before = firstAt.get(row.id)
    if (fault || before) {
      refuse(fault ?? `${before} has the id ${row.id} too`)
      continue
    }
    firstAt.set(row.id, row.at)
    row.aliases = distinctAliases(row.name, row.aliases.filter(isAlias))
    const known = skills.find(source, row.id)
    if (known) {
      const from = known.skill.name
      const { changed, clash } = skills.update(known, row)
      if (clash) refuse(`${skillId(clash.number!)} has this name; the skill keeps the name ${from}`)
      else summary[changed ? 'changed' : 'unchanged']++
      const { number, name: to } = known.skill
      if (nameKey(from) !== nameKey(to)) summary.renamed.push({ at: row.at, skill_id: skillId(number!), from, to })
    } else summary[skills.add(source, row)]++
  }
  summary.refused.sort(byLine)
  const written = skills.changes()
  const made = places.changes(skills.subSkillsInUse())
  summary.new_master_skills = made.masters.added.length
  summary.new_sub_skills = made.subSkills.added.length
  return { changes: { ...made, ...written }, summary }
}

/** As they stand in the files; what readers and this page refuse comes together. */
function byLine(a: Refusal, b: Refusal): number {
  const [fileA, fileB] = [a.at, b.at].map((at) => at.replace(/:\d+$/, '')) as [string, string]
  const line = ({ at }: Refusal) => Number(/:(\d+)$/.exec(at)?.[1] ?? 0)
  return fileA === fileB ? line(a) - line(b) : fileA < fileB ? -1 : 1
}

const LONGEST_ID = 500
const LONGEST_NAME = 200
/** ESCO's richest skill has 78; a cell with thousands is a mistake, and would be searched at every call. */
const MOST_ALIASES = 200
const LONGEST_DESCRIPTION = 4000

function faultOf({ id, name, description, aliases }: TaxonomySkill): string | undefined {
  if (!id) return 'it has no id'
  if (id.length > LONGEST_ID) return `the id is longer than ${LONGEST_ID} characters`
  if (!nameKey(name)) return 'it has no name'
  if (!/[\p{L}\p{N}]/u.test(name)) return 'the name has no letter or digit'
  if ([...name].length > LONGEST_NAME) return `the name is longer than ${LONGEST_NAME} characters`
  if ([...description].length > LONGEST_DESCRIPTION)
    return `the description is longer than ${LONGEST_DESCRIPTION} characters`
  if (aliases.length > MOST_ALIASES) return `it has ${aliases.length} aliases; at most ${MOST_ALIASES} are taken`
  if (![id, name, description].every(isStorable)) return 'it holds characters that cannot be stored'
  return undefined
}

function isAlias(text: string): boolean {
  return isStorable(text) && text.length <= LONGEST_NAME
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
