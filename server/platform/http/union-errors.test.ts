import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
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
