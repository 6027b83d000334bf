import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('the entry that was set longest ago is dropped', () => {
  const map = new BoundedMap<string, number>(3)
  map.set('a', 1).set('b', 2).set('c', 3)
  map.set('a', 4)
  map.set('d', 5)
  assert.deepEqual(
    [...map],
    [
      ['c', 3],
      ['a', 4],
      ['d', 5],
    ],
  )
})

test('setting an existing key again drops no other key', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('b', 3)
  assert.deepEqual([map.size, map.get('a'), map.get('b')], [2, 1, 3])
})
