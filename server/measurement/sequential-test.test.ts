import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { correctProbability, PRIOR_DIFFICULTIES, type Response, unpilotedProbability } from './model.ts'
import { SeededRandom } from './seeded-random.ts'
import {
  CLEAR_ABILITY,
  MAX_ITEMS,
  MIN_ITEMS,
  needsMoreItems,
  REQUIRED_CONFIDENCE,
  roundConfidence,
  type Verdict,
  weighResponses,
} from './sequential-test.ts'

const anyDifficulty = fc.constantFrom(...Object.values(PRIOR_DIFFICULTIES))
const anyResponse: fc.Arbitrary<Response> = fc.record({
  difficulty: anyDifficulty,
  isCorrect: fc.boolean(),
  isUnpiloted: fc.boolean(),
})
const anyResponses = fc.array(anyResponse, { maxLength: 10 })

/** Returns the probability that the person has the skill, by Bayes' theorem with equal priors. */
function skilledProbability(responses: readonly Response[]): number {
  const likelihoodAt = (ability: number) =>
    responses.reduce((product, { difficulty, isCorrect, isUnpiloted }) => {
      const probability = (isUnpiloted ? unpilotedProbability : correctProbability)(ability, difficulty)
      return product * (isCorrect ? probability : 1 - probability)
    }, 1)
  const [skilled, unskilled] = [likelihoodAt(CLEAR_ABILITY), likelihoodAt(-CLEAR_ABILITY)]
  return skilled / (skilled + unskilled)
}

test('the verdict follows from the probability of both abilities, and its confidence is that of the likelier one', () => {
  fc.assert(
    fc.property(anyResponses, (responses) => {
      const { verdict, confidence } = weighResponses(responses)
      const skilled = skilledProbability(responses)
      assert.ok(Math.abs(confidence - Math.max(skilled, 1 - skilled)) < 1e-9)
      assert.ok(confidence >= 0.5 && confidence < 1)
      const expected: Verdict =
        confidence < REQUIRED_CONFIDENCE ? 'inconclusive' : skilled > 0.5 ? 'verified' : 'not_verified'
      assert.equal(verdict, expected)
    }),
  )
})

test('the verdict does not depend on the order of the responses', () => {
  fc.assert(
    fc.property(anyResponses, fc.string(), (responses, seed) => {
      const shuffled = weighResponses(new SeededRandom(seed).shuffled(responses))
      const original = weighResponses(responses)
      assert.equal(shuffled.verdict, original.verdict)
      assert.ok(Math.abs(shuffled.confidence - original.confidence) < 1e-9)
    }),
  )
})

test('a right answer never makes the skill less likely, and a wrong one never more', () => {
  const rank: Record<Verdict, number> = { not_verified: 0, inconclusive: 1, verified: 2 }
  fc.assert(
    fc.property(anyResponses, anyDifficulty, (responses, difficulty) => {
      const before = rank[weighResponses(responses).verdict]
      assert.ok(rank[weighResponses([...responses, { difficulty, isCorrect: true }]).verdict] >= before)
      assert.ok(rank[weighResponses([...responses, { difficulty, isCorrect: false }]).verdict] <= before)
    }),
  )
})

test('a right answer to a harder item is at least as convincing, and a wrong answer to an easier one', () => {
  const confidenceOf = (difficulty: number, isCorrect: boolean) =>
    weighResponses([{ difficulty, isCorrect }]).confidence
  const [easy, medium, hard] = [PRIOR_DIFFICULTIES[1], PRIOR_DIFFICULTIES[2], PRIOR_DIFFICULTIES[3]]
  assert.ok(confidenceOf(easy, true) < confidenceOf(medium, true))
  assert.ok(confidenceOf(medium, true) < confidenceOf(hard, true))
  assert.ok(confidenceOf(easy, false) > confidenceOf(medium, false))
  assert.ok(confidenceOf(medium, false) > confidenceOf(hard, false))
})

test('with items that have not been piloted, four right answers decide nothing and five verify the skill', () => {
  for (const difficulty of Object.values(PRIOR_DIFFICULTIES)) {
    const right = (count: number) =>
      Array.from({ length: count }, () => ({ difficulty, isCorrect: true, isUnpiloted: true }))
    assert.equal(weighResponses(right(4)).verdict, 'inconclusive', `difficulty ${difficulty}`)
    assert.equal(weighResponses(right(5)).verdict, 'verified', `difficulty ${difficulty}`)
    const wrong = { difficulty, isCorrect: false, isUnpiloted: true }
    assert.equal(weighResponses([...right(5), wrong]).verdict, 'inconclusive', `difficulty ${difficulty}`)
  }
})

test('without responses, nothing is known', () => {
  assert.deepEqual(weighResponses([]), { verdict: 'inconclusive', confidence: 0.5 })
})

test('a test has 4 to 8 items, and ends between as soon as the verdict is certain', () => {
  fc.assert(
    fc.property(fc.array(anyResponse, { minLength: MAX_ITEMS, maxLength: MAX_ITEMS }), (answers) => {
      const responses: Response[] = []
      while (needsMoreItems(responses)) responses.push(answers[responses.length]!)
      assert.ok(responses.length >= MIN_ITEMS && responses.length <= MAX_ITEMS)
      const { verdict } = weighResponses(responses)
      assert.ok(verdict !== 'inconclusive' || responses.length === MAX_ITEMS)
      for (let count = MIN_ITEMS; count < responses.length; count++)
        assert.equal(weighResponses(responses.slice(0, count)).verdict, 'inconclusive', 'no item too many')
    }),
  )
})

test('a test ends when no items are left', () => {
  assert.equal(needsMoreItems([], 0), false)
  assert.equal(needsMoreItems([{ difficulty: 0, isCorrect: true }], 1), false)
  assert.equal(needsMoreItems([{ difficulty: 0, isCorrect: true }], 2), true)
})

test('of people who clearly have the skill or clearly do not, at most 3 percent get the wrong verdict', () => {
  const random = new SeededRandom('error rates')
  const difficulties = Object.values(PRIOR_DIFFICULTIES)
  const people = 4000
  for (const [ability, wrongVerdict] of [
    [CLEAR_ABILITY, 'not_verified'],
    [-CLEAR_ABILITY, 'verified'],
  ] as const) {
    let wrong = 0
    for (let person = 0; person < people; person++) {
      const responses: Response[] = []
      while (needsMoreItems(responses)) {
        const difficulty = random.pick(difficulties)!
        const isCorrect = random.below(1_000_000) / 1_000_000 < correctProbability(ability, difficulty)
        responses.push({ difficulty, isCorrect })
      }
      if (weighResponses(responses).verdict === wrongVerdict) wrong++
    }
    assert.ok(wrong / people <= 0.03, `${wrong} of ${people} people with the ability ${ability}`)
  }
})

test('a rounded confidence is never certainty, and never crosses the required one', () => {
  assert.equal(roundConfidence(0.999999), 0.999)
  assert.equal(roundConfidence(0.97349), 0.973)
  fc.assert(
    fc.property(fc.double({ min: 0.5, max: 1, noNaN: true }), (confidence) => {
      const rounded = roundConfidence(confidence)
      assert.ok(rounded < 1 && Math.abs(rounded - confidence) <= 0.001 + 1e-9)
      if (confidence < REQUIRED_CONFIDENCE) assert.ok(rounded < REQUIRED_CONFIDENCE, String(confidence))
    }),
    { examples: [[0.9499], [0.94999], [0.9495]] },
  )
})
