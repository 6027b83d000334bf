import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { estimateAbility, restAbilities } from './ability.ts'
import {
  correctProbability,
  GUESSING_PROBABILITY,
  PRIOR_DIFFICULTIES,
  type Response,
  unpilotedProbability,
} from './model.ts'

const anyLogit = fc.double({ min: -6, max: 6, noNaN: true })
const anyResponse: fc.Arbitrary<Response> = fc.record({
  difficulty: fc.double({ min: -3, max: 3, noNaN: true }),
  isCorrect: fc.boolean(),
  isUnpiloted: fc.boolean(),
})
const anyResponses = fc.array(anyResponse, { maxLength: 12 })
const TOLERANCE = 1e-9

test('the probability of a correct answer is between guessing and certainty, and follows the published formula', () => {
  fc.assert(
    fc.property(anyLogit, anyLogit, (ability, difficulty) => {
      const probability = correctProbability(ability, difficulty)
      assert.ok(probability > GUESSING_PROBABILITY && probability < 1)
      const exponential = Math.exp(1.5 * (ability - difficulty))
      assert.ok(Math.abs(probability - (0.25 + (0.75 * exponential) / (1 + exponential))) < TOLERANCE)
    }),
  )
  assert.equal(correctProbability(0.3, 0.3), 0.625)
})

test('the probability of a correct answer increases with ability and decreases with difficulty', () => {
  fc.assert(
    fc.property(anyLogit, anyLogit, fc.double({ min: 0.01, max: 3, noNaN: true }), (ability, difficulty, step) => {
      const probability = correctProbability(ability, difficulty)
      assert.ok(correctProbability(ability + step, difficulty) > probability)
      assert.ok(correctProbability(ability, difficulty + step) < probability)
      // Only the distance between ability and difficulty matters.
      assert.ok(Math.abs(correctProbability(ability + step, difficulty + step) - probability) < TOLERANCE)
    }),
  )
})

test('knowledge beyond guessing is symmetric around the difficulty', () => {
  const knowledge = (ability: number, difficulty: number) =>
    (correctProbability(ability, difficulty) - GUESSING_PROBABILITY) / (1 - GUESSING_PROBABILITY)
  fc.assert(
    fc.property(anyLogit, fc.double({ min: 0, max: 6, noNaN: true }), (difficulty, distance) => {
      const sum = knowledge(difficulty + distance, difficulty) + knowledge(difficulty - distance, difficulty)
      assert.ok(Math.abs(sum - 1) < TOLERANCE)
    }),
  )
})

test('an item that has not been piloted separates people less, and can be guessed more often', () => {
  fc.assert(
    fc.property(anyLogit, anyLogit, fc.double({ min: 0.01, max: 3, noNaN: true }), (ability, difficulty, step) => {
      const probability = unpilotedProbability(ability, difficulty)
      assert.ok(probability > 1 / 3 && probability < 1)
      assert.ok(unpilotedProbability(ability + step, difficulty) > probability)
      assert.ok(unpilotedProbability(ability, difficulty + step) < probability)
    }),
  )
  for (const difficulty of Object.values(PRIOR_DIFFICULTIES)) {
    const piloted = correctProbability(1.5, difficulty) / correctProbability(-1.5, difficulty)
    const unpiloted = unpilotedProbability(1.5, difficulty) / unpilotedProbability(-1.5, difficulty)
    assert.ok(unpiloted > 1.5 && unpiloted < 0.9 * piloted, `difficulty ${difficulty}: ${unpiloted} and ${piloted}`)
  }
})

test('the difficulties that authors give are in order and symmetric', () => {
  assert.ok(PRIOR_DIFFICULTIES[1] < PRIOR_DIFFICULTIES[2] && PRIOR_DIFFICULTIES[2] < PRIOR_DIFFICULTIES[3])
  assert.equal(PRIOR_DIFFICULTIES[1] + PRIOR_DIFFICULTIES[3], 2 * PRIOR_DIFFICULTIES[2])
})

test('the estimated ability is bounded, does not depend on the order, and a right answer never lowers it', () => {
  assert.ok(Math.abs(estimateAbility([])) < TOLERANCE, 'without responses it is the mean of the prior')
  fc.assert(
    fc.property(anyResponses, anyResponse, (responses, response) => {
      const ability = estimateAbility(responses)
      assert.ok(ability > -4 && ability < 4)
      assert.ok(Math.abs(estimateAbility(responses.toReversed()) - ability) < TOLERANCE)
      const afterRight = estimateAbility([...responses, { ...response, isCorrect: true }])
      const afterWrong = estimateAbility([...responses, { ...response, isCorrect: false }])
      assert.ok(afterWrong <= ability + TOLERANCE && ability <= afterRight + TOLERANCE)
    }),
  )
})

test('the ability that other responses show does not depend on the response itself', () => {
  fc.assert(
    fc.property(fc.array(anyResponse, { minLength: 1, maxLength: 8 }), fc.nat(), (responses, position) => {
      const index = position % responses.length
      const changed = responses.with(index, { ...responses[index]!, isCorrect: !responses[index]!.isCorrect })
      assert.equal(restAbilities(responses)[index], restAbilities(changed)[index])
      assert.equal(restAbilities(responses)[index], estimateAbility(responses.toSpliced(index, 1)))
    }),
  )
})

test('responses that are not scored do not change the ability that is shown for others', () => {
  const scored = [
    { difficulty: 0, isCorrect: true },
    { difficulty: 0.8, isCorrect: false },
  ]
  const pilot = { difficulty: -0.8, isCorrect: false }
  assert.deepEqual(restAbilities([scored[0]!, pilot, scored[1]!], scored), [
    estimateAbility([scored[1]!]),
    estimateAbility(scored),
    estimateAbility([scored[0]!]),
  ])
})
