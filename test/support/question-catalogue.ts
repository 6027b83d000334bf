import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from '../../server/catalogue/built-in.ts'
import type { MasterSkill, SnapshotSkill, SubSkill } from '../../server/catalogue/snapshot.ts'
import type { WriterCatalogue } from '../../server/questions/questions.ts'

/** Loads the built-in catalogue without a database, and adds `extraSkills`. */
export async function builtInCatalogue(
  extraSkills: SnapshotSkill[] = [],
): Promise<WriterCatalogue & { current: { skills: SnapshotSkill[] } }> {
  const taxonomy = parseBuiltInCatalogue(await readBuiltInCatalogueFiles())
  const mastersById = new Map<string, MasterSkill>()
  for (const { id, number, name } of taxonomy.masters) mastersById.set(id, { number: number!, name, skillCount: 0 })
  const subSkillsById = new Map<string, SubSkill>()
  for (const { id, number, name, master } of taxonomy.subSkills)
    subSkillsById.set(id, { number: number!, name, master: mastersById.get(master!)!, skillCount: 0 })
  const skills = taxonomy.skills.map(({ number, name, description, aliases, verifiable, subSkill }) => {
    return { number: number!, name, description, aliases, verifiable, sub: subSkillsById.get(subSkill)! }
  })
  skills.push(...extraSkills)
  const skillsByNumber = new Map(skills.map((skill) => [skill.number, skill]))
  return { current: { skills, skill: (number) => skillsByNumber.get(number) } }
}
