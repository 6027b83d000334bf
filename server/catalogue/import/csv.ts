import { subSkillNumber } from '../ids.ts'
import { nameKey, normaliseText } from '../names.ts'
import type { Taxonomy, TaxonomyMasterSkill, TaxonomySubSkill } from '../taxonomy.ts'
import { CSV, type DelimitedRow, readRows } from './delimited.ts'

/**
 * Reads the operator's own skill list from a CSV file with the columns id, name, sub_skill, master_skill and, optionally,
 * description, aliases (separated by semicolons) and verifiable. Existing master skills and sub-skills are matched by
 * name, sub-skills also by ID (`ss_N`); missing ones are created.
 */
export async function readCsv(path: string): Promise<Taxonomy> {
  const masters = new Map<string, TaxonomyMasterSkill>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'csv', masters: [], subSkills: [], skills: [], rejected: [] }
  for (const row of await readRows(path, CSV, ['id', 'name', 'sub_skill'], OPTIONAL_COLUMNS)) {
    const reject = (reason: string) =>
      taxonomy.rejected.push({ at: row.location, row: row.cell('name') || row.cell('id'), reason })
    const verifiable = VERIFIABLE_VALUES.get(row.cell('verifiable').toLowerCase())
    const hierarchy = readHierarchy(row)
    if (row.hasExtraCells)
      reject('the row has more cells than the header; put cells that contain commas in quotation marks')
    else if (verifiable === undefined) reject(`verifiable must be true or false; got ${row.cell('verifiable')}`)
    else if (isMisplacedId(row.cell('sub_skill')) || isMisplacedId(row.cell('master_skill')))
      reject('sub_skill must be a name or a sub-skill ID (ss_N), and master_skill must be a name')
    else if (!hierarchy)
      reject('sub_skill and master_skill are required, unless sub_skill is the ID of an existing sub-skill (ss_N)')
    else {
      if (hierarchy.master && !masters.has(hierarchy.master.id)) masters.set(hierarchy.master.id, hierarchy.master)
      if (!subSkills.has(hierarchy.sub.id)) subSkills.set(hierarchy.sub.id, hierarchy.sub)
      taxonomy.skills.push({
        id: row.cell('id'),
        name: row.cell('name'),
        description: row.cell('description'),
        aliases: row.cell('aliases').split(';'),
        subSkill: hierarchy.sub.id,
        verifiable,
        location: row.location,
      })
    }
  }
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

const OPTIONAL_COLUMNS = ['master_skill', 'description', 'aliases', 'verifiable']

/** Whether the text is the ID of a skill or master skill, which neither column accepts. */
function isMisplacedId(text: string): boolean {
  return /^\s*(sk|ms)_\d+\s*$/i.test(text)
}

const VERIFIABLE_VALUES = new Map([
  ['', false],
  ...['true', 'yes', '1', 'v'].map((text) => [text, true] as const),
  ...['false', 'no', '0', '-'].map((text) => [text, false] as const),
])

function readHierarchy(row: DelimitedRow): { master?: TaxonomyMasterSkill; sub: TaxonomySubSkill } | undefined {
  const subSkillText = normaliseText(row.cell('sub_skill'))
  const subNumber = subSkillNumber(subSkillText)
  const masterName = normaliseText(row.cell('master_skill'))
  if (subNumber !== undefined)
    return {
      sub: {
        id: masterName ? `${subSkillText} in ${nameKey(masterName)}` : subSkillText,
        name: subSkillText,
        number: subNumber,
        expectedMaster: masterName,
      },
    }
  if (!subSkillText || !masterName) return undefined
  const masterId = nameKey(masterName)
  return {
    master: { id: masterId, name: masterName },
    sub: { id: `${masterId}/${nameKey(subSkillText)}`, name: subSkillText, master: masterId },
  }
}
