import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildModel, findType, readModel, resolveAlias } from './model.ts'

const model = readModel()
const findMethod = (resource: string, method: string) =>
  model.resources.find(({ name }) => name === resource)?.methods.find(({ name }) => name === method)

test('methods state their path, body, pagination, idempotency and credential', () => {
  const create = findMethod('campaigns', 'create')!
  assert.deepEqual(
    [create.httpMethod, create.path, create.idempotencyKey, create.auth, create.body],
    [
      'POST',
      '/api/v1/partner/campaigns',
      'required',
      'signature',
      { type: { kind: 'ref', name: 'CampaignInput' }, required: true },
    ],
  )
  assert.deepEqual(findMethod('mandates', 'list')!.pagination, {
    style: 'cursor',
    itemType: { kind: 'ref', name: 'Mandate' },
  })
  assert.equal(findMethod('catalogue', 'searchSkills')!.pagination!.style, 'page')
  assert.equal(findMethod('shifts', 'list')!.pagination!.style, 'single')
  assert.equal(findMethod('sessions', 'open')!.auth, 'sessionKey')
  assert.equal(findMethod('assessments', 'generate')!.auth, 'sessionToken')
  assert.equal(findMethod('catalogue', 'getTotals')!.auth, 'adminKey')
  assert.equal(findMethod('items', 'importItems')!.operationId, 'importItems') // `import` is a keyword
})

test('every type that is referenced exists, and objects are always named', () => {
  const references = JSON.stringify(model.types).matchAll(/"kind":"ref","name":"(\w+)"/g)
  for (const [, name] of references) assert.ok(findType(model, name!))
  assert.deepEqual(resolveAlias(model, { kind: 'ref', name: 'Mode' }), { kind: 'enum', values: ['test', 'live'] })
})

test('each event type has a named schema, and a pulled event has the properties of all of them', () => {
  const eventType = resolveAlias(model, { kind: 'ref', name: 'EventType' })
  assert.ok(eventType.kind === 'enum')
  assert.deepEqual(model.events.map(({ type }) => type).sort(), [...eventType.values].sort())
  const event = findType(model, 'Event')
  assert.ok(event.kind === 'object')
  const names = event.properties.map(({ name }) => name)
  for (const name of ['event_id', 'type', 'data', 'delivery']) assert.ok(names.includes(name), name)
})

test('schemas of two APIs with the same name and different properties get different names', () => {
  const documentWith = (prefix: string, property: string) => ({
    info: { version: '1' },
    paths: {
      [`${prefix}/things`]: {
        get: {
          operationId: 'getThing',
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          },
        },
      },
    },
    components: { schemas: { Thing: { type: 'object', properties: { [property]: { type: 'string' } } } } },
  })
  const { types } = buildModel([
    { api: 'partner', document: documentWith('/api/v1/partner', 'one') },
    { api: 'catalogue', document: documentWith('/api', 'two') },
  ])
  assert.deepEqual(
    types.map((type) => [type.name, type.kind === 'object' && type.properties[0]!.name]),
    [
      ['CatalogueThing', 'two'],
      ['Thing', 'one'],
    ],
  )
})
