import type { JsonObject } from '../server/platform/json.ts'
import { describeConnectionError } from './connection-error.ts'

/** The parts of an OpenAPI description that commands read. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonObject> }
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema: JsonObject; description?: string }[]
  requestBody?: { required?: boolean; content: Record<string, MediaType> }
}

interface MediaType {
  schema: JsonObject
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

/** Reads the description of the partner API from the server that is called. */
export async function readOpenApi(baseUrl: string): Promise<OpenApi> {
  const url = new URL('docs/openapi/partner.json', `${baseUrl}/`)
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) }).catch((error) => {
    throw new Error(describeConnectionError(baseUrl, error))
  })
  if (!response.ok) throw new Error(`Reading the API description ${url} failed with status ${response.status}`)
  return (await response.json()) as OpenApi
}

/** Returns a sample of each event type. */
export function sampleEvents({ webhooks = {} }: OpenApi): Map<string, JsonObject> {
  const samples = new Map<string, JsonObject>()
  for (const [type, { post }] of Object.entries(webhooks)) {
    const media = post?.requestBody?.content['application/json']
    const value = media?.example ?? Object.values(media?.examples ?? {})[0]?.value
    if (value) samples.set(type, value as JsonObject)
  }
  return samples
}
