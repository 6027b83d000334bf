import type { Row } from './support/rows.ts'

/** An answer with what its score promised. */
export interface Answer {
  score: number
  right: boolean
}

/** How often answers of each tenth of the score are right: the two numbers of a row should agree. */
export function reliabilityRows(name: string, answers: Answer[]): Row[] {
  const tenths = Array.from({ length: 10 }, () => ({ answers: 0, right: 0, score: 0 }))
  for (const { score, right } of answers) {
    const tenth = tenths[Math.min(9, Math.floor(score * 10))]!
    tenth.answers++
    tenth.score += score
    if (right) tenth.right++
  }
  const error = tenths.reduce((sum, { score, right }) => sum + Math.abs(score - right), 0) / answers.length
  return [
    ...tenths
      .filter((tenth) => tenth.answers > 0)
      .map((tenth) => ({
        name: `${name}, right when the score is about ${(tenth.score / tenth.answers).toFixed(2)}`,
        value: tenth.right / tenth.answers,
        unit: '',
        note: `${tenth.answers} answers`,
      })),
    { name: `${name}, mean error of the score`, value: error, unit: '' },
  ]
}
