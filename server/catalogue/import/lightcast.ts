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
 * Reads Lightcast Open Skills from the JSON that its API returns: { "data": [ { "id", "name", "description", "category",
 * "subcategory", … } ] }, or only the list. Categories become master skills and subcategories become sub-skills. Skills without
 * them are assigned to "Other skills".
 */
export async function readLightcast(path: string): Promise<Taxonomy> {
  const file = basename(path)
  const items = findItems(parseJson(await readText(path), file))
  if (!items) throw new Error(`${file}: expected { "data": [ { "id": …, "name": … } ] }`)
  const masters = new Map<string, TaxonomyMaster>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'lightcast', masters: [], subSkills: [], skills: [], rejected: [] }
  items.forEach((item, index) => {
    const at = `${file}, item ${index + 1}`
    if (typeof item?.id !== 'string' || typeof item.name !== 'string') {
      taxonomy.rejected.push({
        at,
        row: stringOrEmpty(item?.name) || stringOrEmpty(item?.id),
        reason: '"id" and "name" must be strings',
      })
      return
    }
    const master = readCategory(item.category)
    const sub = readCategory(item.subcategory)
    const subId = `${master.id}/${sub.id}`
    masters.set(master.id, master)
    subSkills.set(subId, { id: subId, name: sub.name, master: master.id })
    taxonomy.skills.push({
      id: item.id,
      name: item.name,
      description: stringOrEmpty(item.description),
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

function readCategory(category: Named | null | undefined): TaxonomyMaster {
  const name = stringOrEmpty(category?.name).trim()
  return name ? { id: String(category!.id ?? name), name } : { id: 'none', name: 'Other skills' }
}

function findItems(value: unknown): Item[] | undefined {
  const list = Array.isArray(value) ? value : (value as { data?: unknown } | null)?.data
  return Array.isArray(list) ? list : undefined
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function parseJson(json: string, file: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`)
  }
}
