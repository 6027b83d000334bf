import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Taxonomy, TaxonomyMasterSkill, TaxonomySubSkill } from '../taxonomy.ts'

interface NamedObject {
  id?: unknown
  name?: unknown
}

interface LightcastSkill extends NamedObject {
  description?: unknown
  category?: NamedObject | null
  subcategory?: NamedObject | null
}

/**
 * Reads Lightcast Open Skills from the JSON that its API returns: { "data": [ { "id", "name", "description", "category",
 * "subcategory", … } ] }, or only the list. Categories become master skills and subcategories become sub-skills. Skills without
 * them are assigned to "Other skills".
 */
export async function readLightcast(path: string): Promise<Taxonomy> {
  const fileName = basename(path)
  const lightcastSkills = findSkills(parseJson(await readText(path), fileName))
  if (!lightcastSkills) throw new Error(`${fileName}: expected { "data": [ { "id": …, "name": … } ] }`)
  const masters = new Map<string, TaxonomyMasterSkill>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'lightcast', masters: [], subSkills: [], skills: [], rejected: [] }
  lightcastSkills.forEach((skill, index) => {
    const location = `${fileName}, item ${index + 1}`
    if (typeof skill?.id !== 'string' || typeof skill.name !== 'string') {
      taxonomy.rejected.push({
        at: location,
        row: stringOrEmpty(skill?.name) || stringOrEmpty(skill?.id),
        reason: '"id" and "name" must be strings',
      })
      return
    }
    const category = readCategory(skill.category)
    const subcategory = readCategory(skill.subcategory)
    const subSkillId = `${category.id}/${subcategory.id}`
    masters.set(category.id, category)
    subSkills.set(subSkillId, { id: subSkillId, name: subcategory.name, master: category.id })
    taxonomy.skills.push({
      id: skill.id,
      name: skill.name,
      description: stringOrEmpty(skill.description),
      aliases: [],
      subSkill: subSkillId,
      verifiable: false,
      location,
    })
  })
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

function readCategory(category: NamedObject | null | undefined): TaxonomyMasterSkill {
  const name = stringOrEmpty(category?.name).trim()
  return name ? { id: String(category!.id ?? name), name } : { id: 'none', name: 'Other skills' }
}

function findSkills(value: unknown): LightcastSkill[] | undefined {
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

function parseJson(json: string, fileName: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new Error(`${fileName} is not valid JSON: ${(error as Error).message}`)
  }
}
