import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { findErrors } from './error-limits.ts'

const closed = { additionalProperties: false }
const Item = Type.Object({ id: Type.String(), name: Type.String(), count: Type.Integer() }, closed)
const schema: TSchema = Type.Object({ list: Type.Array(Item, { maxItems: 2000 }) }, closed)
const validator = Compile(schema)

function errorsByItem(list: unknown[]): Map<string, number> {
  const errors = findErrors(validator, schema, { list })
  const counts = new Map<string, number>()
  for (const { instancePath } of errors) {
    const item = instancePath.split('/')[2]!
    counts.set(item, (counts.get(item) ?? 0) + 1)
  }
  return counts
}

test('a list with more errors than are collected still has one for each invalid item', () => {
  const list = Array.from({ length: 2000 }, (_, index) =>
    index === 1900 ? { id: '', name: '', count: 1 } : { x: 1, y: 2 },
  )
  const counts = errorsByItem(list)
  assert.equal(counts.size, 1999)
  assert.equal(counts.get('1899'), 1)
  assert.equal(counts.has('1900'), false)
})

test('a body with thousands of unknown properties has them reported by name', () => {
  const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, 1]))
  const [error, ...others] = findErrors(validator, schema, body)
  assert.equal(others.length, 0)
  assert.equal(error!.keyword, 'additionalProperties')
})

test('validations that overlap do not affect each other', () => {
  const small = () => errorsByItem([{ id: 1, name: 2, count: 'x' }]).get('0')
  const alone = small()
  const during: unknown[] = []
  // Reading this item runs another validation in the middle of the one that reads it.
  const item = {
    get id() {
      during.push(small())
      return 1
    },
  }
  const list = Array.from({ length: 2000 }, () => ({ x: 1, y: 2 }) as object)
  list[1999] = item
  errorsByItem(list)
  assert.ok(during.length > 0)
  assert.deepEqual(new Set(during), new Set([alone]))
  assert.equal(small(), alone)
})
