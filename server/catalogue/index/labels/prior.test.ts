import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndexAtOnce } from '../skill-index.ts'
import { runAtOnce } from '../text/time-slicing.ts'
import type { SkillEntry } from './labels.ts'
import { buildStanding, HIGHEST_STANDING } from './prior.ts'

const sub = (number: number, name = 'Group', master = 1) => ({ number, name, master: { number: master } })

function standing(entries: Omit<SkillEntry, 'number' | 'name'>[]): number[] {
  return [...runAtOnce(buildStanding(entries.map((entry, i) => ({ number: i + 1, name: 'Skill', ...entry }))))]
}

test('a skill without a group stands by whether people can be tested on it', () => {
  assert.deepEqual(standing([{ aliases: [] }, { aliases: ['a', 'b'], verifiable: true }]), [0, 40])
})

test('the first of a group stands highest, and those of the first group above those of the second', () => {
  const [first, second, third, other] = standing([1, 1, 1, 2].map((number) => ({ aliases: [], sub: sub(number) })))
  assert.ok(first! > second! && second! > third!)
  assert.ok(first! > other!)
  const elsewhere = standing([
    { aliases: [], sub: sub(1) },
    { aliases: [], sub: sub(2, 'Group', 2) },
  ])
  assert.equal(elsewhere[0], elsewhere[1])
})

test('what has more names than its neighbours stands higher, however many others have', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `name ${i}`)
  const [few, , many] = standing([8, 8, 8].map((count) => ({ aliases: names(count), sub: sub(1) })))
  assert.ok(few! > many!)
  const [, second] = standing([2, 6].map((count) => ({ aliases: names(count), sub: sub(1) })))
  assert.equal(second! - standing([2, 2].map((count) => ({ aliases: names(count), sub: sub(1) })))[1]!, 20)
})

test('no standing is above the highest', () => {
  const [most] = standing([
    { aliases: Array.from({ length: 60 }, (_, i) => `name ${i}`), verifiable: true, sub: sub(1) },
    ...Array.from({ length: 9 }, () => ({ aliases: [], sub: sub(1) })),
  ])
  assert.equal(most, HIGHEST_STANDING)
})

test('of skills that hold a word alike, the one that stands higher is first, the more so in a group of that name', () => {
  const skills = (group: string) =>
    ['Deep cleaning', 'Tank cleaning', 'Tank washing'].map((name, i) => ({
      number: i + 1,
      name,
      aliases: [],
      sub: sub(1, group),
    }))
  const first = (group: string, query: string) => buildSkillIndexAtOnce(skills(group)).search(query).skills[0]!
  assert.equal(first('Housekeeping', 'tank').name, 'Tank cleaning')
  assert.equal(first('Housekeeping', 'cleaning').name, 'Deep cleaning')
  assert.ok(first('Cleaning methods', 'cleaning').score > first('Housekeeping', 'cleaning').score)
  assert.ok(first('Clean rooms', 'cleaning').score > first('Housekeeping', 'cleaning').score)
})
