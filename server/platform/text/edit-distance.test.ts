import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EditDistanceLowerBound, editDistance, prefixEditDistance, typoTolerance } from './edit-distance.ts'

test('words of four letters allow one typo, words of eight letters two', () => {
  assert.deepEqual([3, 4, 7, 8, 20].map(typoTolerance), [0, 1, 1, 2, 2])
})

test('changes, additions, omissions and swaps each count as one edit', () => {
  assert.equal(editDistance('wedling', 'welding', 2), 1)
  assert.equal(editDistance('welding', 'welding', 2), 0)
  assert.equal(editDistance('wldng', 'welding', 2), 2)
  assert.equal(editDistance('plumbing', 'welding', 2), 3)
  assert.equal(editDistance('chenai', 'chennai', 2), 1)
  assert.equal(editDistance('lucnkow', 'lucknow', 2), 1)
  assert.equal(editDistance('pune', 'pune', 2), 0)
  assert.equal(editDistance('abc', 'xyz', 2), 3)
  assert.equal(editDistance('hydra', 'hyderabad', 2), 3)
})

test('the prefix distance ignores the end of the longer word', () => {
  assert.equal(prefixEditDistance('eletri', 'electrician', 1), 1)
  assert.equal(prefixEditDistance('electri', 'electrician', 1), 0)
  assert.equal(prefixEditDistance('plumbi', 'electrician', 1), 2)
  assert.equal(prefixEditDistance('hydra', 'hyderabad', 2), 1)
  assert.equal(prefixEditDistance('hyderabadx', 'hyderabad', 2), 1)
})

test('texts beyond the maximum length are too far from everything', () => {
  const tooLongText = 'a'.repeat(101)
  assert.equal(editDistance(tooLongText, tooLongText, 2), 3)
  assert.equal(editDistance(tooLongText.slice(1), tooLongText.slice(1), 2), 0)
})

const wordArbitrary = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })

test('the banded distance equals the full matrix', () => {
  fc.assert(
    fc.property(wordArbitrary, wordArbitrary, fc.nat({ max: 2 }), (a, b, limit) => {
      assert.equal(editDistance(a, b, limit), Math.min(limit + 1, fullMatrix(a, b)))
    }),
    { numRuns: 2000 },
  )
})

test('the prefix distance is the least distance to any prefix', () => {
  fc.assert(
    fc.property(wordArbitrary, wordArbitrary, fc.nat({ max: 2 }), (a, b, limit) => {
      const prefixes = Array.from({ length: b.length + 1 }, (_, end) => b.slice(0, end))
      const leastDistance = Math.min(...prefixes.map((prefix) => fullMatrix(a, prefix)))
      assert.equal(prefixEditDistance(a, b, limit), Math.min(limit + 1, leastDistance))
    }),
    { numRuns: 2000 },
  )
})

test('the lower bound equals the full matrix for Latin words of up to 31 letters', () => {
  const bound = new EditDistanceLowerBound()
  const wordOfLength = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'z'), minLength: 1, maxLength })
  fc.assert(
    fc.property(wordOfLength(31), fc.array(wordOfLength(40), { minLength: 1, maxLength: 3 }), (a, others) => {
      bound.setWord(a)
      for (const b of others) assert.equal(bound.to(b), fullMatrix(a, b))
    }),
    { numRuns: 500 },
  )
})

test('the lower bound is too low, never too high, for colliding letters and long words', () => {
  const bound = new EditDistanceLowerBound()
  bound.setWord('aब')
  assert.equal(bound.to('aଭ'), fullMatrix('aब', 'aଭ'))
  assert.equal(bound.to('a\u0a2c'), 0)
  bound.setWord('a'.repeat(32))
  assert.equal(bound.to('b'), 0)
  bound.setWord('welding')
  assert.equal(bound.to('wedling'), 1)
})

function fullMatrix(a: string, b: string): number {
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
