import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findBreakingChanges, reduceDescription } from './openapi-compatibility.ts'

const description = JSON.parse(readFileSync(new URL('../openapi/partner.json', import.meta.url), 'utf8'))

function changesAfter(change: (copy: any) => void): string[] {
  const copy = structuredClone(description)
  change(copy)
  return findBreakingChanges(reduceDescription(description) as object, copy)
}

test('changes that can break clients are found', () => {
  const { schemas } = description.components
  assert.ok(schemas.Mandate && schemas.MandateInput)
  const cases: [expected: string, change: (copy: any) => void][] = [
    ['GET /api/v1/partner/shifts was removed', ({ paths }) => delete paths['/api/v1/partner/shifts']],
    ['event mandate.ready was removed', ({ webhooks }) => delete webhooks['mandate.ready']],
    ['Mandate (response).title was removed', ({ components }) => delete components.schemas.Mandate.properties.title],
    [
      'MandateInput (request).openings is required',
      ({ components }) => components.schemas.MandateInput.required.push('openings'),
    ],
    [
      'MandateInput (request).title has a lower maxLength: 100',
      ({ components }) => Object.assign(components.schemas.MandateInput.properties.title, { maxLength: 100 }),
    ],
    [
      'Mandate (response).openings has another type: string, before integer',
      ({ components }) => Object.assign(components.schemas.Mandate.properties.openings, { type: 'string' }),
    ],
    [
      'MandateStatus (response) no longer has the value ready',
      ({ components }) => components.schemas.MandateStatus.enum.splice(1, 1),
    ],
  ]
  for (const [expected, change] of cases) assert.ok(changesAfter(change).includes(expected), expected)
})

test('changes of errors, headers, credentials and scopes that can break clients are found', () => {
  const shifts = ({ paths }: any) => paths['/api/v1/partner/shifts'].get
  const cases: [expected: string, change: (copy: any) => void][] = [
    [
      'POST /api/v1/partner/campaigns no longer returns the error code INSUFFICIENT_CREDITS',
      ({ components }) => delete components.responses.InsufficientCredits.content['application/json'].examples,
    ],
    [
      'GET /api/v1/partner/shifts no longer returns the error code RATE_LIMITED',
      (copy) => delete shifts(copy).responses['429'],
    ],
    [
      'GET /api/v1/partner/shifts returns RATE_LIMITED with the status 420, before 429',
      (copy) => {
        const { responses } = shifts(copy)
        responses['420'] = responses['429']
        delete responses['429']
      },
    ],
    [
      'GET /api/v1/partner/shifts no longer returns the header RateLimit-Limit',
      (copy) => delete shifts(copy).responses['200'].headers['RateLimit-Limit'],
    ],
    [
      'GET /api/v1/partner/shifts requires other credentials: key and timestamp and signature and device, before key and timestamp and signature',
      ({ security }) => Object.assign(security[0], { device: [] }),
    ],
    [
      'GET /api/v1/partner/shifts requires other credentials: device, before key and timestamp and signature',
      (copy) => Object.assign(shifts(copy), { security: [{ device: [] }] }),
    ],
    ['security scheme key was changed or removed', ({ components }) => delete components.securitySchemes.key],
    [
      'security scheme key was changed or removed',
      ({ components }) => Object.assign(components.securitySchemes.key, { name: 'authorization' }),
    ],
    [
      'GET /api/v1/partner/shifts requires the scope shifts:read, before none',
      (copy) => Object.assign(shifts(copy), { 'x-required-scope': 'shifts:read' }),
    ],
    [
      'POST /api/v1/partner/campaigns requires the scope admin, before campaigns:write',
      ({ paths }) => Object.assign(paths['/api/v1/partner/campaigns'].post, { 'x-required-scope': 'admin' }),
    ],
  ]
  for (const [expected, change] of cases) assert.ok(changesAfter(change).includes(expected), expected)
})

test('credentials for an operation that needed none are a change that can break clients', () => {
  const catalogue = JSON.parse(readFileSync(new URL('../openapi/catalogue.json', import.meta.url), 'utf8'))
  const released = reduceDescription(catalogue) as object
  catalogue.paths['/api/skills/search'].get.security = [{ admin: [] }]
  assert.deepEqual(findBreakingChanges(released, catalogue), [
    'GET /api/skills/search requires other credentials: admin, before none',
  ])
})

test('values that are no longer accepted, and responses that can be null, are found', () => {
  const input = ({ components }: any) => components.schemas.MandateInput
  const cases: [expected: string, change: (copy: any) => void][] = [
    [
      'MandateInput (request).title has another format: email, before none',
      (copy) => Object.assign(input(copy).properties.title, { format: 'email' }),
    ],
    [
      'MandateInput (request).skills must have unique items',
      (copy) => Object.assign(input(copy).properties.skills, { uniqueItems: true }),
    ],
    [
      'MandateInput (request).openings has a higher exclusiveMinimum: 5',
      (copy) => Object.assign(input(copy).properties.openings, { exclusiveMinimum: 5 }),
    ],
    [
      'MandateInput (request).openings has another default: 7, before 1',
      (copy) => Object.assign(input(copy).properties.openings, { default: 7 }),
    ],
    [
      'WorkflowInput (request) rejects other properties',
      ({ components }) => Object.assign(components.schemas.WorkflowInput, { additionalProperties: false }),
    ],
    [
      'Mandate (response).location can be null',
      ({ components }) => components.schemas.Mandate.properties.location.anyOf.push({ type: 'null' }),
    ],
  ]
  const before = structuredClone(description)
  before.components.schemas.MandateInput.properties.openings.default = 1
  delete before.components.schemas.WorkflowInput.additionalProperties
  before.components.schemas.Mandate.properties.location = { anyOf: [{ type: 'object' }] }
  for (const [expected, change] of cases) {
    const copy = structuredClone(before)
    change(copy)
    const changes = findBreakingChanges(reduceDescription(before) as object, copy)
    assert.ok(changes.includes(expected), `${expected}\n${changes.join('\n')}`)
  }
})

test('additions break no client', () => {
  const changes = changesAfter(({ paths, components }) => {
    paths['/api/v1/partner/new'] = { get: { operationId: 'getNew', responses: {} } }
    components.schemas.Mandate.properties.note = { type: 'string' }
    components.schemas.MandateInput.properties.note = { type: 'string' }
    components.schemas.MandateStatus.enum.push('paused')
    components.schemas.MandateInput.properties.title.maxLength = 500
    const { get } = paths['/api/v1/partner/shifts']
    get.security = [...description.security, { session: [] }]
    get.responses['418'] = { content: { 'application/json': { examples: { TEAPOT: {} } } } }
    get.responses['200'].headers['x-new'] = { schema: { type: 'string' } }
    delete paths['/api/v1/partner/campaigns'].post['x-required-scope']
  })
  assert.deepEqual(changes, [])
})
