import { skillId } from '../../catalogue/ids.ts'
import type { Response } from '../../measurement/model.ts'
import { weighResponses } from '../../measurement/sequential-test.ts'
import type { Attempt, Question } from '../assessments/attempts.ts'
import type { AnswersInput } from '../schema.ts'
import type { ScriptedAttempt } from './schema.ts'

/** Returns the answers of a scripted student to the questions of an attempt. */
export function scriptedAnswers({ questions }: Attempt, script: ScriptedAttempt): AnswersInput {
  const bySkill = Map.groupBy(questions, ({ skill }) => skill)
  return { answers: [...bySkill].flatMap(([skill, group]) => answerSkill(skillId(skill), group, script)) }
}

function answerSkill(id: string, questions: Question[], script: ScriptedAttempt): AnswersInput['answers'] {
  const planned = script.skills?.find((each) => each.skillId === id)?.answers ?? script.answers ?? ['correct']
  const responses: Response[] = []
  return questions.map(({ questionId, options, key, item }, index) => {
    const { difficulty = 0, isUnpiloted = false } = item ?? {}
    const answer = planned[index] ?? planned.at(-1)
    const confidenceAfter = (isCorrect: boolean) =>
      weighResponses([...responses, { difficulty, isCorrect, isUnpiloted }]).confidence
    // The undecided student gives the answer that leaves the verdict less certain.
    const isCorrect = answer === 'undecided' ? confidenceAfter(true) <= confidenceAfter(false) : answer === 'correct'
    responses.push({ difficulty, isCorrect, isUnpiloted })
    return { questionId, option: options[isCorrect ? key : (key + 1) % options.length]! }
  })
}
