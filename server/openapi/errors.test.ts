import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { catalogueErrorCodes, partnerErrorCodes, verificationErrorCodes } from '../api/problem.ts'
import { describeApis } from './describe.ts'
import { errorExamples } from './errors.ts'

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

test('the error examples contain messages of the code', async () => {
  const sources = await readSources()
  for (const api of apiNames) {
    for (const [code, { value }] of Object.entries(errorExamples(api))) {
      const { error, message = '' } = value as { error: { message: string }; message?: string }
      // Values that the server inserts, such as IDs and numbers, are not part of the source.
      const parts = (error.message ?? message)
        .split(/[\d"]\S*|[:;,.()]|\b(?:sk|[A-Z]{2})_\S*/)
        .map((part) => part.trim().split(' '))
      const pairs = parts.flatMap((words) => words.slice(1).map((word, index) => `${words[index]} ${word}`))
      const foundCount = pairs.filter((pair) => sources.includes(pair)).length
      assert.ok(foundCount > 0 && foundCount >= pairs.length * 0.4, `${api} ${code}: no source contains this message`)
    }
  }
})

async function readSources(): Promise<string> {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const texts: string[] = []
  for await (const file of glob('**/*.ts', { cwd: root })) {
    if (!file.startsWith('openapi/') && !file.endsWith('.test.ts')) texts.push(readFileSync(root + file, 'utf8'))
  }
  return texts.join('\n')
}
