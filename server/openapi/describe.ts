import { readFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import fastify, { type FastifyContextConfig } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import type { ErrorCode } from '../api/problem.ts'
import { apis } from '../app.ts'
import { candidateRoutes } from '../campaigns/candidate-page/routes.ts'
import { CandidatePageError } from '../campaigns/candidate-page/schema.ts'
import { consoleRoutes } from '../console/routes.ts'
import type { Context } from '../context.ts'
import { candidateCredentialRoutes } from '../credentials/holders/consent-routes.ts'
import { holderRoutes } from '../credentials/holders/holder-routes.ts'
import { embedRoutes } from '../embeds/page-routes.ts'
import { EmbedSettings } from '../embeds/schema.ts'
import type { App } from '../platform/http/server.ts'
import { yourDataRoutes } from '../privacy/routes.ts'
import { embeddedReportRoutes } from '../reports/embedded-report-routes.ts'
import { Annotator, type Schema } from './annotate.ts'
import { codeSamples, type SampleRequest } from './code-samples.ts'
import { SCOPE_KEY, SchemaComponents } from './components.ts'
import { ErrorResponses, errorCodesOf, errorExamples, readCauses } from './errors.ts'
import { apiInfo } from './info.ts'
import { schemaExamples } from './schema-examples.ts'
import { describeWebhooks, eventUnions, recordExamples } from './webhooks.ts'

const OPENAPI_VERSION = '3.1.0'
/** Key under which the error codes of a route are passed through the generator. */
const ERRORS = 'x-errors'

const contact = { name: 'Attestry', url: 'https://github.com/attestry/attestry' }
const license = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0.html' }

type ApiName = keyof typeof apis
export type Schemas = Record<string, object>

export interface Description {
  openapi: string
  info: object
  servers: object[]
  tags: object[]
  security: object[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: object }>
  components: Record<'schemas', Schemas> & Record<string, object>
}

type MediaTypes = Record<string, { schema: Schema; example?: unknown }>

interface Operation {
  operationId: string
  requestBody?: { required?: boolean; content: MediaTypes }
  responses: Record<string, object>
  parameters?: { $ref?: string; in?: string; name: string; required?: boolean; description?: string; schema: Schema }[]
  security?: object[]
  [ERRORS]?: ErrorCode[]
}

/** Returns the OpenAPI descriptions of the three APIs. Needs no database: no handler runs. */
export async function describeApis(): Promise<Record<ApiName, Description>> {
  const descriptions = {} as Record<ApiName, Description>
  for (const name of Object.keys(apis) as ApiName[]) descriptions[name] = await describeApi(name)
  return descriptions
}

async function describeApi(name: ApiName): Promise<Description> {
  const { title, description, securitySchemes, security, tags, error } = apiInfo[name]
  const generatedPaths = await generatePaths(name)
  const errorResponses = new ErrorResponses(name, error, readCauses(await readDocs('reference/errors.md'), name))
  for (const path of Object.values(generatedPaths)) {
    for (const operation of Object.values(path)) {
      completeOperation(operation)
      Object.assign(operation.responses, errorResponses.describe(operation[ERRORS]!))
      delete operation[ERRORS]
    }
  }
  const eventExamples = await readEventExamples()
  const isPartner = name === 'partner'
  const components = new SchemaComponents()
  const paths = components.replaceNamedSchemas(generatedPaths) as Description['paths']
  const webhooks = isPartner ? components.replaceNamedSchemas(describeWebhooks(eventExamples)) : undefined
  const responses = components.replaceNamedSchemas(sortByName(errorResponses.components)) as object
  const schemas = sortByName({ ...components.schemas, ...(isPartner ? eventUnions : {}) })
  const headers = headerComponents(name)
  const annotator = new Annotator(schemas, { ...schemaExamples, ...recordExamples(eventExamples) })
  annotator.annotateSchemas()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      addExamples(operation, annotator, Object.keys(headers))
      const request = sampleRequest(annotator, { method, path, operation, security: operation.security ?? security })
      Object.assign(operation, { 'x-codeSamples': codeSamples(request) })
    }
  }
  return {
    openapi: OPENAPI_VERSION,
    info: { title, description, version: packageJson.version, contact, license },
    servers: [
      { url: '/', description: 'The server that provides this description.' },
      { url: 'http://127.0.0.1:8080', description: 'A server on your machine, started with `npm start`.' },
    ],
    tags,
    security,
    paths,
    ...(webhooks ? { webhooks: webhooks as Description['webhooks'] } : {}),
    components: {
      securitySchemes,
      ...(isPartner ? { parameters: headerParameters } : {}),
      headers,
      responses,
      examples: errorExamples(name),
      schemas,
    },
  } as Description
}

/** Returns the operations of the routes of an API, as @fastify/swagger describes them. */
async function generatePaths(name: ApiName): Promise<Description['paths']> {
  const app = fastify() as unknown as App
  app.setValidatorCompiler((() => () => true) as never)
  await app.register(
    swagger as never,
    {
      openapi: { openapi: OPENAPI_VERSION, components: { securitySchemes: apiInfo[name].securitySchemes } },
      transform: ({ schema = {}, url, route }: TransformInput) => {
        const { method, config = {} } = route
        const described = name === 'partner' ? withRequirements(schema, config) : schema
        const errors = errorCodesOf(name, { method: [method].flat()[0]!, config, schema })
        const deprecated = config.deprecation ? { deprecated: true } : {}
        return { url, schema: { ...described, ...deprecated, [ERRORS]: errors } }
      },
    } as never,
  )
  app.register(async (scope) => apis[name].routes(scope as App, {} as Context), { prefix: apis[name].base })
  await app.ready()
  const { paths } = (app as unknown as { swagger(): Description }).swagger()
  await app.close()
  return paths
}

function sortByName<Value>(map: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function readDocs(path: string): Promise<string> {
  return readFile(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
}

/** Returns the examples of events in the reference, which a test compares with real events. */
async function readEventExamples(): Promise<Map<string, object>> {
  const text = await readDocs('reference/events.md')
  const matches = text.matchAll(/^### `([a-z_.]+)`\n\n```json\n(.*?)^```$/gms)
  return new Map([...matches].map(([, type, json]) => [type!, JSON.parse(json!)]))
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
        yourDataRoutes(app, context)
        embedRoutes(app, context)
        embeddedReportRoutes(app, context, {} as never)
      },
      [CandidatePageError, EmbedSettings],
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

/** Adds details that the generator cannot derive from a schema. */
function completeOperation(operation: Operation): void {
  for (const [status, response] of Object.entries(operation.responses))
    Object.assign(response, { description: successDescriptions[status] })
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

/** Headers of every success response, by component. */
const responseHeaders: Record<string, string> = {
  RequestId: 'x-request-id',
  Version: 'Attestry-Version',
  RateLimitLimit: 'RateLimit-Limit',
  RateLimitRemaining: 'RateLimit-Remaining',
  RateLimitReset: 'RateLimit-Reset',
}

/** Adds the response headers, the descriptions and examples of parameters, and an example of each body. */
function addExamples(operation: Operation, annotator: Annotator, headerNames: string[]): void {
  for (const parameter of operation.parameters ?? [])
    if (!parameter.$ref) annotator.annotateParameter(operation.operationId, parameter)
  const bodies: MediaTypes[] = operation.requestBody ? [operation.requestBody.content] : []
  for (const [status, response] of Object.entries(operation.responses) as [string, { content?: MediaTypes }][]) {
    if (!status.startsWith('2')) continue
    const names = headerNames.filter((name) => name in responseHeaders)
    const headers = names.map((name) => [responseHeaders[name]!, { $ref: `#/components/headers/${name}` }])
    Object.assign(response, { headers: Object.fromEntries(headers) })
    if (response.content) bodies.push(response.content)
  }
  for (const content of bodies)
    for (const body of Object.values(content)) body.example = annotator.exampleOf(body.schema)
}

/** Environment variables of code samples, by security scheme. */
const secretVariables: Record<string, string> = {
  key: 'ATTESTRY_SESSION_KEY',
  session: 'ATTESTRY_SESSION_TOKEN',
  admin: 'ATTESTRY_ADMIN_KEY',
}
const secretHeaders: Record<string, string> = { key: 'x-api-key', session: 'x-session-token', admin: 'x-api-key' }

interface DescribedOperation {
  method: string
  path: string
  operation: Operation
  security: object[]
}

/** Returns the request of the code samples of an operation: with the examples of its path, required parameters and body. */
function sampleRequest(annotator: Annotator, { method, path, operation, security }: DescribedOperation): SampleRequest {
  const isSigned = security.some((schemes) => 'signature' in schemes)
  const parameters = (operation.parameters ?? []).filter(({ $ref }) => !$ref)
  const exampleValue = (parameter: { schema: Schema }) =>
    encodeURIComponent(String(annotator.exampleOf(parameter.schema)))
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => `${parameter.name}=${exampleValue(parameter)}`)
  const samplePath = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    exampleValue(parameters.find((each) => each.name === name)!),
  )
  const body = operation.requestBody?.content['application/json']?.example
  const schemes = Object.keys(isSigned ? {} : (security[0] ?? {}))
  return {
    method: method.toUpperCase(),
    path: query.length > 0 ? `${samplePath}?${query.join('&')}` : samplePath,
    body: body === undefined ? undefined : JSON.stringify(body),
    isSigned,
    isIdempotent: operation.parameters?.some(({ $ref }) => $ref?.endsWith('IdempotencyKey')) ?? false,
    secretHeaders: Object.fromEntries(schemes.map((scheme) => [secretHeaders[scheme]!, secretVariables[scheme]!])),
  }
}

const onBehalfOf = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The recruiter on whose behalf the request is made. Each recruiter has separate rate limits.',
  examples: ['recruiter-17'],
}
const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'Makes retries safe: for 24 hours, a request with the same idempotency key returns the first response.',
  examples: ['campaign-2027-01-15-mason-pune'],
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

const integerHeader = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', examples: [example] },
})
const textHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
})

/** Returns the response headers of an API. */
function headerComponents(name: ApiName): Record<string, object> {
  return {
    RequestId: textHeader('ID of the request. Quote it when you report a problem.', 'req_8kq2m9xb4t0000001'),
    Version: textHeader('Version of the server that responded; see the changelog.', packageJson.version),
    RetryAfter: integerHeader('Seconds after which the request can be repeated.', 12),
    ...(name === 'partner'
      ? {
          RateLimitLimit: integerHeader('Requests per minute that the rate limit class allows.', 30),
          RateLimitRemaining: integerHeader('Requests that are left in this minute.', 29),
          RateLimitReset: integerHeader('Seconds until the minute ends.', 41),
        }
      : {}),
  }
}

interface RouteSchema {
  description?: string
  security?: object[]
  [part: string]: unknown
}

interface TransformInput {
  schema?: RouteSchema
  url: string
  route: { method: string | string[]; config?: FastifyContextConfig }
}

/** Adds the scope, the rate limit class and the headers that a partner route requires. */
function withRequirements(
  schema: RouteSchema,
  { scope, furtherScope, limit, idempotent }: FastifyContextConfig,
): RouteSchema {
  const scopes = furtherScope ? `Scopes: \`${scope}\` and \`${furtherScope}\`.` : `Scope: \`${scope}\`.`
  const requirements = [scope ? scopes : 'Any valid key.', `Rate limit class: \`${limit}\`.`]
  return {
    ...schema,
    ...(scope ? { [SCOPE_KEY]: scope } : {}),
    description: [schema.description, ...requirements].filter(Boolean).join(' '),
    headers: {
      type: 'object',
      properties: { 'x-on-behalf-of': onBehalfOf, ...(idempotent ? { 'Idempotency-Key': idempotencyKey } : {}) },
      ...(idempotent === 'required' ? { required: ['Idempotency-Key'] } : {}),
    },
  }
}
