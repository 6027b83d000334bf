import { isJsonObject, type JsonObject } from '../../server/platform/json.ts'
import type { OpenApi, Operation } from '../openapi.ts'

/** A tool that sends one request of the partner API. */
export interface ApiTool {
  name: string
  title: string
  description: string
  method: string
  /** Path below /api/v1/partner, with parameters in braces. */
  path: string
  queryNames: string[]
  inputSchema: JsonObject
  /** Whether the request changes nothing. */
  readOnly: boolean
  /** Whether the request archives, revokes or deletes. */
  destructive: boolean
}

const PARTNER_BASE = '/api/v1/partner'

/** Operations that read, although their method is POST. */
const READING_POSTS = new Set(['lookUpSkills', 'matchSkills', 'extractSkills'])

/**
 * Operations that return secrets, change who receives events, send requests to webhook endpoints, acknowledge events of other programs, or
 * change the private questions. They are not offered as tools.
 */
const EXCLUDED_OPERATIONS = new Set([
  'createWebhook',
  'replaceWebhook',
  'archiveWebhook',
  'rotateWebhookSecret',
  'enableWebhook',
  'disableWebhook',
  'testWebhook',
  'replayEvents',
  'acknowledgeEvents',
  'importItems',
  'deleteItem',
])

/** Returns a tool for each operation of the partner API, except the excluded ones. */
export function apiTools(openApi: OpenApi): ApiTool[] {
  return Object.entries(openApi.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { operationId }]) => operationId && !EXCLUDED_OPERATIONS.has(operationId))
      .map(([method, operation]) => apiTool(openApi, path, method.toUpperCase(), operation)),
  )
}

function apiTool(openApi: OpenApi, path: string, method: string, operation: Operation): ApiTool {
  const parameters = (operation.parameters ?? []).filter(({ in: place }) => place === 'path' || place === 'query')
  const body = operation.requestBody?.content['application/json']?.schema
  const properties: JsonObject = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description ? { description } : {}) }]),
  )
  if (body) properties.body = body
  const required = [
    ...parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(body && operation.requestBody?.required ? ['body'] : []),
  ]
  return {
    name: operation.operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: operation.summary,
    description: [operation.summary, operation.description].filter(Boolean).join('. '),
    method,
    path: path.slice(PARTNER_BASE.length),
    queryNames: parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name),
    inputSchema: withDefinitions(openApi, { type: 'object', properties, required, additionalProperties: false }),
    readOnly: method === 'GET' || READING_POSTS.has(operation.operationId),
    destructive: method === 'DELETE' || /revoke/i.test(operation.operationId),
  }
}

/** Adds the named schemas that a schema uses, so that it is complete without the API description. */
function withDefinitions(openApi: OpenApi, schema: JsonObject): JsonObject {
  const definitions: JsonObject = {}
  const resolved = replaceReferences(schema) as JsonObject
  return Object.keys(definitions).length > 0 ? { ...resolved, $defs: definitions } : resolved

  function replaceReferences(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replaceReferences)
    if (!isJsonObject(value)) return value
    const name = typeof value.$ref === 'string' ? value.$ref.split('/').at(-1)! : undefined
    if (name !== undefined) {
      if (!Object.hasOwn(definitions, name)) {
        definitions[name] = true // ends recursion; replaced below
        definitions[name] = replaceReferences(openApi.components.schemas[name])
      }
      return { ...value, $ref: `#/$defs/${name}` }
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceReferences(item)]))
  }
}

/** Returns the path and the query of a request. */
export function targetOf({ path, queryNames }: ApiTool, input: JsonObject): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const query = new URLSearchParams(
    queryNames.flatMap((name) => (input[name] === undefined ? [] : [[name, String(input[name])] as [string, string]])),
  )
  return query.size > 0 ? `${filled}?${query}` : filled
}

/** Returns what is wrong with the input, or undefined. The server validates the values. */
export function findInputError(tool: ApiTool, input: JsonObject): string | undefined {
  const missing = missingParameters(tool, input)
  if (missing.length > 0) return `Missing or invalid parameters: ${missing.join(', ')}.`
  const { properties, required } = tool.inputSchema as { properties: JsonObject; required: string[] }
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  const needsBody = required.includes('body') && input.body === undefined
  if (unknown.length === 0 && !needsBody) return undefined
  const hint = Object.hasOwn(properties, 'body')
    ? `Put the fields of the request into "body", such as { "body": { "${unknown[0] ?? 'name'}": … } }.`
    : `Expected: ${Object.keys(properties).join(', ') || 'none'}.`
  return unknown.length > 0 ? `Unknown parameters: ${unknown.join(', ')}. ${hint}` : hint
}

/** Returns the names of path parameters that the input does not have, or that would lead to another path. */
function missingParameters({ path }: ApiTool, input: JsonObject): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)]
    .map((match) => match[1]!)
    .filter((name) => !input[name] || /^\.\.?$/.test(String(input[name])))
}
