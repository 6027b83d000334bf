import type { BenchmarkRow } from './support/benchmark.ts'

/** A predicted skill. Its score should equal the probability that the prediction is correct. */
export interface Prediction {
  score: number
  correct: boolean
}

/** Returns, for each tenth of the score range, the share of correct predictions, which should equal the score. */
export function reliabilityRows(name: string, predictions: Prediction[]): BenchmarkRow[] {
  const bins = Array.from({ length: 10 }, () => ({ count: 0, correct: 0, score: 0 }))
  for (const { score, correct } of predictions) {
    const bin = bins[Math.min(9, Math.floor(score * 10))]!
    bin.count++
    bin.score += score
    if (correct) bin.correct++
  }
  const meanError = bins.reduce((sum, { score, correct }) => sum + Math.abs(score - correct), 0) / predictions.length
  return [
    ...bins
      .filter(({ count }) => count > 0)
      .map(({ count, score, correct }) => ({
        name: `${name}, correct with a score of about ${(score / count).toFixed(2)}`,
        value: correct / count,
        unit: '',
        note: `${count} predictions`,
      })),
    { name: `${name}, mean calibration error`, value: meanError, unit: '' },
  ]
}
