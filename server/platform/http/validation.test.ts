import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { compileRequestValidator, describePattern } from './validation.ts'

const validate = compileRequestValidator({
  params: Type.Object({ mandate_id: Type.String({ pattern: '^JM_[A-Z0-9]{10,40}$' }) }),
  querystring: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    order: Type.Optional(Type.Union([Type.Literal('newest'), Type.Literal('oldest')])),
  }),
  body: Type.Object({
    phone: Type.String({ pattern: describePattern('^\\+\\d+$', 'must be a phone number') }),
    years: Type.Optional(Type.Integer()),
    mandate_id: Type.Optional(Type.String({ pattern: '^JM_[A-Z0-9]{10,40}$' })),
    list: Type.Optional(Type.Array(Type.String(), { uniqueItems: true })),
  }),
})

function errorMessages(parts: { params?: object; query?: object; body?: unknown }): string[] {
  const request = { params: { mandate_id: 'JM_0123456789' }, query: {}, body: { phone: '+1' }, ...parts }
  return validate({ ...request, rawBody: Buffer.alloc(0) }).map(({ detail }) => `${detail.path}: ${detail.message}`)
}

test('messages name the expected format and the received value of parameters', () => {
  assert.deepEqual(errorMessages({}), [])
  assert.deepEqual(errorMessages({ params: { mandate_id: '4711' } }), [
    'path.mandate_id: must be a mandate ID such as JM_01HZX…; got "4711"',
  ])
  assert.deepEqual(errorMessages({ query: { limit: 'ten' } }), ['query.limit: must be a whole number; got "ten"'])
  assert.deepEqual(errorMessages({ query: { limit: '0' } }), ['query.limit: must be at least 1; got 0'])
  assert.deepEqual(errorMessages({ query: { order: 'up' } }), [
    'query.order: must be one of "newest", "oldest"; got "up"',
  ])
})

test('messages for a body show IDs and numbers, but no texts that may be personal data', () => {
  assert.deepEqual(errorMessages({ body: { phone: 'Asha' } }), ['phone: must be a phone number'])
  assert.deepEqual(errorMessages({ body: { phone: 919990000001 } }), ['phone: must be a string; got a number'])
  assert.deepEqual(errorMessages({ body: { phone: '+1', years: 1.5 } }), ['years: must be a whole number; got 1.5'])
  assert.deepEqual(errorMessages({ body: { phone: '+1', years: 'two' } }), [
    'years: must be a whole number; got a string',
  ])
  assert.deepEqual(errorMessages({ body: { phone: '+1', mandate_id: 'x' } }), [
    'mandate_id: must be a mandate ID such as JM_01HZX…; got "x"',
  ])
  assert.deepEqual(errorMessages({ body: { phone: '+1', list: ['a', 'a'] } }), [
    'list: must not contain duplicate items',
  ])
  assert.deepEqual(errorMessages({ body: [] }), ['body: must be an object with phone; got an array'])
})

test('an unknown property gets a list of up to twelve properties, and a hint if one has a similar name', () => {
  const names = Array.from({ length: 13 }, (_, index) => `property_${'abcdefghijklm'[index]}`)
  const messageFor = (name: string, count: number) => {
    const properties = Object.fromEntries(names.slice(0, count).map((known) => [known, Type.Optional(Type.String())]))
    const validateBody = compileRequestValidator({ body: Type.Object(properties, { additionalProperties: false }) })
    const request = { params: {}, query: {}, body: { [name]: 'x' }, rawBody: Buffer.alloc(0) }
    return validateBody(request).map(({ detail }) => detail.message)
  }
  assert.deepEqual(messageFor('other', 1), ['is not a known property; expected property_a'])
  assert.deepEqual(messageFor('other', 12), [
    `is not a known property; expected one of ${names.slice(0, 12).join(', ')}`,
  ])
  assert.deepEqual(messageFor('other', 13), ['is not a known property'])
  assert.deepEqual(messageFor('propertya', 13), ['is not a known property; did you mean property_a?'])
})

test('a long value is not repeated', () => {
  assert.deepEqual(errorMessages({ params: { mandate_id: 'x'.repeat(100) } }), [
    'path.mandate_id: must be a mandate ID such as JM_01HZX…; got a string',
  ])
})

test('every limit has a message, with the noun in singular or plural, and its bounds are allowed', () => {
  const limits = compileRequestValidator({
    body: Type.Object({
      text: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
      code: Type.Optional(Type.String({ minLength: 2, pattern: '^[a-z]+$' })),
      letter: Type.Optional(Type.String({ maxLength: 1 })),
      list: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2 })),
      pair: Type.Optional(Type.Array(Type.Integer(), { minItems: 2 })),
      single: Type.Optional(Type.Array(Type.Integer(), { maxItems: 1 })),
      count: Type.Optional(Type.Integer({ minimum: 2, maximum: 5 })),
      map: Type.Optional(Type.Object({}, { maxProperties: 1 })),
      time: Type.Optional(Type.String({ format: 'date-time' })),
      fixed: Type.Optional(Type.Literal('yes')),
    }),
  })
  const messagesOf = (body: object) =>
    limits({ params: {}, query: {}, body, rawBody: Buffer.alloc(0) }).map(
      ({ detail }) => `${detail.path}: ${detail.message}`,
    )
  for (const body of [
    { text: 'a', code: 'ab', letter: 'x', list: [1], pair: [1, 2], single: [1], count: 2, map: { a: 1 }, fixed: 'yes' },
    { text: 'abc', letter: '', list: [1, 2], single: [], count: 5, map: {}, time: '2026-03-14T09:30:00Z' },
  ])
    assert.deepEqual(messagesOf(body), [])
  for (const [field, value, message] of [
    ['text', '', 'must have at least 1 character'],
    ['text', 'abcd', 'must have at most 3 characters'],
    ['code', 'a', 'must have at least 2 characters'],
    ['code', 'AB', 'must match the pattern ^[a-z]+$'],
    ['letter', 'xy', 'must have at most 1 character'],
    ['list', [], 'must have at least 1 item'],
    ['list', [1, 2, 3], 'must have at most 2 items'],
    ['pair', [1], 'must have at least 2 items'],
    ['single', [1, 2], 'must have at most 1 item'],
    ['count', 1, 'must be at least 2; got 1'],
    ['count', 6, 'must be at most 5; got 6'],
    ['map', { a: 1, b: 2 }, 'must have at most 1 property'],
    ['time', 'noon', 'must be a time in the format of RFC 3339, such as 2026-03-14T09:30:00Z'],
    ['fixed', 'no', 'must be "yes"; got "no"'],
  ] as const)
    assert.deepEqual(messagesOf({ [field]: value }), [`${field}: ${message}`])
})
