import type { Taxonomy, TaxonomyMaster, TaxonomySubSkill } from '../taxonomy.ts'
import { readRows, TAB_SEPARATED } from './delimited.ts'
import { findFiles } from './find-files.ts'

/**
 * Reads O*NET from the folder of its text download. Three of its lists contain skills:
 * - Technology and tools, in the UNSPSC hierarchy: the segment becomes the master skill, the class the sub-skill, and the commodity's
 *   title the description. They have no IDs, so their names are used. An entry that is listed under several commodities is assigned to
 *   the one with the most occupations, and among several of these to the one with the lowest code.
 * - Detailed work activities, in the content model: "4.A.2" becomes the master skill, and the generalised work activity "4.A.2.b.3"
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
  private readonly masters = new Map<string, TaxonomyMaster>()
  private readonly subSkills = new Map<string, TaxonomySubSkill>()
  private readonly commodities = new Map<string, Commodity>()
  private readonly read: Taxonomy = { source: 'onet', masters: [], subSkills: [], skills: [], rejected: [] }

  taxonomy(): Taxonomy {
    return { ...this.read, masters: [...this.masters.values()], subSkills: [...this.subSkills.values()] }
  }

  async readCommodities(path: string): Promise<void> {
    const columns = ['Commodity Code', 'Commodity Title', 'Class Code', 'Class Title', 'Segment Code', 'Segment Title']
    for (const row of await readRows(path, TAB_SEPARATED, columns)) {
      const classCode = row.cell('Class Code')
      const master = this.master(row.cell('Segment Code'), row.cell('Segment Title'))
      this.subSkills.set(classCode, { id: classCode, name: row.cell('Class Title'), master })
      this.commodities.set(row.cell('Commodity Code'), { title: row.cell('Commodity Title'), classCode })
    }
  }

  async readExamples(kind: 'technology' | 'tool', path: string): Promise<void> {
    const examples = new Map<string, { at: string; counts: Map<string, number>; titles: Map<string, string> }>()
    for (const row of await readRows(path, TAB_SEPARATED, ['Example', 'Commodity Code', 'Commodity Title'])) {
      const name = row.cell('Example')
      const code = row.cell('Commodity Code')
      const example = examples.get(name) ?? { at: row.at, counts: new Map(), titles: new Map() }
      examples.set(name, example)
      example.counts.set(code, (example.counts.get(code) ?? 0) + 1)
      example.titles.set(code, row.cell('Commodity Title'))
    }
    for (const [name, { at, counts, titles }] of examples) {
      const [code] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]!
      const commodity = this.commodities.get(code)
      if (!commodity) {
        this.read.rejected.push({
          at,
          row: name,
          reason: `commodity code ${code || '(none)'} is not in UNSPSC Reference.txt`,
        })
        continue
      }
      this.read.skills.push({
        id: `${kind}:${name}`,
        name,
        description: commodity.title || titles.get(code)!,
        aliases: [],
        subSkill: commodity.classCode,
        verifiable: false,
        at,
      })
    }
  }

  async readActivities(path: string, contentModel: string): Promise<void> {
    const elements = new Map<string, string>()
    for (const row of await readRows(contentModel, TAB_SEPARATED, ['Element ID', 'Element Name']))
      elements.set(row.cell('Element ID'), row.cell('Element Name'))
    for (const row of await readRows(path, TAB_SEPARATED, ['Element ID', 'DWA ID', 'DWA Title'])) {
      const element = row.cell('Element ID')
      const branch = element.split('.').slice(0, 3).join('.')
      // Titles end with a full stop, names do not.
      const name = row.cell('DWA Title').replace(/\.$/, '')
      if (!elements.has(element) || !elements.has(branch)) {
        this.read.rejected.push({
          at: row.at,
          row: name,
          reason: `element ID ${element || '(none)'} is not in Content Model Reference.txt`,
        })
        continue
      }
      const master = this.master(branch, elements.get(branch)!)
      this.subSkills.set(element, { id: element, name: elements.get(element)!, master })
      this.read.skills.push({
        id: row.cell('DWA ID'),
        name,
        description: '',
        aliases: [],
        subSkill: element,
        verifiable: false,
        at: row.at,
      })
    }
  }

  private master(id: string, name: string): string {
    if (!this.masters.has(id)) this.masters.set(id, { id, name })
    return id
  }
}
