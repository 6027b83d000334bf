import { subSkillNumber } from '../ids.ts'
import { nameKey, tidy } from '../names.ts'
import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'
import { CSV, type Row, readRows } from './delimited.ts'

/**
 * A catalogue of the operator's own, in a CSV file with the columns id, name, sub_skill, master_skill and, as wanted,
 * description, aliases (separated by semicolons) and verifiable. A place is found by its name, or as `ss_N`, among
 * those that exist, and made where there is none.
 */
export async function readOwnCsv(path: string): Promise<Taxonomy> {
  const masters = new Map<string, TaxonomyMaster>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'csv', masters: [], subSkills: [], skills: [], refused: [] }
  for (const row of await readRows(path, CSV, ['id', 'name', 'sub_skill'], OPTIONAL)) {
    const refuse = (reason: string) =>
      taxonomy.refused.push({ at: row.at, row: row.cell('name') || row.cell('id'), reason })
    const verifiable = FLAGS.get(row.cell('verifiable').toLowerCase())
    const place = placeOf(row)
    if (row.tooLong) refuse('it has more cells than the first line has columns; quote cells that hold commas')
    else if (verifiable === undefined) refuse(`verifiable is ${row.cell('verifiable')}; expected true or false`)
    else if (isOtherId(row.cell('sub_skill')) || isOtherId(row.cell('master_skill')))
      refuse('sub_skill takes a name or the id of a sub-skill (ss_N), master_skill takes a name')
    else if (!place) refuse('it needs a sub_skill and a master_skill, or an existing ss_N as its sub_skill')
    else {
      if (place.master && !masters.has(place.master.id)) masters.set(place.master.id, place.master)
      if (!subSkills.has(place.sub.id)) subSkills.set(place.sub.id, place.sub)
      taxonomy.skills.push({
        id: row.cell('id'),
        name: row.cell('name'),
        description: row.cell('description'),
        aliases: row.cell('aliases').split(';'),
        subSkill: place.sub.id,
        verifiable,
        at: row.at,
      })
    }
  }
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

const OPTIONAL = ['master_skill', 'description', 'aliases', 'verifiable']

/** The id of something else than a sub-skill: nobody calls a place so. */
function isOtherId(text: string): boolean {
  return /^\s*(sk|ms)_\d+\s*$/i.test(text)
}

const FLAGS = new Map([
  ['', false],
  ...['true', 'yes', '1', 'v'].map((text) => [text, true] as const),
  ...['false', 'no', '0', '-'].map((text) => [text, false] as const),
])

function placeOf(row: Row): { master?: TaxonomyMaster; sub: TaxonomySubSkill } | undefined {
  const sub = tidy(row.cell('sub_skill'))
  const number = subSkillNumber(sub)
  const name = tidy(row.cell('master_skill'))
  if (number !== undefined)
    return { sub: { id: name ? `${sub} in ${nameKey(name)}` : sub, name: sub, number, within: name } }
  if (!sub || !name) return undefined
  const id = nameKey(name)
  return { master: { id, name }, sub: { id: `${id}/${nameKey(sub)}`, name: sub, master: id } }
}
