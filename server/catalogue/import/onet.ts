import type { Taxonomy, TaxonomyMasterSkill, TaxonomySubSkill } from '../taxonomy.ts'
import { readRows, TAB_SEPARATED } from './delimited.ts'
import { findFiles } from './find-files.ts'

/**
 * Reads O*NET from the folder of its text download. It has two kinds of skills:
 * - Technologies and tools, in the UNSPSC hierarchy. The segment becomes the master skill, the class the sub-skill, and the commodity's
 *   title the description. Technologies and tools have no IDs, so their names are used as IDs. If one is listed under several
 *   commodities, the commodity with the most occupations is used, and in case of a tie the one with the lowest code.
 * - Detailed work activities, in the content model. "4.A.2" becomes the master skill, and the generalised work activity "4.A.2.b.3"
 *   the sub-skill.
 */
export async function readOnet(folder: string): Promise<Taxonomy> {
  const files = await findFiles(folder, 'the folder of the O*NET text download', {
    'Technology Skills.txt': /^Technology Skills\.txt$/i,
    'Tools Used.txt': /^Tools Used\.txt$/i,
    'UNSPSC Reference.txt': /^UNSPSC Reference\.txt$/i,
    'DWA Reference.txt': /^DWA Reference\.txt$/i,
    'Content Model Reference.txt': /^Content Model Reference\.txt$/i,
  })
  const reader = new OnetReader()
  await reader.readCommodities(files['UNSPSC Reference.txt'])
  await reader.readExamples('technology', files['Technology Skills.txt'])
  await reader.readExamples('tool', files['Tools Used.txt'])
  await reader.readActivities(files['DWA Reference.txt'], files['Content Model Reference.txt'])
  return reader.taxonomy()
}

interface Commodity {
  title: string
  classCode: string
}

class OnetReader {
  private readonly masters = new Map<string, TaxonomyMasterSkill>()
  private readonly subSkills = new Map<string, TaxonomySubSkill>()
  private readonly commodities = new Map<string, Commodity>()
  private readonly result: Taxonomy = { source: 'onet', masters: [], subSkills: [], skills: [], rejected: [] }

  taxonomy(): Taxonomy {
    return { ...this.result, masters: [...this.masters.values()], subSkills: [...this.subSkills.values()] }
  }

  async readCommodities(path: string): Promise<void> {
    const columns = ['Commodity Code', 'Commodity Title', 'Class Code', 'Class Title', 'Segment Code', 'Segment Title']
    for (const row of await readRows(path, TAB_SEPARATED, columns)) {
      const classCode = row.cell('Class Code')
      const master = this.addMaster(row.cell('Segment Code'), row.cell('Segment Title'))
      this.subSkills.set(classCode, { id: classCode, name: row.cell('Class Title'), master })
      this.commodities.set(row.cell('Commodity Code'), { title: row.cell('Commodity Title'), classCode })
    }
  }

  /** Reads technologies or tools, which O*NET calls examples of a commodity. */
  async readExamples(kind: 'technology' | 'tool', path: string): Promise<void> {
    const examples = new Map<
      string,
      { location: string; occupationCounts: Map<string, number>; commodityTitles: Map<string, string> }
    >()
    for (const row of await readRows(path, TAB_SEPARATED, ['Example', 'Commodity Code', 'Commodity Title'])) {
      const name = row.cell('Example')
      const code = row.cell('Commodity Code')
      const example = examples.get(name) ?? {
        location: row.location,
        occupationCounts: new Map(),
        commodityTitles: new Map(),
      }
      examples.set(name, example)
      example.occupationCounts.set(code, (example.occupationCounts.get(code) ?? 0) + 1)
      example.commodityTitles.set(code, row.cell('Commodity Title'))
    }
    for (const [name, { location, occupationCounts, commodityTitles }] of examples) {
      const [code] = [...occupationCounts].sort(
        ([codeA, countA], [codeB, countB]) => countB - countA || (codeA < codeB ? -1 : 1),
      )[0]!
      const commodity = this.commodities.get(code)
      if (!commodity) {
        this.result.rejected.push({
          at: location,
          row: name,
          reason: `commodity code ${code || '(none)'} is not in UNSPSC Reference.txt`,
        })
        continue
      }
      this.result.skills.push({
        id: `${kind}:${name}`,
        name,
        description: commodity.title || commodityTitles.get(code)!,
        aliases: [],
        subSkill: commodity.classCode,
        verifiable: false,
        location,
      })
    }
  }

  async readActivities(path: string, contentModelPath: string): Promise<void> {
    const elementNames = new Map<string, string>()
    for (const row of await readRows(contentModelPath, TAB_SEPARATED, ['Element ID', 'Element Name']))
      elementNames.set(row.cell('Element ID'), row.cell('Element Name'))
    for (const row of await readRows(path, TAB_SEPARATED, ['Element ID', 'DWA ID', 'DWA Title'])) {
      const elementId = row.cell('Element ID')
      const masterId = elementId.split('.').slice(0, 3).join('.')
      // Titles of work activities end with a full stop, names of skills do not.
      const name = row.cell('DWA Title').replace(/\.$/, '')
      if (!elementNames.has(elementId) || !elementNames.has(masterId)) {
        this.result.rejected.push({
          at: row.location,
          row: name,
          reason: `element ID ${elementId || '(none)'} is not in Content Model Reference.txt`,
        })
        continue
      }
      const master = this.addMaster(masterId, elementNames.get(masterId)!)
      this.subSkills.set(elementId, { id: elementId, name: elementNames.get(elementId)!, master })
      this.result.skills.push({
        id: row.cell('DWA ID'),
        name,
        description: '',
        aliases: [],
        subSkill: elementId,
        verifiable: false,
        location: row.location,
      })
    }
  }

  /** Adds a master skill, unless it exists, and returns its ID. */
  private addMaster(id: string, name: string): string {
    if (!this.masters.has(id)) this.masters.set(id, { id, name })
    return id
  }
}
