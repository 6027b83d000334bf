import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { RouteOptions } from 'fastify'
import type { RequestSchema } from '../../server/platform/http/validation.ts'
import { startApp } from '../support/app.ts'

const FILE = new URL('routes.txt', import.meta.url)
const UPDATE_COMMAND = 'UPDATE_ROUTES=1 npm test -- test/contract/routes.test.ts'

interface Schema {
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  type?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  [keyword: string]: unknown
}

/** Keywords that describe a value without restricting it, and those that `render` shows in the form of TypeScript. */
const OMITTED_KEYWORDS = new Set([
  ...['title', 'description', 'examples', 'deprecated', '$id'],
  ...['type', 'items', 'properties', 'required', 'additionalProperties'],
])

/** Returns a schema in one line: similar to a TypeScript type, with the limits of each value in parentheses. */
function render(schema: Schema): string {
  if ('const' in schema) return JSON.stringify(schema.const)
  const limits = Object.entries(schema)
    .filter(([keyword]) => !OMITTED_KEYWORDS.has(keyword) && keyword !== 'enum' && keyword !== 'anyOf')
    .map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`)
    .sort()
  const suffix = limits.length > 0 ? ` (${limits.join(', ')})` : ''
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ') + suffix
  if (schema.anyOf) return schema.anyOf.map(render).join(' | ') + suffix
  if (schema.type === 'array') return `[${render(schema.items ?? {})}]${suffix}`
  if (schema.type !== 'object') return (schema.type ?? 'any') + suffix
  const { properties = {}, required = [], additionalProperties = true } = schema
  const fields = Object.entries(properties).map(
    ([name, value]) => `${name}${required.includes(name) ? '' : '?'}: ${render(value)}`,
  )
  if (additionalProperties === true) fields.push('…')
  else if (additionalProperties) fields.push(`…: ${render(additionalProperties)}`)
  return `{ ${fields.join('; ')} }${suffix}`
}

/** Returns the settings of a route that decide who may call it and how often, and its request schemas unless OpenAPI describes them. */
function describeRoute({ url, schema = {}, config = {} }: RouteOptions, method: string): string[] {
  const settings = Object.entries(config)
    .filter(([, value]) => typeof value !== 'function' && value !== undefined)
    .filter(([name]) => !['validator', 'errors', 'url', 'method', 'readsReplica'].includes(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .sort()
  const lines = [`${method} ${url}${settings.length > 0 ? `: ${settings.join(', ')}` : ''}`]
  if ('operationId' in schema) return lines
  for (const part of ['params', 'querystring', 'body'] as const) {
    const partSchema = (schema as RequestSchema)[part]
    if (partSchema) lines.push(`  ${part} ${render(partSchema as Schema)}`)
  }
  return lines
}

test('the access, rate limits and request limits of every route are those of the reviewed list', async (t) => {
  const routes: { name: string; lines: string[] }[] = []
  await startApp(t, {
    extend: (app) =>
      app.addHook('onRoute', (route) => {
        for (const method of [route.method].flat())
          if (method !== 'HEAD') routes.push({ name: `${route.url} ${method}`, lines: describeRoute(route, method) })
      }),
  })
  routes.sort((a, b) => (a.name < b.name ? -1 : 1))
  const text = `${routes.flatMap(({ lines }) => lines).join('\n')}\n`
  if (process.env.UPDATE_ROUTES) await writeFile(FILE, text)
  const expected = await readFile(FILE, 'utf8')
  assert.deepEqual(
    text.split('\n'),
    expected.split('\n'),
    `routes.txt differs. If the change is intended, run ${UPDATE_COMMAND}, review the difference and commit it.`,
  )
})
