import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  askPerson,
  converse,
  createItems,
  createPeople,
  keyPositions,
  maxExposure,
  measureVerdicts,
  minimumShare,
  sharedStartRate,
} from '../../test/support/verdict-simulation.ts'

// A short version of the benchmark `verdicts`, which simulates more people and also calibration, retirement and wrong assumptions.

const people = createPeople(2000, 'test')

for (const poolSize of [24, 12]) {
  const items = createItems(poolSize, 'test')
  const forms = people.map((person) => askPerson(person, items))

  test(`verdicts of simulated people are right, with a pool of ${poolSize}`, () => {
    const rates = measureVerdicts(people, forms)
    assert.ok(rates.falseVerified <= 0.03, `${rates.falseVerified} of people without the skill are verified`)
    assert.ok(rates.falseNotVerified <= 0.03, `${rates.falseNotVerified} of people with the skill are not verified`)
    assert.ok(rates.inconclusive <= 0.15, `${rates.inconclusive} are inconclusive`)
    assert.ok(rates.meanItems <= 6, `${rates.meanItems} items`)
    // The more able people are, the more of them are verified.
    const verified = rates.bands.map((band) => band.verified)
    assert.deepEqual(
      verified.toSorted((first, second) => first - second),
      verified,
    )
  })

  test(`two people are seldom asked the same, with a pool of ${poolSize}`, () => {
    assert.ok(sharedStartRate(forms) < 0.05, `${sharedStartRate(forms)} of pairs share their first three items`)
    const { sameShare, chiSquare } = keyPositions(forms)
    assert.ok(chiSquare < 27.9, `key positions depend on each other: the same in ${sameShare}, chi-square ${chiSquare}`)
    if (poolSize === 24) assert.ok(maxExposure(forms) <= 0.33, `${maxExposure(forms)} are asked the same item`)
  })
}

test('verdicts are right with items that have not been piloted, whose quality differs widely', () => {
  const clearPeople = createPeople(6000, 'unpiloted').filter(({ ability }) => Math.abs(ability) >= 1.5)
  const skills = Array.from({ length: 300 }, (_, skill) => createItems(12, `${skill}`, { isUnpiloted: true }))
  const forms = clearPeople.map((person, index) => askPerson(person, skills[index % skills.length]!))
  const rates = measureVerdicts(clearPeople, forms)
  assert.ok(rates.falseVerified <= 0.03, `${rates.falseVerified} of people without the skill are verified`)
  assert.ok(rates.falseNotVerified <= 0.03, `${rates.falseNotVerified} of people with the skill are not verified`)
  assert.ok(rates.bands.at(-1)!.verified > 0.7, 'able people are verified')
})

test('a minimum share of correct answers verifies many people without the skill', () => {
  const items = createItems(24, 'test')
  const forms = people.map((person) => askPerson(person, items, minimumShare(3, 0.6)))
  assert.ok(measureVerdicts(people, forms).falseVerified > 0.15)
})

test('a conversation asks the same items and comes to the same verdict as the measurement alone', () => {
  const items = createItems(24, 'test')
  for (const person of people.slice(0, 100)) {
    const [simulated, conversed] = [askPerson(person, items), converse(person, items)]
    assert.deepEqual(conversed.items, simulated.items)
    assert.equal(conversed.verdict, simulated.verdict)
    assert.ok(Math.abs(conversed.confidence - simulated.confidence) <= 0.001)
  }
})
