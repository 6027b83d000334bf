import { isTestStudent } from '../../mail/test-addresses.ts'
import type { Session } from '../sessions.ts'

interface KeyedQuestion {
  skill: number
  options: string[]
  key: number
  shownOptions: number[]
  difficulty: number
}

/**
 * Prepares the questions of a test student of TEST mode, so that an integrator knows which answers lead to which verdict. The right option
 * of each question is first; the order of the other options does not change. The questions of each skill begin with the easiest one: a
 * student who answers only that one wrongly gets the verdict `inconclusive`, whatever questions were drawn.
 */
export function withKeyFirst<Question extends KeyedQuestion>(
  { scope, student }: Pick<Session, 'scope' | 'student'>,
  questions: Question[],
): Question[] {
  if (scope.mode !== 'test' || !isTestStudent(student.email)) return questions
  const bySkill = Map.groupBy(questions, ({ skill }) => skill)
  const sorted = [...bySkill.values()].flatMap((group) => group.toSorted((a, b) => a.difficulty - b.difficulty))
  return sorted.map((question) => ({
    ...question,
    options: keyFirst(question.options, question.key),
    shownOptions: keyFirst(question.shownOptions, question.key),
    key: 0,
  }))
}

function keyFirst<T>(list: readonly T[], key: number): T[] {
  return [list[key]!, ...list.filter((_, index) => index !== key)]
}
