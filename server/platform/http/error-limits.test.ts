import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { findErrors } from './error-limits.ts'

const noOtherProperties = { additionalProperties: false }
const Item = Type.Object({ id: Type.String(), name: Type.String(), count: Type.Integer() }, noOtherProperties)
const schema: TSchema = Type.Object({ list: Type.Array(Item, { maxItems: 2000 }) }, noOtherProperties)
const validator = Compile(schema)

function countErrorsByItem(list: unknown[]): Map<string, number> {
  const errors = findErrors(validator, schema, { list })
  const counts = new Map<string, number>()
  for (const { instancePath } of errors) {
    const itemIndex = instancePath.split('/')[2]!
    counts.set(itemIndex, (counts.get(itemIndex) ?? 0) + 1)
  }
  return counts
}

test('a list with more errors than the maximum still has one error for each invalid item', () => {
  const list = Array.from({ length: 2000 }, (_, index) =>
    index === 1900 ? { id: '', name: '', count: 1 } : { x: 1, y: 2 },
  )
  const counts = countErrorsByItem(list)
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

test('a validation that runs during another one does not affect it', () => {
  const countErrorsOfSmallList = () => countErrorsByItem([{ id: 1, name: 2, count: 'x' }]).get('0')
  const countAlone = countErrorsOfSmallList()
  const countsDuring: unknown[] = []
  // Reading this property runs another validation during the one that reads it.
  const validatingItem = {
    get id() {
      countsDuring.push(countErrorsOfSmallList())
      return 1
    },
  }
  const list = Array.from({ length: 2000 }, () => ({ x: 1, y: 2 }) as object)
  list[1999] = validatingItem
  countErrorsByItem(list)
  assert.ok(countsDuring.length > 0)
  assert.deepEqual(new Set(countsDuring), new Set([countAlone]))
  assert.equal(countErrorsOfSmallList(), countAlone)
})
