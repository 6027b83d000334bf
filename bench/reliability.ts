import type { BenchmarkRow } from './support/benchmark.ts'

/** A predicted skill with its score, which should equal the probability that it is correct. */
export interface Prediction {
  score: number
  correct: boolean
}

/** Returns, for each tenth of the score range, how many predictions are correct: this share should equal the score. */
export function reliabilityRows(name: string, predictions: Prediction[]): BenchmarkRow[] {
  const bins = Array.from({ length: 10 }, () => ({ count: 0, correct: 0, score: 0 }))
  for (const { score, correct } of predictions) {
    const bin = bins[Math.min(9, Math.floor(score * 10))]!
    bin.count++
    bin.score += score
    if (correct) bin.correct++
  }
  const error = bins.reduce((sum, { score, correct }) => sum + Math.abs(score - correct), 0) / predictions.length
  return [
    ...bins
      .filter(({ count }) => count > 0)
      .map(({ count, score, correct }) => ({
        name: `${name}, correct with a score of about ${(score / count).toFixed(2)}`,
        value: correct / count,
        unit: '',
        note: `${count} predictions`,
      })),
    { name: `${name}, mean calibration error`, value: error, unit: '' },
  ]
}
