import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueErrorCodes, partnerErrorCodes, verificationErrorCodes } from '../api/problem.ts'
import { describeApis } from './describe.ts'

const codesByApi = { partner: partnerErrorCodes, verification: verificationErrorCodes, catalogue: catalogueErrorCodes }
const apiNames = Object.keys(codesByApi) as (keyof typeof codesByApi)[]

interface ErrorResponse {
  description: string
  content: { 'application/json': { examples: Record<string, object> } }
}

test('every error code is documented for an operation, with its cause and its status', async () => {
  const descriptions = await describeApis()
  for (const api of apiNames) {
    const { paths, components } = descriptions[api]
    const documented = new Map<string, string>()
    for (const path of Object.values(paths)) {
      for (const { responses, operationId } of Object.values(path)) {
        for (const [status, { $ref }] of Object.entries(responses) as [string, { $ref?: string }][]) {
          if (!$ref) continue
          const response = components.responses![$ref.split('/').at(-1) as never] as ErrorResponse
          assert.doesNotMatch(response.description, /undefined/, `${api} ${operationId} ${status}`)
          for (const code of Object.keys(response.content['application/json'].examples)) documented.set(code, status)
        }
      }
    }
    const expected = Object.entries(codesByApi[api]).map(([code, status]) => [code, String(status)])
    assert.deepEqual([...documented].sort(), expected.sort(), api)
  }
})
