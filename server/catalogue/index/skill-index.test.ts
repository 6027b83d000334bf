import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndex, buildSkillIndexSync } from './skill-index.ts'

const skills = Array.from({ length: 2500 }, (_, i) => ({
  number: i + 1,
  name: `${['Weld', 'Paint', 'Repair', 'Install'][i % 4]} ${['pump', 'gate', 'panel'][i % 3]} ${i}`,
  aliases: [`${['fix', 'mend'][i % 2]} number ${i}`, 'बिजली का काम'],
}))

test('building in slices produces the same index and yields to the event loop', async () => {
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
  const sync = buildSkillIndexSync(skills)
  for (const query of ['weld pump', 'pannel', 'बिजली', '17']) assert.deepEqual(sliced.search(query), sync.search(query))
  assert.deepEqual(sliced.match('mending number 7', 5), sync.match('mending number 7', 5))
  assert.deepEqual(sliced.extract('paint gate 13 and weld pumps 12'), sync.extract('paint gate 13 and weld pumps 12'))
})

test('the order of the skills does not matter', () => {
  const forward = buildSkillIndexSync(skills)
  const backward = buildSkillIndexSync(skills.toReversed())
  for (const query of ['weld', 'paint gate', 'fix', 'बिजली का काम', 'instal']) {
    assert.deepEqual(forward.search(query, { limit: 100 }), backward.search(query, { limit: 100 }))
    assert.deepEqual(forward.match(query, 10), backward.match(query, 10))
  }
})

test('among thousands of names with the same prefix only the mentioned one is found', () => {
  const index = buildSkillIndexSync(skills)
  for (let i = 0; i < 300; i++) {
    const numbers = index.extract(`weld pump ${i}`).map(({ number }) => number)
    assert.deepEqual(numbers, i % 12 === 0 ? [i + 1] : [], String(i))
  }
})

test('an empty catalogue returns no results', () => {
  const empty = buildSkillIndexSync([])
  assert.equal(empty.size, 0)
  assert.deepEqual(empty.search('welding'), { skills: [], total: 0 })
  assert.deepEqual(empty.match('welding'), [])
  assert.deepEqual(empty.extract('welding'), [])
})

test('names without letters, repeated names and very long names are accepted', () => {
  const odd = buildSkillIndexSync([
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
