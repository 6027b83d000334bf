import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeTime } from 'ulid'
import { newId, randomCode } from './ids.ts'

test('IDs are ordered by the time they are created with, even if the calls are not', () => {
  const times = [105, 100, 105, 103, 100, 104]
  const ids = times.map((time) => newId('X_', time))
  assert.deepEqual(
    ids.map((id) => decodeTime(id.slice(2))),
    times,
  )
  assert.deepEqual(
    ids.toSorted().map((id) => times[ids.indexOf(id)]),
    times.toSorted(),
  )
})

test('IDs with the same time increase in the order of the calls', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => {
    newId('X_', index % 20) // other times in between
    return newId('X_', 5)
  })
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
})

test('each character of a code is one of 32, so that it has five random bits', () => {
  assert.equal(new Set(randomCode(5000)).size, 32)
  assert.match(randomCode(26), /^[A-HJ-NP-Z0-9]{26}$/)
})
