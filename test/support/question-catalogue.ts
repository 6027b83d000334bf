import { parseBuiltIn, readBuiltInFiles } from '../../server/catalogue/built-in.ts'
import type { MasterSkill, SnapshotSkill, SubSkill } from '../../server/catalogue/snapshot.ts'
import type { QuestionCatalogue } from '../../server/questions/questions.ts'

/** Loads the built-in catalogue without a database; `more` adds imported skills. */
export async function builtInCatalogue(
  more: SnapshotSkill[] = [],
): Promise<QuestionCatalogue & { current: { skills: SnapshotSkill[] } }> {
  const taxonomy = parseBuiltIn(await readBuiltInFiles())
  const masters = new Map<string, MasterSkill>()
  for (const { id, number, name } of taxonomy.masters) masters.set(id, { number: number!, name, skills: 0 })
  const subs = new Map<string, SubSkill>()
  for (const { id, number, name, master } of taxonomy.subSkills)
    subs.set(id, { number: number!, name, master: masters.get(master!)!, skills: 0 })
  const skills = taxonomy.skills.map(({ number, name, description, aliases, verifiable, subSkill }) => {
    return { number: number!, name, description, aliases, verifiable, sub: subs.get(subSkill)! }
  })
  skills.push(...more)
  const byNumber = new Map(skills.map((skill) => [skill.number, skill]))
  return { current: { skills, skill: (number) => byNumber.get(number) } }
}
