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

test('additions break no client', () => {
  const changes = changesAfter(({ paths, components }) => {
    paths['/api/v1/partner/new'] = { get: { operationId: 'getNew', responses: {} } }
    components.schemas.Mandate.properties.note = { type: 'string' }
    components.schemas.MandateInput.properties.note = { type: 'string' }
    components.schemas.MandateStatus.enum.push('paused')
    components.schemas.MandateInput.properties.title.maxLength = 500
  })
  assert.deepEqual(changes, [])
})
