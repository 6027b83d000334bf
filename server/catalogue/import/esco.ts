import { normaliseText } from '../names.ts'
import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'
import { CSV, type DelimitedRow, readRows } from './delimited.ts'
import { findFiles } from './find-files.ts'

/**
 * Reads ESCO from the folder of its CSV download. Groups have up to four levels, and a skill can have several parents, including
 * other skills. Level 1 groups become master skills and level 2 groups become sub-skills. A skill is assigned to the closest group
 * above it. If several groups are equally close, the one with the lowest code is used.
 */
export async function readEsco(folder: string): Promise<Taxonomy> {
  const files = await findFiles(folder, 'the folder of the ESCO CSV download', {
    'skills_en.csv': /^skills_\w+\.csv$/,
    'skillsHierarchy_en.csv': /^skillsHierarchy(_\w+)?\.csv$/,
    'broaderRelationsSkillPillar_en.csv': /^broaderRelationsSkillPillar(_\w+)?\.csv$/,
  })
  const groups = await readGroups(files['skillsHierarchy_en.csv'])
  const broader = await readBroader(files['broaderRelationsSkillPillar_en.csv'])
  const rows = await readRows(files['skills_en.csv'], CSV, ['conceptUri', 'preferredLabel', 'altLabels', 'description'])

  const masters = new Map<string, TaxonomyMaster>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'esco', masters: [], subSkills: [], skills: [], rejected: [] }
  for (const row of rows) {
    const id = row.cell('conceptUri')
    const name = row.cell('preferredLabel')
    const status = row.cell('status')
    if (status && status !== 'released') {
      taxonomy.rejected.push({ at: row.at, row: name || id, reason: `its ESCO status is ${status}, not released` })
      continue
    }
    const { master, sub } = nearestGroup(id, groups, broader) ?? UNGROUPED
    masters.set(master.uri, { id: master.uri, name: master.name })
    subSkills.set(sub.uri, { id: sub.uri, name: sub.name, master: master.uri })
    taxonomy.skills.push({
      id,
      name,
      description: row.cell('description') || row.cell('definition'),
      aliases: [...lines(row.cell('altLabels')), ...lines(row.cell('hiddenLabels'))],
      subSkill: sub.uri,
      verifiable: false,
      at: row.at,
    })
  }
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

interface Group {
  code: string
  master: Level
  sub: Level
}

interface Level {
  uri: string
  name: string
}

const OTHER: Level = { uri: 'ungrouped', name: 'other skills' }
const UNGROUPED: Group = { code: '', master: OTHER, sub: OTHER }

/** Reads every group with its level 1 and level 2. A group at level 0 or 1 is its own sub-skill. */
async function readGroups(path: string): Promise<Map<string, Group>> {
  const groups = new Map<string, Group>()
  for (const row of await readRows(path, CSV, ['Level 0 URI', 'Level 1 URI', 'Level 2 URI', 'Level 3 URI'])) {
    const levels = [0, 1, 2, 3].map((level) => readLevel(row, level)).filter(({ uri }) => uri)
    const own = levels.at(-1)
    if (!own) continue
    const group = { code: own.code, master: levels[1] ?? levels[0]!, sub: levels[2] ?? own }
    const other = groups.get(own.uri)
    if (!other || comesBefore(group, other)) groups.set(own.uri, group)
  }
  return groups
}

function readLevel(row: DelimitedRow, level: number): Level & { code: string } {
  const uri = row.cell(`Level ${level} URI`)
  return {
    uri,
    name: normaliseText(row.cell(`Level ${level} preferred term`)),
    code: row.cell(`Level ${level} code`) || uri,
  }
}

async function readBroader(path: string): Promise<Map<string, string[]>> {
  const broader = new Map<string, string[]>()
  for (const row of await readRows(path, CSV, ['conceptUri', 'broaderUri'])) {
    const parents = broader.get(row.cell('conceptUri'))
    if (parents) parents.push(row.cell('broaderUri'))
    else broader.set(row.cell('conceptUri'), [row.cell('broaderUri')])
  }
  return broader
}

function nearestGroup(uri: string, groups: Map<string, Group>, broader: Map<string, string[]>): Group | undefined {
  const seen = new Set([uri])
  for (let children = [uri]; children.length > 0; ) {
    const parents = children.flatMap((child) => broader.get(child) ?? []).filter((parent) => !seen.has(parent))
    let nearest: Group | undefined
    for (const parent of parents) {
      seen.add(parent)
      const group = groups.get(parent)
      if (group && (!nearest || comesBefore(group, nearest))) nearest = group
    }
    if (nearest) return nearest
    children = [...new Set(parents)]
  }
  return undefined
}

function comesBefore(a: Group, b: Group): boolean {
  return a.code < b.code || (a.code === b.code && a.sub.uri < b.sub.uri)
}

function lines(cell: string): string[] {
  return cell.split(/[\r\n]+/)
}
