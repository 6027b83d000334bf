import type { Queries } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'

/** The questions about skills, in all organisations. */
export interface SkillQuestions {
  /** Returns whether the built-in bank has questions about a skill. */
  hasBuiltIn(number: number): boolean
  /** The questions that organisations imported or wrote, except retired ones, by skill. */
  own: ReadonlyMap<number, { questions: number; organisations: number }>
}

/** Hook: returns the questions about these skills. */
export const skillQuestions = defineHook<[queries: Queries, numbers: number[] | 'all'], SkillQuestions>(
  'skillQuestions',
).handledBy('items')

export async function readSkillQuestions(queries: Queries, numbers: number[] | 'all'): Promise<SkillQuestions> {
  return (await skillQuestions.run(queries, numbers)).items
}
