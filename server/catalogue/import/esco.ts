import { normaliseText } from '../names.ts'
import type { Taxonomy, TaxonomyMasterSkill, TaxonomySubSkill } from '../taxonomy.ts'
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
  const parentsByUri = await readParents(files['broaderRelationsSkillPillar_en.csv'])
  const rows = await readRows(files['skills_en.csv'], CSV, ['conceptUri', 'preferredLabel', 'altLabels', 'description'])

  const masters = new Map<string, TaxonomyMasterSkill>()
  const subSkills = new Map<string, TaxonomySubSkill>()
  const taxonomy: Taxonomy = { source: 'esco', masters: [], subSkills: [], skills: [], rejected: [] }
  for (const row of rows) {
    const id = row.cell('conceptUri')
    const name = row.cell('preferredLabel')
    const status = row.cell('status')
    if (status && status !== 'released') {
      taxonomy.rejected.push({
        at: row.location,
        row: name || id,
        reason: `its ESCO status is ${status}, not released`,
      })
      continue
    }
    const { master, sub } = nearestGroup(id, groups, parentsByUri) ?? UNGROUPED
    masters.set(master.uri, { id: master.uri, name: master.name })
    subSkills.set(sub.uri, { id: sub.uri, name: sub.name, master: master.uri })
    taxonomy.skills.push({
      id,
      name,
      description: row.cell('description') || row.cell('definition'),
      aliases: [...splitLines(row.cell('altLabels')), ...splitLines(row.cell('hiddenLabels'))],
      subSkill: sub.uri,
      verifiable: false,
      location: row.location,
    })
  }
  taxonomy.masters = [...masters.values()]
  taxonomy.subSkills = [...subSkills.values()]
  return taxonomy
}

interface Group {
  code: string
  master: GroupLevel
  sub: GroupLevel
}

interface GroupLevel {
  uri: string
  name: string
}

const OTHER_SKILLS: GroupLevel = { uri: 'ungrouped', name: 'other skills' }
const UNGROUPED: Group = { code: '', master: OTHER_SKILLS, sub: OTHER_SKILLS }

/** Reads all groups by URI, each with its groups at level 1 (master skill) and level 2 (sub-skill). A group at level 0 or 1 is its own sub-skill. */
async function readGroups(path: string): Promise<Map<string, Group>> {
  const groups = new Map<string, Group>()
  for (const row of await readRows(path, CSV, ['Level 0 URI', 'Level 1 URI', 'Level 2 URI', 'Level 3 URI'])) {
    const levels = [0, 1, 2, 3].map((level) => readLevel(row, level)).filter(({ uri }) => uri)
    const lowestLevel = levels.at(-1)
    if (!lowestLevel) continue
    const group = { code: lowestLevel.code, master: levels[1] ?? levels[0]!, sub: levels[2] ?? lowestLevel }
    const existing = groups.get(lowestLevel.uri)
    if (!existing || comesBefore(group, existing)) groups.set(lowestLevel.uri, group)
  }
  return groups
}

function readLevel(row: DelimitedRow, level: number): GroupLevel & { code: string } {
  const uri = row.cell(`Level ${level} URI`)
  return {
    uri,
    name: normaliseText(row.cell(`Level ${level} preferred term`)),
    code: row.cell(`Level ${level} code`) || uri,
  }
}

async function readParents(path: string): Promise<Map<string, string[]>> {
  const parentsByUri = new Map<string, string[]>()
  for (const row of await readRows(path, CSV, ['conceptUri', 'broaderUri'])) {
    const parentUris = parentsByUri.get(row.cell('conceptUri'))
    if (parentUris) parentUris.push(row.cell('broaderUri'))
    else parentsByUri.set(row.cell('conceptUri'), [row.cell('broaderUri')])
  }
  return parentsByUri
}

function nearestGroup(uri: string, groups: Map<string, Group>, parentsByUri: Map<string, string[]>): Group | undefined {
  const seenUris = new Set([uri])
  for (let childUris = [uri]; childUris.length > 0; ) {
    const parentUris = childUris
      .flatMap((child) => parentsByUri.get(child) ?? [])
      .filter((parent) => !seenUris.has(parent))
    let nearest: Group | undefined
    for (const parent of parentUris) {
      seenUris.add(parent)
      const group = groups.get(parent)
      if (group && (!nearest || comesBefore(group, nearest))) nearest = group
    }
    if (nearest) return nearest
    childUris = [...new Set(parentUris)]
  }
  return undefined
}

function comesBefore(a: Group, b: Group): boolean {
  return a.code < b.code || (a.code === b.code && a.sub.uri < b.sub.uri)
}

function splitLines(cell: string): string[] {
  return cell.split(/[\r\n]+/)
}
