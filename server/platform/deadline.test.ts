import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDeadline } from './deadline.ts'

test('the outcome of work that ends before the deadline is returned', async () => {
  assert.equal(await withDeadline(Promise.resolve(7), 1000), 7)
  await assert.rejects(withDeadline(Promise.reject(new Error('broken')), 1000), /broken/)
})

test('work that takes too long is rejected, and its later failure is ignored', async () => {
  const work = Promise.withResolvers<void>()
  await assert.rejects(withDeadline(work.promise, 5), /no response within 5 ms/)
  work.reject(new Error('late'))
})
