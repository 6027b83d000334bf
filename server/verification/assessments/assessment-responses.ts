import type { OrgScope } from '../../access/caller.ts'
import { recordResponses, type SkillResponses } from '../../items/responses.ts'
import { KEY } from '../../measurement/form.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { Attempt, Marks, Question } from './attempts.ts'

/** Stores the answers of an attempt, for statistics without the person. Items that the AI writer wrote for the student have none. */
export async function recordAssessmentResponses(
  tx: Tx,
  scope: OrgScope,
  now: number,
  { questions }: Attempt,
  { answers }: Marks,
): Promise<void> {
  const answered = questions.map((question, index) => ({ question, choice: answers[index] ?? null }))
  const skills = [...Map.groupBy(answered, ({ question }) => question.skill)].flatMap(
    ([skillNumber, group]): SkillResponses[] => {
      const source = group[0]!.question.item?.source
      if (!source || source === 'ai') return []
      const responses = group.map(({ question, choice }) => responseOf(question, question.item!, choice))
      return [{ scope, skillNumber, source, responses }]
    },
  )
  await recordResponses(tx, now, skills)
}

function responseOf({ key }: Question, item: NonNullable<Question['item']>, choice: number | null) {
  const option = choice === null ? null : choice === key ? KEY : item.options[choice]!
  return {
    itemId: item.id,
    difficulty: item.difficulty,
    isUnpiloted: item.isUnpiloted ?? false,
    option,
    isCorrect: choice === key,
    isScored: true,
    seconds: null,
    language: item.language,
    channel: 'assessment',
  }
}
