import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, editsAllowed, FewestEdits } from './edits.ts'

test('four letters allow one edit, eight allow two', () => {
  assert.deepEqual([3, 4, 7, 8, 20].map(editsAllowed), [0, 1, 1, 2, 2])
})

test('swapping two neighbours is one edit', () => {
  assert.equal(editDistance('wedling', 'welding', 2), 1)
  assert.equal(editDistance('welding', 'welding', 2), 0)
  assert.equal(editDistance('wldng', 'welding', 2), 2)
  assert.equal(editDistance('plumbing', 'welding', 2), 3)
})

test('a beginning may be compared with what it begins', () => {
  assert.equal(editDistance('eletri', 'electrician', 1, true), 1)
  assert.equal(editDistance('electri', 'electrician', 1, true), 0)
  assert.equal(editDistance('plumbi', 'electrician', 1, true), 2)
})

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })

test('the band gives what the whole table gives', () => {
  fc.assert(
    fc.property(word, word, fc.integer({ min: 1, max: 2 }), (a, b, limit) => {
      assert.equal(editDistance(a, b, limit), Math.min(limit + 1, wholeTable(a, b)))
    }),
    { numRuns: 2000 },
  )
})

test('bit by bit the edits are those of the whole table', () => {
  const edits = new FewestEdits()
  const upTo = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'z'), minLength: 1, maxLength })
  fc.assert(
    fc.property(upTo(31), fc.array(upTo(40), { minLength: 1, maxLength: 3 }), (a, others) => {
      edits.from(a)
      for (const b of others) assert.equal(edits.to(b), wholeTable(a, b))
    }),
    { numRuns: 500 },
  )
})

test('where bits do not tell letters apart, or do not suffice, there are rather too few edits', () => {
  const edits = new FewestEdits()
  edits.from('aब')
  assert.equal(edits.to('aଭ'), wholeTable('aब', 'aଭ'))
  assert.equal(edits.to('a\u0a2c'), 0)
  edits.from('a'.repeat(32))
  assert.equal(edits.to('b'), 0)
  edits.from('welding')
  assert.equal(edits.to('wedling'), 1)
})

function wholeTable(a: string, b: string): number {
  const cost = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i && j ? 0 : i + j)),
  )
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      let least = Math.min(
        cost[i - 1]![j]! + 1,
        cost[i]![j - 1]! + 1,
        cost[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, cost[i - 2]![j - 2]! + 1)
      cost[i]![j] = least
    }
  return cost[a.length]![b.length]!
}
