import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { type Api, errorEnvelope } from './api/envelope.ts'
import { problem } from './api/problem.ts'
import { apis } from './app.ts'
import { candidateRoutes } from './campaigns/candidate-page/routes.ts'
import { CandidatePageError } from './campaigns/candidate-page/schema.ts'
import { consoleRoutes } from './console/routes.ts'
import type { Context } from './context.ts'
import { candidateCredentialRoutes } from './credentials/consent-routes.ts'
import { holderRoutes } from './credentials/holder-routes.ts'
import { SchemaComponents } from './openapi-components.ts'
import { apiInfo } from './openapi-info.ts'
import type { App } from './platform/http/server.ts'

const OPENAPI_VERSION = '3.1.0'

type ApiName = keyof typeof apis
export type Schemas = Record<string, object>

export interface Description {
  openapi: string
  info: object
  servers: object[]
  tags: object[]
  security: object[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Schemas; securitySchemes: object; responses: object; parameters?: object }
}

interface Operation {
  requestBody?: { required?: boolean; content: Record<string, { schema: BodySchema }> }
  responses: Record<string, object>
  parameters?: { $ref?: string; name: string; required?: boolean; schema: { default?: unknown } }[]
  security?: object[]
}

interface BodySchema {
  properties?: object
  default?: unknown
}

/** Returns the OpenAPI descriptions of the three APIs. Needs no database: no handler runs. */
export async function describeApis(): Promise<Record<ApiName, Description>> {
  const descriptions = {} as Record<ApiName, Description>
  for (const name of Object.keys(apis) as ApiName[]) descriptions[name] = await describeApi(name)
  return descriptions
}

async function describeApi(name: ApiName): Promise<Description> {
  const { title, description, securitySchemes, security, tags } = apiInfo[name]
  const app = fastify() as unknown as App
  app.setValidatorCompiler((() => () => true) as never)
  await app.register(
    swagger as never,
    {
      openapi: {
        openapi: OPENAPI_VERSION,
        components: { securitySchemes },
      },
      transform: ({ schema, url, route }: { schema: RouteSchema; url: string; route: { config?: RouteConfig } }) => ({
        url,
        schema: name === 'partner' ? withRequirements(schema, route.config ?? {}) : schema,
      }),
    } as never,
  )
  app.register(async (scope) => apis[name].routes(scope as App, {} as Context), { prefix: apis[name].base })
  await app.ready()
  const generated = (app as unknown as { swagger(): Description }).swagger()
  await app.close()

  for (const path of Object.values(generated.paths)) {
    delete path.head
    for (const operation of Object.values(path)) completeOperation(operation)
  }
  const components = new SchemaComponents()
  const paths = components.replaceNamedSchemas(generated.paths) as Description['paths']
  const responses = components.replaceNamedSchemas(errorResponses(name)) as object
  const parameters = name === 'partner' ? { parameters: headerParameters } : {}
  return {
    openapi: OPENAPI_VERSION,
    info: { title, description, version: '1.0.0', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/', description: 'The server that provides this description.' }],
    tags,
    security,
    paths,
    components: { securitySchemes, ...parameters, responses, schemas: components.schemas },
  }
}

/** Returns the named schemas of routes that only the web pages call: types are generated from them, but no published description. */
export function pageSchemas(): { console: Schemas; candidate: Schemas } {
  const context = {} as Context
  return {
    console: schemasOf((app) => consoleRoutes(app, context, {} as never, () => {})),
    candidate: schemasOf(
      (app) => {
        candidateRoutes(app, context)
        candidateCredentialRoutes(app, context)
        holderRoutes(app, context)
      },
      [CandidatePageError],
    ),
  }
}

/** Returns the named schemas in the bodies and responses of routes, and in `otherSchemas`. */
function schemasOf(register: (app: App) => void, otherSchemas: object[] = []): Schemas {
  const components = new SchemaComponents()
  components.replaceNamedSchemas(otherSchemas)
  const app = fastify() as unknown as App
  app.decorateRequest('rawBody', null as unknown as Buffer)
  app.addHook('onRoute', ({ schema }) => {
    components.replaceNamedSchemas([schema?.body, schema?.response])
  })
  register(app)
  return components.schemas
}

const successDescriptions: Record<string, string> = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.' }

/** Adds details that the generator cannot derive from a schema, and the error responses. */
function completeOperation(operation: Operation): void {
  for (const [status, response] of Object.entries(operation.responses))
    Object.assign(response, { description: successDescriptions[status] })
  Object.assign(operation.responses, {
    '4XX': { $ref: '#/components/responses/ClientError' },
    '5XX': { $ref: '#/components/responses/ServerError' },
  })
  for (const parameter of operation.parameters ?? []) {
    if (parameter.schema.default !== undefined) parameter.required = false
  }
  operation.parameters = operation.parameters?.map((parameter) => {
    const sharedName = findSharedParameterName(parameter)
    return sharedName ? ({ $ref: `#/components/parameters/${sharedName}` } as never) : parameter
  })
  const body = operation.requestBody?.content['application/json']?.schema
  if (body?.default !== undefined) {
    if (Object.keys(body.properties ?? {}).length === 0) delete operation.requestBody
    else operation.requestBody!.required = false
  }
}

const onBehalfOf = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The recruiter on whose behalf the request is made. Each recruiter has separate rate limits.',
}
const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'Makes retries safe: for 24 hours, a request with the same idempotency key returns the first response.',
}

const headerParameters = {
  OnBehalfOf: headerParameter('x-on-behalf-of', onBehalfOf),
  IdempotencyKey: headerParameter('Idempotency-Key', idempotencyKey),
  RequiredIdempotencyKey: headerParameter('Idempotency-Key', idempotencyKey, true),
}

function headerParameter(name: string, { description, ...schema }: typeof onBehalfOf, required = false) {
  return { in: 'header', name, required, description, schema }
}

function findSharedParameterName({ name, required }: { name: string; required?: boolean }) {
  return Object.entries(headerParameters).find(
    ([, shared]) => shared.name === name && shared.required === required,
  )?.[0]
}

interface RouteSchema {
  description?: string
  [part: string]: unknown
}

interface RouteConfig {
  scope?: string | null
  limit?: string
  idempotent?: string
}

/** Adds the scope, the rate limit class and the headers that a partner route requires. */
function withRequirements(schema: RouteSchema = {}, { scope, limit, idempotent }: RouteConfig): RouteSchema {
  const requirements = [scope ? `Scope: \`${scope}\`.` : 'Any valid key.', `Rate limit class: \`${limit}\`.`]
  return {
    ...schema,
    description: [schema.description, ...requirements].filter(Boolean).join(' '),
    headers: {
      type: 'object',
      properties: { 'x-on-behalf-of': onBehalfOf, ...(idempotent ? { 'Idempotency-Key': idempotencyKey } : {}) },
      ...(idempotent === 'required' ? { required: ['Idempotency-Key'] } : {}),
    },
  }
}

function errorResponses(name: ApiName) {
  return {
    ClientError: errorResponse(name, 'The request was rejected.', (status) => status < 500),
    ServerError: errorResponse(name, 'The server failed to process the request.', (status) => status >= 500),
  }
}

function errorResponse(name: ApiName, summary: string, includes: (status: number) => boolean) {
  const { codes, error } = apiInfo[name]
  const matchingCodes = Object.entries(codes).filter(([, status]) => includes(status))
  const rows = matchingCodes.map(([code, status]) => `| ${status} | ${code} |`)
  const [code] = matchingCodes.find(([, status]) => status === 404) ?? matchingCodes[0]!
  const message = code === 'NOT_FOUND' ? 'Skill sk_999 not found.' : 'Internal server error.'
  return {
    description: [summary, '', '| Status | Code |', '|---|---|', ...rows].join('\n'),
    content: {
      'application/json': {
        schema: error,
        example: errorEnvelope(name as Api, problem(code as never, message)).body,
      },
    },
  }
}
