import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndexSync } from '../skill-index.ts'
import { runSync } from '../text/time-slicing.ts'
import type { SkillEntry } from './labels.ts'
import { buildPriors, MAX_PRIOR } from './prior.ts'

const sub = (number: number, name = 'Group', master = 1) => ({ number, name, master: { number: master } })

function priors(entries: Omit<SkillEntry, 'number' | 'name'>[]): number[] {
  return [...runSync(buildPriors(entries.map((entry, i) => ({ number: i + 1, name: 'Skill', ...entry }))))]
}

test('the prior of a skill without a group depends on whether people can be tested on it', () => {
  assert.deepEqual(priors([{ aliases: [] }, { aliases: ['a', 'b'], verifiable: true }]), [0, 40])
})

test('earlier skills in a group and earlier groups in a master skill have a higher prior', () => {
  const [first, second, third, other] = priors([1, 1, 1, 2].map((number) => ({ aliases: [], sub: sub(number) })))
  assert.ok(first! > second! && second! > third!)
  assert.ok(first! > other!)
  const elsewhere = priors([
    { aliases: [], sub: sub(1) },
    { aliases: [], sub: sub(2, 'Group', 2) },
  ])
  assert.equal(elsewhere[0], elsewhere[1])
})

test('a skill with more aliases than its neighbours has a higher prior', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `name ${i}`)
  const [few, , many] = priors([8, 8, 8].map((count) => ({ aliases: names(count), sub: sub(1) })))
  assert.ok(few! > many!)
  const [, second] = priors([2, 6].map((count) => ({ aliases: names(count), sub: sub(1) })))
  assert.equal(second! - priors([2, 2].map((count) => ({ aliases: names(count), sub: sub(1) })))[1]!, 20)
})

test('no prior is above the maximum', () => {
  const [highest] = priors([
    { aliases: Array.from({ length: 60 }, (_, i) => `name ${i}`), verifiable: true, sub: sub(1) },
    ...Array.from({ length: 9 }, () => ({ aliases: [], sub: sub(1) })),
  ])
  assert.equal(highest, MAX_PRIOR)
})

test('among equal matches the higher prior comes first, and counts more in a sub-skill named by the query', () => {
  const skills = (group: string) =>
    ['Deep cleaning', 'Tank cleaning', 'Tank washing'].map((name, i) => ({
      number: i + 1,
      name,
      aliases: [],
      sub: sub(1, group),
    }))
  const first = (group: string, query: string) => buildSkillIndexSync(skills(group)).search(query).skills[0]!
  assert.equal(first('Housekeeping', 'tank').name, 'Tank cleaning')
  assert.equal(first('Housekeeping', 'cleaning').name, 'Deep cleaning')
  assert.ok(first('Cleaning methods', 'cleaning').score > first('Housekeeping', 'cleaning').score)
  assert.ok(first('Clean rooms', 'cleaning').score > first('Housekeeping', 'cleaning').score)
})
