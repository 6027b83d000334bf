import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Type } from 'typebox'
import { named, withNotes } from '../platform/http/named-schemas.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import { findUndocumented, partsOf, type Schema } from './annotate.ts'
import { SchemaComponents } from './components.ts'
import { describeApis, pageSchemas } from './describe.ts'
import { propertyNotes } from './property-notes.ts'

const descriptions = describeApis()

const Colour = named('TestColour', Type.Enum(['red', 'green'], { description: 'A colour.' }))
const Car = named('TestCar', Type.Object({ colour: Colour, title: Type.String(), second: Type.Optional(Colour) }))

test('named schemas become references, and lists and responses get derived names', () => {
  const components = new SchemaComponents()
  assert.deepEqual(components.replaceNamedSchemas({ schema: success(listOf(Car)) }), {
    schema: { $ref: '#/components/schemas/TestCarListResponse' },
  })
  assert.deepEqual(Object.keys(components.schemas), ['TestCar', 'TestCarList', 'TestCarListResponse', 'TestColour'])
  assert.deepEqual(components.schemas.TestColour, {
    description: 'A colour.',
    type: 'string',
    enum: ['red', 'green'],
  })
  assert.deepEqual(components.schemas.TestCar!.properties, {
    colour: { $ref: '#/components/schemas/TestColour' },
    title: { type: 'string' },
    second: { $ref: '#/components/schemas/TestColour' },
  })
})

test('the notes of a reference do not change the named schema', () => {
  const components = new SchemaComponents()
  const roofColour = withNotes(Colour, { description: 'The colour of the roof.', default: 'red' })
  assert.deepEqual(components.replaceNamedSchemas(roofColour), {
    $ref: '#/components/schemas/TestColour',
    description: 'The colour of the roof.',
    default: 'red',
  })
  assert.equal(components.schemas.TestColour!.description, 'A colour.')
})

test('examples and defaults are data, not schemas', () => {
  const schema = { type: 'object', default: { title: 'Electrician' }, examples: [{ title: 'Electrician' }] }
  const components = new SchemaComponents()
  assert.deepEqual(components.replaceNamedSchemas(schema), schema)
  assert.deepEqual(components.schemas, {})
})

test('two different schemas cannot have the same name', () => {
  assert.throws(() => named('TestCar', Type.String()), /name TestCar/)
  const components = new SchemaComponents()
  components.replaceNamedSchemas(Car)
  assert.throws(() => components.replaceNamedSchemas(Type.String({ title: 'TestCar' })), /name TestCar/)
})

test('a name refers to the same schema in all descriptions and generated types', async () => {
  const { partner, verification, catalogue } = await descriptions
  const { console: consoleSchemas, candidate } = pageSchemas()
  const published = [partner, verification, catalogue].map(({ components }) => components.schemas)
  const shapes = new Map<string, object>()
  for (const schemas of published) {
    for (const [name, schema] of Object.entries(schemas)) {
      assert.deepEqual(schema, shapes.get(name) ?? schema, name)
      shapes.set(name, schema)
    }
  }
  for (const name of Object.keys(consoleSchemas)) {
    if (candidate[name]) assert.deepEqual(consoleSchemas[name], candidate[name], name)
  }
})

test('the descriptions in openapi/ are those of the routes', async () => {
  for (const [api, description] of Object.entries(await descriptions)) {
    const stored = JSON.parse(await readFile(new URL(`../../openapi/${api}.json`, import.meta.url), 'utf8'))
    const { paths, components } = JSON.parse(JSON.stringify(description))
    const help = `openapi/${api}.json is outdated: run npm run openapi`
    assert.deepEqual(paths, stored.paths, help)
    assert.deepEqual(components, stored.components, help)
  }
})

test('every operation has a summary that starts with a verb, and refers to existing components', async () => {
  const verbs =
    /^(Acknowledge|Add|Advance|Archive|Ask|Browse|Choose|Confirm|Correct|Create|Delete|Disable|Enable|Enrol|Erase|Estimate|Export|Extract|Find|Generate|Get|Import|Lift|List|Look up|Match|Merge|Open|Pause|Replace|Replay|Request|Restore|Restrict|Resume|Retry|Revoke|Rotate|Search|Select|Send|Set|State|Store|Submit|Undo|Withdraw) \S.*[^.]$/
  for (const [api, { paths, components }] of Object.entries(await descriptions)) {
    for (const path of Object.values(paths)) {
      for (const { summary, operationId } of Object.values(path) as unknown as Record<string, string>[])
        assert.match(summary ?? '', verbs, `${api} ${operationId}`)
    }
    const references = new Set(JSON.stringify({ paths, components }).match(/#\/components\/\w+\/\w+/g))
    for (const reference of references) {
      const [, , kind, name] = reference.split('/') as [string, string, keyof typeof components, string]
      assert.ok(name in (components[kind] ?? {}), `${api} ${reference}`)
    }
  }
})

test('every property, parameter and header has a description and an example', async () => {
  const help = 'describe it in its schema, or in server/openapi/property-notes.ts'
  for (const [api, { paths, components }] of Object.entries(await descriptions)) {
    const { undescribed, withoutExample } = findUndocumented(components.schemas)
    assert.deepEqual({ undescribed, withoutExample }, { undescribed: [], withoutExample: [] }, `${api}: ${help}`)
    for (const path of Object.values(paths)) {
      for (const { operationId, parameters = [] } of Object.values(path)) {
        for (const { $ref, name, description, schema } of parameters) {
          if ($ref) continue
          assert.ok(description, `${api} ${operationId}: parameter ${name} has no description; ${help}`)
          assert.ok(schema.$ref ?? schema.examples, `${api} ${operationId}: parameter ${name} has no example; ${help}`)
        }
      }
    }
    for (const kind of ['parameters', 'headers'] as const) {
      for (const [name, { description, schema }] of Object.entries<any>(components[kind] ?? {})) {
        const place = `${api} components.${kind}.${name}`
        assert.ok(description, `${place} has no description; add it in server/openapi/describe.ts`)
        assert.ok(schema.examples?.length > 0, `${place} has no example; add it in server/openapi/describe.ts`)
      }
    }
    for (const [name, { description }] of Object.entries<any>(components.securitySchemes ?? {}))
      assert.ok(description, `${api} components.securitySchemes.${name} has no description; add it in info.ts`)
  }
})

test('descriptions are sentences or noun phrases, not noun clauses such as "How many …"', async () => {
  const visit = (node: unknown, path: string) => {
    if (node === null || typeof node !== 'object') return
    for (const [key, value] of Object.entries(node)) {
      if (['example', 'examples', 'x-codeSamples'].includes(key)) continue
      if ((key === 'description' || key === 'summary') && typeof value === 'string')
        assert.doesNotMatch(value, /^(How|What|When|Where|Whether|Which|Who|Whoever|Why)\b/, `${path}/${key}`)
      else visit(value, `${path}/${key}`)
    }
  }
  visit(await descriptions, '')
})

test('property-notes.ts describes only existing properties and parameters', async () => {
  const keys = new Set<string>()
  const addSchema = (schema: Schema, path: string) => {
    keys.add(path)
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      keys.add(name)
      addSchema(property, `${path}.${name}`)
    }
    for (const part of partsOf(schema)) addSchema(part, path)
  }
  for (const { paths, components } of Object.values(await descriptions)) {
    for (const [name, schema] of Object.entries(components.schemas)) addSchema(schema, name)
    for (const { operationId, parameters = [] } of Object.values(paths).flatMap((path) => Object.values(path)))
      for (const { name } of parameters) keys.add(name).add(`${operationId}.${name}`)
  }
  assert.deepEqual(
    Object.keys(propertyNotes).filter((key) => !keys.has(key)),
    [],
  )
})
