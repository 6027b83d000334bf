import { readFileSync } from 'node:fs'

// The requests of the Postman and Bruno collections, read from openapi/*.json.

export interface CollectionFolder {
  name: string
  description: string
  /** Whether the requests are signed with a partner key. */
  isSigned: boolean
  groups: { name: string; requests: CollectionRequest[] }[]
}

export interface CollectionRequest {
  name: string
  operationId: string
  description: string
  method: string
  /** Path with variables, such as `/api/v1/partner/mandates/{{mandate_id}}`. */
  path: string
  query: Field[]
  headers: Field[]
  /** Formatted JSON; undefined without a body. */
  body: string | undefined
}

/** A query parameter or a header. Optional ones are disabled, until the user enables them. */
export interface Field {
  name: string
  value: string
  description: string
  isEnabled: boolean
}

/** Variables that the user sets. All others are IDs in paths, whose initial values are examples. */
export const userVariables = [
  { name: 'baseUrl', value: 'http://127.0.0.1:8080', isSecret: false, description: 'URL of the server.' },
  { name: 'keyId', value: '', isSecret: false, description: 'ID of a partner key, VFN_TEST_…' },
  { name: 'secret', value: '', isSecret: true, description: 'Secret of the partner key, VFN_SK_…' },
  { name: 'sessionKey', value: '', isSecret: true, description: 'Session key, VSK_TEST_…' },
  { name: 'sessionToken', value: '', isSecret: true, description: 'Session token; set by “Open a session”.' },
  { name: 'adminKey', value: '', isSecret: true, description: 'Admin key of the catalogue, for operators.' },
]

const apis = [
  { file: 'partner', name: 'Partner API' },
  { file: 'verification', name: 'Verification sessions' },
  { file: 'catalogue', name: 'Skill catalogue' },
]

/** Headers of security schemes that are not signatures, with the variable that contains their value. */
const schemeHeaders: Record<string, { header: string; variable: string }> = {
  key: { header: 'x-api-key', variable: 'sessionKey' },
  session: { header: 'x-session-token', variable: 'sessionToken' },
  admin: { header: 'x-api-key', variable: 'adminKey' },
}

type Security = Record<string, unknown>[]

interface DescribedParameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: { $ref?: string; examples?: unknown[] }
}

interface Description {
  info: { description: string }
  security: Security
  tags: { name: string }[]
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        tags: string[]
        summary: string
        description: string
        security?: Security
        parameters?: DescribedParameter[]
        requestBody?: { content: Record<string, { example: unknown }> }
      }
    >
  >
  components: {
    parameters?: Record<string, DescribedParameter>
    schemas: Record<string, { examples?: unknown[] }>
  }
}

/** Returns the folders of the collections, and the variables of paths with their examples. */
export function readRequests(): { folders: CollectionFolder[]; pathVariables: Map<string, string> } {
  const pathVariables = new Map<string, string>()
  const folders = apis.map(({ file, name }): CollectionFolder => {
    const text = readFileSync(new URL(`../../openapi/${file}.json`, import.meta.url), 'utf8')
    const description = JSON.parse(text) as Description
    const requests = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const parameters = resolveParameters(description, operation.parameters)
        for (const { name, place, example } of parameters)
          if (place === 'path' && !userVariables.some((variable) => variable.name === name))
            pathVariables.set(name, example)
        return {
          tag: operation.tags[0]!,
          request: {
            name: operation.summary,
            operationId: operation.operationId,
            description: operation.description,
            method: method.toUpperCase(),
            path: path.replaceAll(/\{(\w+)\}/g, '{{$1}}'),
            query: parameters
              .filter(({ place }) => place === 'query')
              .map(({ name, required, description, example }) => ({
                name,
                value: example,
                description,
                isEnabled: required,
              })),
            headers: [
              ...credentialHeaders(operation.security ?? description.security),
              ...parameters
                .filter(({ place }) => place === 'header')
                .map(({ name, description }) => ({
                  name,
                  value: name === 'Idempotency-Key' ? '{{idempotencyKey}}' : '',
                  description,
                  isEnabled: name === 'Idempotency-Key',
                })),
            ],
            body: formatBody(operation.requestBody?.content['application/json']?.example),
          },
        }
      }),
    )
    return {
      name,
      description: description.info.description.split('\n')[0]!,
      isSigned: description.security.some((schemes) => 'signature' in schemes),
      groups: description.tags.map((tag) => ({
        name: tag.name,
        requests: requests.filter((each) => each.tag === tag.name).map(({ request }) => request),
      })),
    }
  })
  return { folders, pathVariables }
}

function resolveParameters({ components }: Description, parameters: DescribedParameter[] = []) {
  return parameters.map((parameter) => {
    const resolved = parameter.$ref ? components.parameters![nameOf(parameter.$ref)]! : parameter
    const { name, in: place, required = false, description = '', schema } = resolved
    const example = (schema.$ref ? components.schemas[nameOf(schema.$ref)]! : schema).examples?.[0] ?? ''
    return { name, place, required, description, example: String(example) }
  })
}

/** Returns the headers of the first way to authenticate. Signatures are added by a script. */
function credentialHeaders([schemes = {}]: Security): Field[] {
  return Object.keys(schemes)
    .filter((scheme) => !('signature' in schemes) && schemeHeaders[scheme])
    .map((scheme) => {
      const { header, variable } = schemeHeaders[scheme]!
      return { name: header, value: `{{${variable}}}`, description: '', isEnabled: true }
    })
}

function formatBody(example: unknown): string | undefined {
  return example === undefined ? undefined : JSON.stringify(example, null, 2)
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
