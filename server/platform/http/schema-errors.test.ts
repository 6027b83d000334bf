import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { findSchemaErrors, pathKeys, type RequestValueSchema } from './schema-errors.ts'
import { compileRequestValidator } from './validation.ts'

const noOtherProperties = { additionalProperties: false }
const ExistingSkill = Type.Object({ id: Type.String(), checked: Type.Optional(Type.Boolean()) }, noOtherProperties)
const RequestedSkill = Type.Object(
  { name: Type.String({ minLength: 2 }), pending: Type.Literal(true) },
  noOtherProperties,
)
const validate = compileRequestValidator({
  body: Type.Object({ list: Type.Array(Type.Union([ExistingSkill, RequestedSkill])) }, noOtherProperties),
})

function pathsOf(...list: unknown[]): string[] {
  const errors = validate({ params: {}, query: {}, body: { list }, rawBody: Buffer.alloc(0) })
  return [...new Set(errors.map(({ detail }) => detail.path))].sort()
}

test('errors refer to the union member that the value is closest to', () => {
  assert.deepEqual(pathsOf({ id: 'x' }, { name: 'ab', pending: true }), [])
  assert.deepEqual(pathsOf({}), ['list[0].id'])
  assert.deepEqual(pathsOf({ id: 1 }), ['list[0].id'])
  assert.deepEqual(pathsOf({ id: 'x', checked: 'yes' }), ['list[0].checked'])
  assert.deepEqual(pathsOf({ id: 'x', pending: true }), ['list[0].pending'])
  assert.deepEqual(pathsOf('x'), ['list[0]'])
  assert.deepEqual(pathsOf({ name: 'a' }), ['list[0].name', 'list[0].pending'])
  assert.deepEqual(pathsOf({ pending: 'x' }), ['list[0].name', 'list[0].pending'])
  for (const pending of [false, 'true', 1, null]) {
    assert.deepEqual(pathsOf({ name: 'ab', pending }), ['list[0].pending'], `${pending}`)
    assert.deepEqual(pathsOf({ name: 'a', pending }), ['list[0].name', 'list[0].pending'], `${pending}`)
  }
})

test('each item of a list has its own closest union member', () => {
  const validItems = Array.from({ length: 8 }, () => ({ id: 'x' }))
  assert.deepEqual(
    pathsOf({ id: 'x' }, { id: 1 }, ...validItems, { name: 'ab', pending: 1 }, { name: 1, pending: true }),
    ['list[10].pending', 'list[11].name', 'list[1].id'],
  )
})

const rowSchema = Type.Object({ id: Type.String(), name: Type.String(), count: Type.Integer() }, noOtherProperties)
const listSchema: RequestValueSchema = Type.Object(
  { list: Type.Array(rowSchema, { maxItems: 1000 }) },
  noOtherProperties,
)

test('a list with more errors than are collected in detail still has one error for each invalid item', () => {
  const list = Array.from({ length: 1000 }, (_, index) =>
    index === 900 ? { id: '', name: '', count: 1 } : { id: 1, name: 2, count: 'x' },
  )
  const countsByIndex = new Map<string | number, number>()
  for (const { path } of findSchemaErrors(listSchema, { list })) {
    const index = pathKeys(path)[1]!
    countsByIndex.set(index, (countsByIndex.get(index) ?? 0) + 1)
  }
  assert.equal(countsByIndex.size, 999)
  assert.equal(countsByIndex.get(0), 3)
  assert.equal(countsByIndex.get(999), 1)
  assert.equal(countsByIndex.has(900), false)
})

test('the items of a list that is too long are not checked', () => {
  const list = Array.from({ length: 1001 }, () => ({}))
  const keywords = findSchemaErrors(listSchema, { list }).map(({ keyword }) => keyword)
  assert.deepEqual(keywords, ['maxItems'])
})

test('of many unknown properties, the first hundred are named and the others counted', () => {
  const body = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`p${index}`, 1]))
  const validateList = compileRequestValidator({ body: listSchema })
  const errors = validateList({ params: {}, query: {}, body, rawBody: Buffer.alloc(0) }).map(({ detail }) => detail)
  assert.equal(errors.filter(({ message }) => message === 'is not a known property').length, 100)
  assert.deepEqual(errors.at(-1), { path: 'body', message: 'has 50 more unknown properties' })
})
