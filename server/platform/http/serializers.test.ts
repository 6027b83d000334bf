import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { createLazySerializers } from './serializers.ts'

function serialize(schema: object, value: unknown) {
  const compile = createLazySerializers()
  return JSON.parse(compile({ schema, method: 'GET', url: '/', httpStatus: '200' } as never)(value))
}

const orNull = (schema: ReturnType<typeof Type.Any> | object) => Type.Union([schema as never, Type.Null()])

test('a value that may be null is serialized as itself or as null', () => {
  const Item = Type.Object({ name: Type.String(), count: Type.Optional(Type.Integer()) })
  const schema = Type.Object({
    text: orNull(Type.String()),
    time: orNull(Type.String({ format: 'date-time' })),
    number: orNull(Type.Number()),
    flag: orNull(Type.Boolean()),
    choice: orNull(Type.Enum(['a', 'b'])),
    item: orNull(Item),
    items: orNull(Type.Array(Item)),
    inner: Type.Array(orNull(Type.String())),
    either: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
  })
  const values = {
    text: 'a "quoted" text',
    time: '2026-11-17T00:00:00.000Z',
    number: 0.5,
    flag: false,
    choice: 'a',
    item: { name: 'x', count: 1 },
    items: [{ name: 'y' }],
    inner: ['z', null],
    either: 3,
  }
  assert.deepEqual(serialize(schema, values), values)
  const nulls = Object.fromEntries(Object.keys(values).map((name) => [name, name === 'inner' ? [null] : null]))
  assert.deepEqual(serialize(schema, nulls), nulls)
})

test('fields that the schema does not name are left out, also in a value that may be null', () => {
  const schema = Type.Object({ item: orNull(Type.Object({ name: Type.String() })) })
  assert.deepEqual(serialize(schema, { item: { name: 'x', secret: 's' }, secret: 's' }), { item: { name: 'x' } })
})

test('an optional value that may be null can be missing', () => {
  const schema = Type.Object({ item: Type.Optional(orNull(Type.String())) })
  assert.deepEqual(serialize(schema, {}), {})
})
