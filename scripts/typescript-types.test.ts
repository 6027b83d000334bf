import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonSchema, typeDeclarations, typeOf } from './typescript-types.ts'

const types: [schema: JsonSchema, expected: string][] = [
  [{ type: 'string', format: 'date-time' } as JsonSchema, 'string'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'null' }, 'null'],
  [{}, 'unknown'],
  [{ type: 'boolean', const: true }, 'true'],
  [{ type: 'boolean', enum: [true] }, 'true'],
  [{ enum: ['a', 'b', 'a'] }, '"a" | "b"'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{ oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] }, 'Cat | Dog'],
  [{ allOf: [{ $ref: '#/components/schemas/Cat' }, { enum: [1, 2] }] }, 'Cat & (1 | 2)'],
  [{ type: 'array', items: { type: 'string' } }, 'string[]'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
  [{ type: 'array', items: { enum: ['a|b'] } }, '"a|b"[]'],
  [{ type: 'array', items: { anyOf: [objectWith('a'), objectWith('b')] } }, '({\na: string\n} | {\nb: string\n})[]'],
  [{ type: 'array' }, 'unknown[]'],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
  [{ type: 'object', properties: {}, additionalProperties: true }, 'Record<string, unknown>'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
  [{ type: 'object', patternProperties: { '^.*$': { type: 'number' } } }, 'Record<string, number>'],
  [
    { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: true },
    '{\nid: string\n} & Record<string, unknown>',
  ],
  [
    {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
        required: ['id'],
      },
    },
    '{\nid: string | null\n}[]',
  ],
]

function objectWith(name: string): JsonSchema {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}

for (const [schema, expected] of types) {
  test(`${JSON.stringify(schema)} becomes ${JSON.stringify(expected)}`, () => assert.equal(typeOf(schema), expected))
}

test('objects become interfaces, other schemas type aliases, and descriptions doc comments', () => {
  const declarations = typeDeclarations({
    Cat: {
      type: 'object',
      description: 'Says "meow" */',
      properties: {
        name: { type: 'string', description: 'In one\nword.' },
        'has-tail': { type: 'boolean' },
        mood: { $ref: '#/components/schemas/Mood' },
      },
      required: ['name', 'mood'],
    },
    Mood: { enum: ['good', 'bad'] },
  })
  assert.equal(
    declarations,
    `/** Says "meow" *\\/ */
export interface Cat {
/** In one word. */
name: string
"has-tail"?: boolean
mood: Mood
}

export type Mood = "good" | "bad"
`,
  )
})

test('schemas of another module are imported, not declared again', () => {
  const mood: JsonSchema = { enum: ['good', 'bad'] }
  const cat: JsonSchema = { type: 'object', properties: { mood: { $ref: '#/components/schemas/Mood' } } }
  assert.equal(
    typeDeclarations({ Cat: cat, Mood: mood }, { './moods.ts': { Mood: mood, Hunger: {} } }),
    `import type { Mood } from './moods.ts'

export interface Cat {
mood?: Mood
}
`,
  )
})
