import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndexSync } from '../skill-index.ts'
import { runSync } from '../text/time-slicing.ts'
import type { SkillEntry } from './labels.ts'
import { buildPriors, MAX_PRIOR } from './prior.ts'

const subSkillFixture = (number: number, name = 'Group', masterNumber = 1) => ({
  number,
  name,
  master: { number: masterNumber },
})

function priorsOf(entries: Omit<SkillEntry, 'number' | 'name'>[]): number[] {
  return [...runSync(buildPriors(entries.map((entry, i) => ({ number: i + 1, name: 'Skill', ...entry }))))]
}

test('the prior of a skill without a sub-skill depends only on whether it is preferred', () => {
  assert.deepEqual(priorsOf([{ aliases: [] }, { aliases: ['a', 'b'], isPreferred: true }]), [0, 40])
})

test('earlier skills of a sub-skill and earlier sub-skills of a master skill have a higher prior', () => {
  const [first, second, third, firstOfSecondSubSkill] = priorsOf(
    [1, 1, 1, 2].map((number) => ({ aliases: [], sub: subSkillFixture(number) })),
  )
  assert.ok(first! > second! && second! > third!)
  assert.ok(first! > firstOfSecondSubSkill!)
  const priorsInTwoMasters = priorsOf([
    { aliases: [], sub: subSkillFixture(1) },
    { aliases: [], sub: subSkillFixture(2, 'Group', 2) },
  ])
  assert.equal(priorsInTwoMasters[0], priorsInTwoMasters[1])
})

test('a skill with more aliases than the average of its sub-skill has a higher prior', () => {
  const createAliases = (count: number) => Array.from({ length: count }, (_, i) => `name ${i}`)
  const [firstPrior, , lastPrior] = priorsOf(
    [8, 8, 8].map((count) => ({ aliases: createAliases(count), sub: subSkillFixture(1) })),
  )
  assert.ok(firstPrior! > lastPrior!)
  const [, second] = priorsOf([2, 6].map((count) => ({ aliases: createAliases(count), sub: subSkillFixture(1) })))
  assert.equal(
    second! - priorsOf([2, 2].map((count) => ({ aliases: createAliases(count), sub: subSkillFixture(1) })))[1]!,
    20,
  )
})

test('no prior exceeds MAX_PRIOR', () => {
  const [highest] = priorsOf([
    { aliases: Array.from({ length: 60 }, (_, i) => `name ${i}`), isPreferred: true, sub: subSkillFixture(1) },
    ...Array.from({ length: 9 }, () => ({ aliases: [], sub: subSkillFixture(1) })),
  ])
  assert.equal(highest, MAX_PRIOR)
})

test('among equal matches the higher prior comes first, and counts more if the query is in the name of the sub-skill', () => {
  const skillsInSubSkill = (subSkillName: string) =>
    ['Deep cleaning', 'Tank cleaning', 'Tank washing'].map((name, i) => ({
      number: i + 1,
      name,
      aliases: [],
      sub: subSkillFixture(1, subSkillName),
    }))
  const firstResult = (subSkillName: string, query: string) =>
    buildSkillIndexSync(skillsInSubSkill(subSkillName)).search(query).skills[0]!
  assert.equal(firstResult('Housekeeping', 'tank').name, 'Tank cleaning')
  assert.equal(firstResult('Housekeeping', 'cleaning').name, 'Deep cleaning')
  assert.ok(firstResult('Cleaning methods', 'cleaning').score > firstResult('Housekeeping', 'cleaning').score)
  assert.ok(firstResult('Clean rooms', 'cleaning').score > firstResult('Housekeeping', 'cleaning').score)
})
