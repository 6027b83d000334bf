import { readFile } from 'node:fs/promises'
import { headingId } from './heading-id.ts'

/** Path of the API reference. `?api=SLUG` selects one of the APIs. */
export const API_REFERENCE_PATH = '/docs/api/'

/** Path of the page that sends signed TEST requests, web/try-request. */
export const TRY_REQUEST_PATH = '/docs/try'

export const apiDescriptions = [
  { title: 'Partner API', slug: 'partner', url: '/docs/openapi/partner.json' },
  { title: 'Verification sessions', slug: 'verification', url: '/docs/openapi/verification.json' },
  { title: 'Skill catalogue', slug: 'catalogue', url: '/docs/openapi/catalogue.json' },
]

/** A JSON Schema, or a reference to one. Only the keywords that the descriptions use are listed. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

export interface Content {
  schema?: Schema
  example?: unknown
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
}

export interface Response {
  description: string
  content?: Record<string, Content>
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, Content> }
  responses?: Record<string, Response | { $ref: string }>
  'x-codeSamples'?: { label: string; source: string }[]
}

export interface OpenApiDescription {
  info: { title: string; description: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

export async function readApiDescription(slug: string): Promise<OpenApiDescription> {
  return JSON.parse(await readFile(new URL(`../../openapi/${slug}.json`, import.meta.url), 'utf8'))
}

/** Returns the operations with a tag. A webhook has no path: its requests are sent to the endpoint of the partner. */
export function operationsWithTag({ paths, webhooks = {} }: OpenApiDescription, tag: string) {
  const listOperations = (byPath: Record<string, Record<string, Operation>>) =>
    Object.entries(byPath).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { tags }]) => tags[0] === tag)
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
  return { calls: listOperations(paths), webhooks: listOperations(webhooks) }
}

export function tagPath(slug: string, tag: string): string {
  return `${API_REFERENCE_PATH}${slug}/${headingId(tag)}`
}
