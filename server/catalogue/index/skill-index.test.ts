import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSkillIndex, buildSkillIndexSync } from './skill-index.ts'

const skills = Array.from({ length: 2500 }, (_, i) => ({
  number: i + 1,
  name: `${['Weld', 'Paint', 'Repair', 'Install'][i % 4]} ${['pump', 'gate', 'panel'][i % 3]} ${i}`,
  aliases: [`${['fix', 'mend'][i % 2]} number ${i}`, 'बिजली का काम'],
}))

test('building the index in slices produces the same index and yields to the event loop', async () => {
  let eventLoopTurns = 0
  let isBuilding = true
  const countTurn = () => {
    eventLoopTurns++
    if (isBuilding) setImmediate(countTurn)
  }
  setImmediate(countTurn)
  const slicedIndex = await buildSkillIndex(skills, 0)
  isBuilding = false
  assert.ok(eventLoopTurns > 10)
  const syncIndex = buildSkillIndexSync(skills)
  for (const query of ['weld pump', 'pannel', 'बिजली', '17'])
    assert.deepEqual(slicedIndex.search(query), syncIndex.search(query))
  assert.deepEqual(slicedIndex.match('mending number 7', 5), syncIndex.match('mending number 7', 5))
  assert.deepEqual(
    slicedIndex.extract('paint gate 13 and weld pumps 12'),
    syncIndex.extract('paint gate 13 and weld pumps 12'),
  )
})

test('the order in which skills are added does not change the results', () => {
  const forwardIndex = buildSkillIndexSync(skills)
  const backwardIndex = buildSkillIndexSync(skills.toReversed())
  for (const query of ['weld', 'paint gate', 'fix', 'बिजली का काम', 'instal']) {
    assert.deepEqual(forwardIndex.search(query, { limit: 100 }), backwardIndex.search(query, { limit: 100 }))
    assert.deepEqual(forwardIndex.match(query, 10), backwardIndex.match(query, 10))
  }
})

test('among many names with the same prefix, only the mentioned name is extracted', () => {
  const index = buildSkillIndexSync(skills)
  for (let i = 0; i < 300; i++) {
    const foundNumbers = index.extract(`weld pump ${i}`).map(({ number }) => number)
    assert.deepEqual(foundNumbers, i % 12 === 0 ? [i + 1] : [], String(i))
  }
})

test('an empty catalogue returns no results', () => {
  const emptyIndex = buildSkillIndexSync([])
  assert.equal(emptyIndex.size, 0)
  assert.deepEqual(emptyIndex.search('welding'), { skills: [], total: 0 })
  assert.deepEqual(emptyIndex.match('welding'), [])
  assert.deepEqual(emptyIndex.extract('welding'), [])
})

test('names without letters, repeated names and very long names are accepted', () => {
  const indexOfUnusualNames = buildSkillIndexSync([
    { number: 1, name: '???', aliases: ['', '—', 'Welding'] },
    { number: 2, name: 'Welding', aliases: ['welding', 'WELDING'] },
    { number: 3, name: 'Welding', aliases: [] },
    { number: 4, name: `very ${'long '.repeat(500)}name`, aliases: ['x'.repeat(5000)] },
    { number: 5, name: '(welding)', aliases: [] },
  ])
  assert.deepEqual(
    indexOfUnusualNames.search('welding').skills.map(({ number }) => number),
    [2, 3, 5, 1],
  )
  assert.equal(indexOfUnusualNames.extract('welding')[0]!.number, 2)
  assert.equal(indexOfUnusualNames.search('long name').skills[0]!.number, 4)
})
