import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndex, buildSkillIndexAtOnce } from './skill-index.ts'

const skills = Array.from({ length: 2500 }, (_, i) => ({
  number: i + 1,
  name: `${['Weld', 'Paint', 'Repair', 'Install'][i % 4]} ${['pump', 'gate', 'panel'][i % 3]} ${i}`,
  aliases: [`${['fix', 'mend'][i % 2]} number ${i}`, 'बिजली का काम'],
}))

test('building in slices gives the same index and lets others run', async () => {
  let turns = 0
  let building = true
  const turn = () => {
    turns++
    if (building) setImmediate(turn)
  }
  setImmediate(turn)
  const sliced = await buildSkillIndex(skills, 0)
  building = false
  assert.ok(turns > 10)
  const atOnce = buildSkillIndexAtOnce(skills)
  for (const query of ['weld pump', 'pannel', 'बिजली', '17'])
    assert.deepEqual(sliced.search(query), atOnce.search(query))
  assert.deepEqual(sliced.match('mending number 7', 5), atOnce.match('mending number 7', 5))
  assert.deepEqual(sliced.extract('paint gate 13 and weld pumps 12'), atOnce.extract('paint gate 13 and weld pumps 12'))
})

test('the order in which skills come does not matter', () => {
  const forward = buildSkillIndexAtOnce(skills)
  const backward = buildSkillIndexAtOnce(skills.toReversed())
  for (const query of ['weld', 'paint gate', 'fix', 'बिजली का काम', 'instal']) {
    assert.deepEqual(forward.search(query, { limit: 100 }), backward.search(query, { limit: 100 }))
    assert.deepEqual(forward.match(query, 10), backward.match(query, 10))
  }
})

test('of thousands of names that begin alike only the right one is found', () => {
  const index = buildSkillIndexAtOnce(skills)
  for (let i = 0; i < 300; i++) {
    const numbers = index.extract(`weld pump ${i}`).map(({ number }) => number)
    assert.deepEqual(numbers, i % 12 === 0 ? [i + 1] : [], String(i))
  }
})

test('an empty catalogue answers nothing', () => {
  const empty = buildSkillIndexAtOnce([])
  assert.equal(empty.size, 0)
  assert.deepEqual(empty.search('welding'), { skills: [], total: 0 })
  assert.deepEqual(empty.match('welding'), [])
  assert.deepEqual(empty.extract('welding'), [])
})

test('names without a letter, repeated and very long names do no harm', () => {
  const odd = buildSkillIndexAtOnce([
    { number: 1, name: '???', aliases: ['', '—', 'Welding'] },
    { number: 2, name: 'Welding', aliases: ['welding', 'WELDING'] },
    { number: 3, name: 'Welding', aliases: [] },
    { number: 4, name: `very ${'long '.repeat(500)}name`, aliases: ['x'.repeat(5000)] },
    { number: 5, name: '(welding)', aliases: [] },
  ])
  assert.deepEqual(
    odd.search('welding').skills.map(({ number }) => number),
    [2, 3, 5, 1],
  )
  assert.equal(odd.extract('welding')[0]!.number, 2)
  assert.equal(odd.search('long name').skills[0]!.number, 4)
})
