/** The APIs whose operations the page can send. */
export const apis = [
  { slug: 'partner', title: 'Partner API' },
  { slug: 'verification', title: 'Verification sessions' },
  { slug: 'catalogue', title: 'Skill catalogue' },
] as const

export type ApiSlug = (typeof apis)[number]['slug']

/** The credential that a request needs: `signature` is a partner key with its secret. */
export type CredentialKind = 'signature' | 'key' | 'session'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  example: string
}

export interface Operation {
  id: string
  method: string
  /** Path with placeholders, such as `/api/v1/partner/mandates/{mandate_id}`. */
  path: string
  tag: string
  summary: string
  description: string
  parameters: Parameter[]
  /** Example of the body as formatted JSON; undefined without a body. */
  bodyExample: string | undefined
  credentials: CredentialKind[]
}

interface DescribedParameter {
  $ref?: string
  name: string
  in: Parameter['in']
  required?: boolean
  description?: string
  schema: { $ref?: string; examples?: unknown[] }
}

interface DescribedOperation {
  operationId: string
  tags?: string[]
  summary: string
  description?: string
  parameters?: DescribedParameter[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  security?: Record<string, unknown>[]
}

interface Description {
  security: Record<string, unknown>[]
  paths: Record<string, Record<string, DescribedOperation>>
  components: {
    parameters?: Record<string, DescribedParameter>
    schemas: Record<string, { examples?: unknown[] }>
  }
}

/** Loads the operations of an API from its OpenAPI description. Those of the operator are left out: their key is not a TEST key. */
export async function loadOperations(api: ApiSlug): Promise<Operation[]> {
  const response = await fetch(`/docs/openapi/${api}.json`, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The description of the API could not be loaded (status ${response.status}).`)
  const description = (await response.json()) as Description
  const operations: Operation[] = []
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const security = operation.security ?? description.security
      if (security.some((schemes) => 'admin' in schemes)) continue
      operations.push(readOperation(description, method, path, operation))
    }
  }
  return operations
}

function readOperation(
  { security, components }: Description,
  method: string,
  path: string,
  operation: DescribedOperation,
): Operation {
  const body = operation.requestBody?.content['application/json']?.example
  const parameters = (operation.parameters ?? []).map((parameter) => {
    const resolved = parameter.$ref ? components.parameters![nameOf(parameter.$ref)]! : parameter
    const { schema } = resolved
    const example = (schema.$ref ? components.schemas[nameOf(schema.$ref)]! : schema).examples?.[0]
    return {
      name: resolved.name,
      in: resolved.in,
      required: resolved.required ?? false,
      description: resolved.description ?? '',
      example: example === undefined ? '' : String(example),
    }
  })
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags?.[0] ?? 'Other',
    summary: operation.summary,
    description: operation.description ?? '',
    parameters,
    bodyExample: body === undefined ? undefined : JSON.stringify(body, null, 2),
    credentials: credentialsOf(operation.security ?? security),
  }
}

/** Returns the credentials of the first way to authenticate. */
function credentialsOf([schemes = {}]: Record<string, unknown>[]): CredentialKind[] {
  if ('signature' in schemes) return ['signature']
  return (['key', 'session'] as const).filter((kind) => kind in schemes)
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
