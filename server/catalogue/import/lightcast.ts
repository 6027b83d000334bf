import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'

interface Named {
  id?: unknown
  name?: unknown
}

interface Item extends Named {
  description?: unknown
  category?: Named | null
  subcategory?: Named | null
}

/**
 * Lightcast Open Skills, from the JSON that its API answers: { "data": [ { "id", "name", "description", "category",
 * "subcategory", … } ] }, or the list alone. Categories become master skills, subcategories sub-skills; skills that have none
 * go to "Other skills".
 */
export async function readLightcast(path: string): Promise<Taxonomy> {
  const file = basename(path)
  const items = itemsOf(parseJson(await readText(path), file))
  if (!items) throw new Error(`${file}: expected { "data": [ { "id": …, "name": … } ] }`)
  const masters = new Map<string, TaxonomyMaster>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'lightcast', masters: [], subSkills: [], skills: [], refused: [] }
  items.forEach((item, index) => {
    const at = `${file}, item ${index + 1}`
    if (typeof item?.id !== 'string' || typeof item.name !== 'string') {
      taxonomy.refused.push({
        at,
        row: text(item?.name) || text(item?.id),
        reason: 'expected the texts "id" and "name"',
      })
      return
    }
    const master = placeOf(item.category)
    const sub = placeOf(item.subcategory)
    const subId = `${master.id}/${sub.id}`
    masters.set(master.id, master)
    subSkills.set(subId, { id: subId, name: sub.name, master: master.id })
    taxonomy.skills.push({
      id: item.id,
      name: item.name,
      description: text(item.description),
      aliases: [],
      subSkill: subId,
      verifiable: false,
      at,
    })
  })
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

function placeOf(place: Named | null | undefined): TaxonomyMaster {
  const name = text(place?.name).trim()
  return name ? { id: String(place!.id ?? name), name } : { id: 'none', name: 'Other skills' }
}

function itemsOf(value: unknown): Item[] | undefined {
  const list = Array.isArray(value) ? value : (value as { data?: unknown } | null)?.data
  return Array.isArray(list) ? list : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

async function readText(path: string): Promise<string> {
  const read = await readFile(path, 'utf8')
  return read.startsWith('\uFEFF') ? read.slice(1) : read
}

function parseJson(json: string, file: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`)
  }
}
