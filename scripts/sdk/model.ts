import { readFileSync } from 'node:fs'
import type { JsonSchema, NamedSchemas } from '../typescript-types.ts'
import { camelCase, pascalCase, singular, wordsOf } from './names.ts'
import { type ApiName, apis, METHOD_NAMES, RESERVED_METHOD_NAMES, SESSION_RESOURCES } from './public-names.ts'

// The language-independent model of the three APIs, read from openapi/*.json. Each SDK is generated from it.
//
// To add a language:
//   1. Write the runtime by hand in sdks/LANGUAGE: signing, retries, errors, pagination, webhook verification.
//   2. Write scripts/sdk/LANGUAGE.ts with a function that takes a `SdkModel` and returns the generated files (path → text).
//      `model.types` are in alphabetical order and contain no inline objects: these are named types too. `names.ts` has
//      functions for the case of identifiers.
//   3. Add the function to `languages` in scripts/sdks.ts, run `npm run sdks` and commit the files. `npm run check` fails if
//      they are out of date.
//   4. Test the runtime with sdks/vectors.json, and add the language to test/sdks/languages.ts, which runs its tests and its
//      end-to-end program against a server.

export interface SdkModel {
  /** Version of the API. */
  version: string
  resources: Resource[]
  /** Types used by methods, events and errors, in alphabetical order. */
  types: NamedType[]
  /** Event types in the order of the API description. */
  events: EventModel[]
  /** All schemas of the three descriptions, also those that no method returns, such as response envelopes. */
  schemas: NamedSchemas
}

export interface Resource {
  /** Name in camelCase, such as `skillRequests`. */
  name: string
  description: string
  methods: Method[]
}

/** Credential that a method sends: a signature with the partner key, a session key, the student's session token, the admin key. */
type Auth = 'signature' | 'sessionKey' | 'sessionToken' | 'adminKey' | 'none'

export interface Method {
  /** Name in camelCase, such as `create`; unique in its resource. */
  name: string
  operationId: string
  api: ApiName
  summary: string
  description: string
  deprecated: boolean
  httpMethod: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Full path with placeholders, such as `/api/v1/partner/mandates/{mandate_id}`. */
  path: string
  pathParameters: Parameter[]
  queryParameters: Parameter[]
  body: { type: Type; required: boolean } | undefined
  /** Type of the result: the `data` of the response envelope or, for page numbers, the whole page. */
  response: Type
  /** Whether the result is `data` of the response body. If not, it is the whole body. */
  hasEnvelope: boolean
  pagination: Pagination | undefined
  /** Whether the operation accepts an `Idempotency-Key`. */
  idempotencyKey: 'none' | 'optional' | 'required'
  /** Whether the operation accepts `x-on-behalf-of`. */
  acceptsOnBehalfOf: boolean
  auth: Auth
}

export interface Parameter {
  /** Name as sent. */
  name: string
  type: Type
  required: boolean
  description: string
}

interface Pagination {
  /**
   * `cursor`: the page has `items` and `next_cursor`; send the latter as `cursor`. `page`: the page has `data`, `page`, `limit`
   * and `count`; send the next number as `page` until `page * limit >= count`. `single`: the only page has `items`.
   */
  style: 'cursor' | 'page' | 'single'
  /** Type of each item. */
  itemType: Type
}

/** Type of a value. Objects are always named; see `NamedType`. */
export type Type =
  | { kind: 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'unknown' }
  | { kind: 'ref'; name: string }
  | { kind: 'literal'; value: string | number | boolean }
  | { kind: 'enum'; values: string[] }
  | { kind: 'array'; items: Type }
  | { kind: 'map'; values: Type }
  | { kind: 'nullable'; type: Type }
  | { kind: 'union'; alternatives: Type[] }

export type NamedType = ObjectType | AliasType

export interface ObjectType {
  kind: 'object'
  name: string
  description: string
  properties: Property[]
}

/** A named enum, union or scalar. */
export interface AliasType {
  kind: 'alias'
  name: string
  description: string
  type: Type
}

export interface Property {
  name: string
  type: Type
  required: boolean
  description: string
  deprecated: boolean
}

interface EventModel {
  /** Event type, such as `mandate.ready`. */
  type: string
  /** Name of the object type of the whole event. */
  typeName: string
  /** Type of the `data` property. */
  dataType: Type
  description: string
}

interface SchemaNode extends JsonSchema {
  deprecated?: boolean
}

interface OpenApiParameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: SchemaNode
}

type Content = Record<string, { schema: SchemaNode }>

interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  deprecated?: boolean
  security?: Record<string, string[]>[]
  parameters?: OpenApiParameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { content?: Content }>
}

interface OpenApiDocument {
  info: { version: string }
  security?: Record<string, string[]>[]
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, SchemaNode>
    parameters?: Record<string, OpenApiParameter>
  }
}

/** Reads openapi/*.json and returns the model. */
export function readModel(): SdkModel {
  const documents = apis.map((name) => {
    const text = readFileSync(new URL(`../../openapi/${name}.json`, import.meta.url), 'utf8')
    return { api: name, document: JSON.parse(text) as OpenApiDocument }
  })
  return buildModel(documents)
}

export function buildModel(documents: { api: ApiName; document: OpenApiDocument }[]): SdkModel {
  const schemas = mergeSchemas(documents)
  const builder = new TypeBuilder(schemas)
  const resources = new Map<string, Resource>()
  for (const { api, document } of documents) {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [httpMethod, operation] of Object.entries(operations)) {
        if (!['get', 'post', 'put', 'patch', 'delete'].includes(httpMethod)) continue
        const tag = document.tags?.find(({ name }) => name === operation.tags?.[0])
        const resourceName = nameResource(api, path, operation)
        const resource: Resource = resources.get(resourceName) ?? {
          name: resourceName,
          description: api === 'catalogue' ? 'The public skill catalogue.' : (tag?.description ?? ''),
          methods: [],
        }
        resources.set(resourceName, resource)
        const name = nameMethod(resource, operation.operationId)
        resource.methods.push(buildMethod(builder, api, document, path, httpMethod, operation, resource, name))
      }
    }
  }
  const events = documents.flatMap(({ document }) =>
    Object.entries(document.webhooks ?? {}).map(([type, { post }]) => buildEvent(builder, schemas, type, post)),
  )
  for (const name of Object.keys(schemas))
    if (/(ErrorCode|^ErrorDetail|^WebhookEvent)$/.test(name)) builder.build({ $ref: name }, name)
  return {
    version: documents[0]!.document.info.version,
    resources: [...resources.values()].sort((a, b) => a.name.localeCompare(b.name, 'en')),
    types: builder.types(),
    events,
    schemas,
  }
}

/** Follows references to aliases; returns a reference only for an object. */
export function resolveAlias(model: SdkModel, type: Type): Type {
  if (type.kind !== 'ref') return type
  const named = findType(model, type.name)
  return named.kind === 'alias' ? resolveAlias(model, named.type) : type
}

export function findType(model: SdkModel, name: string): NamedType {
  const type = model.types.find((each) => each.name === name)
  if (!type) throw new Error(`The model has no type ${name}.`)
  return type
}

/**
 * Merges the schemas of the descriptions. If two APIs have different schemas of the same name, that of the later API gets the
 * name of its API as a prefix, and its references are changed.
 */
function mergeSchemas(documents: { api: ApiName; document: OpenApiDocument }[]): Record<string, SchemaNode> {
  const merged: Record<string, SchemaNode> = {}
  for (const { api, document } of documents) {
    const own = document.components.schemas
    const renamed = Object.keys(own).filter(
      (name) => merged[name] && JSON.stringify(shapeOf(merged[name])) !== JSON.stringify(shapeOf(own[name]!)),
    )
    const newNames = new Map(renamed.map((name) => [name, pascalCase(api) + name]))
    if (newNames.size > 0) {
      const rename = (name: string) => newNames.get(name) ?? name
      Object.assign(document, replaceReferences(document, rename))
    }
    for (const [name, schema] of Object.entries(document.components.schemas))
      merged[newNames.get(name) ?? name] = schema
  }
  return Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns a schema without its descriptions and examples. */
function shapeOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(shapeOf)
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !(['description', 'title'].includes(key) && typeof value === 'string'))
      .filter(([key]) => !['example', 'examples', 'default'].includes(key))
      .map(([key, value]) => [key, shapeOf(value)]),
  )
}

function replaceReferences(node: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(node)) return node.map((each) => replaceReferences(each, rename))
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === '$ref' && typeof value === 'string' && value.includes('/schemas/')
        ? [key, value.replace(/[^/]+$/, rename)]
        : [key, replaceReferences(value, rename)],
    ),
  )
}

function nameResource(api: ApiName, path: string, operation: Operation): string {
  const override = METHOD_NAMES[`${api}.${operation.operationId}`]
  if (override) return override.split('.')[0]!
  if (api === 'catalogue') return 'catalogue'
  if (api === 'verification') {
    const tag = operation.tags?.[0] ?? 'Sessions'
    return SESSION_RESOURCES[tag] ?? camelCase(tag)
  }
  return camelCase(path.split('/')[4]!)
}

/** Returns the name of the operation without the noun of its resource: `createMandate` of `mandates` is `create`. */
function nameMethod(resource: Resource, operationId: string): string {
  const isTaken = (name: string) => resource.methods.some((method) => method.name === name)
  const override = Object.entries(METHOD_NAMES).find(
    ([key, name]) => key.endsWith(`.${operationId}`) && name.startsWith(`${resource.name}.`),
  )
  const words = wordsOf(operationId)
  const plural = wordsOf(resource.name)
  const nouns = [plural, [...plural.slice(0, -1), singular(plural.at(-1)!)]]
  const shortName = nouns
    .map((noun) => withoutSequence(words, noun))
    .find((remaining) => remaining.length > 0 && remaining.length < words.length)
  const candidates = [override?.[1].split('.')[1], shortName && camelCase(shortName.join(' ')), operationId]
  const name = candidates.find((each) => each && !isTaken(each) && !RESERVED_METHOD_NAMES.includes(each))
  if (!name) throw new Error(`${resource.name} has two operations ${operationId}: name one of them in METHOD_NAMES.`)
  return name
}

function withoutSequence(words: string[], sequence: string[]): string[] {
  const start = words.findIndex((_, index) => sequence.every((word, offset) => words[index + offset] === word))
  return start < 0 ? words : words.toSpliced(start, sequence.length)
}

function buildMethod(
  builder: TypeBuilder,
  api: ApiName,
  document: OpenApiDocument,
  path: string,
  httpMethod: string,
  operation: Operation,
  resource: Resource,
  name: string,
): Method {
  const { operationId, summary = '', description = '' } = operation
  const parameters = (operation.parameters ?? []).map((parameter) => {
    if (!parameter.$ref) return parameter
    return document.components.parameters![parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1)]!
  })
  const typeName = pascalCase(`${operationId}`)
  const parametersIn = (location: 'path' | 'query'): Parameter[] =>
    parameters
      .filter((parameter) => parameter.in === location)
      .map((parameter) => ({
        name: parameter.name,
        type: builder.build(parameter.schema, typeName + pascalCase(parameter.name)),
        required: parameter.required ?? location === 'path',
        description: parameter.description ?? parameter.schema.description ?? '',
      }))
  const pathParameters = parametersIn('path')
  const orderInPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
  pathParameters.sort((a, b) => orderInPath.indexOf(a.name) - orderInPath.indexOf(b.name))
  const queryParameters = parametersIn('query')
  const findHeader = (header: string) =>
    parameters.find((parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === header)
  const idempotencyKey = findHeader('idempotency-key')
  const bodySchema = jsonSchemaOf(operation.requestBody?.content)
  const body = bodySchema && {
    type: builder.build(bodySchema, `${typeName}Body`),
    required: operation.requestBody!.required ?? false,
  }
  const { response, hasEnvelope, pagination } = buildResponse(builder, operation, typeName, queryParameters)
  return {
    name,
    operationId,
    api,
    summary,
    description,
    deprecated: operation.deprecated ?? false,
    httpMethod: httpMethod.toUpperCase() as Method['httpMethod'],
    path,
    pathParameters,
    queryParameters,
    body,
    response,
    hasEnvelope,
    pagination,
    idempotencyKey: idempotencyKey ? (idempotencyKey.required ? 'required' : 'optional') : 'none',
    acceptsOnBehalfOf: findHeader('x-on-behalf-of') !== undefined,
    auth: findAuth(api, operation.security ?? document.security ?? [], `${resource.name}.${name}`),
  }
}

function findAuth(api: ApiName, security: Record<string, string[]>[], method: string): Auth {
  const schemes = Object.keys(security[0] ?? {})
  if (schemes.length === 0) return 'none'
  if (api === 'partner') return 'signature'
  if (schemes.includes('session')) return 'sessionToken'
  if (schemes.includes('key')) return 'sessionKey'
  if (schemes.includes('admin')) return 'adminKey'
  throw new Error(`${method} has an unknown security scheme: ${schemes.join(', ')}.`)
}

function jsonSchemaOf(content: Content | undefined): SchemaNode | undefined {
  return content?.['application/json']?.schema
}

function buildResponse(
  builder: TypeBuilder,
  operation: Operation,
  typeName: string,
  queryParameters: Parameter[],
): Pick<Method, 'response' | 'hasEnvelope' | 'pagination'> {
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? []
  const schema = jsonSchemaOf(success?.content)
  if (!schema) return { response: { kind: 'null' }, hasEnvelope: false, pagination: undefined }
  const body = builder.resolve(schema)
  const dataSchema = body.properties?.data
  if (dataSchema && body.properties?.page && body.properties.count) {
    const itemSchema = builder.resolve(dataSchema).items!
    const itemType = builder.build(itemSchema, `${typeName}Item`)
    return { response: builder.build(schema, typeName), hasEnvelope: false, pagination: { style: 'page', itemType } }
  }
  if (!dataSchema) return { response: builder.build(schema, typeName), hasEnvelope: false, pagination: undefined }
  const response = builder.build(dataSchema, `${typeName}Data`)
  const data = builder.resolve(dataSchema)
  const itemsSchema = data.properties?.items && builder.resolve(data.properties.items).items
  const pagination = itemsSchema &&
    operation.operationId.match(/^(list|browse|search)/) && {
      style: queryParameters.some(({ name }) => name === 'cursor') ? ('cursor' as const) : ('single' as const),
      itemType: builder.build(itemsSchema, `${typeName}Item`),
    }
  return { response, hasEnvelope: true, pagination: pagination || undefined }
}

function buildEvent(
  builder: TypeBuilder,
  schemas: Record<string, SchemaNode>,
  name: string,
  operation: Operation,
): EventModel {
  const schema = jsonSchemaOf(operation.requestBody?.content)!
  const type = builder.build(schema, `${pascalCase(name)}Event`)
  if (type.kind !== 'ref') throw new Error(`The schema of the event ${name} is not an object.`)
  const properties = builder.resolve(schema).properties!
  const typeSchema = properties.type!
  return {
    type: String(typeSchema.const ?? typeSchema.enum?.[0] ?? name),
    typeName: type.name,
    dataType: builder.build(properties.data!, `${type.name}Data`),
    description: schemas[type.name]?.description ?? operation.summary ?? '',
  }
}

/** Translates JSON Schemas into types and collects the named types that are used. */
class TypeBuilder {
  readonly #schemas: Record<string, SchemaNode>
  readonly #types = new Map<string, NamedType>()
  /** Inline schemas by the name that they were given, so that a schema which is built twice has one name. */
  readonly #inlineSchemas = new Map<string, string>()

  constructor(schemas: Record<string, SchemaNode>) {
    this.#schemas = schemas
  }

  types(): NamedType[] {
    return [...this.#types.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Follows a reference; returns other schemas unchanged, with the parts of `allOf` merged. */
  resolve(schema: SchemaNode): SchemaNode {
    if (schema.$ref !== undefined) return this.resolve(this.#schemaOf(schema.$ref))
    if (!schema.allOf) return schema
    const parts = schema.allOf.map((part) => this.#mergeAlternatives(this.resolve(part)))
    return {
      ...schema,
      type: 'object',
      properties: Object.assign({}, ...parts.map(({ properties }) => properties), schema.properties),
      required: [...parts.flatMap(({ required = [] }) => required), ...(schema.required ?? [])],
    }
  }

  /**
   * Returns one object schema for a union of objects, with the properties of all alternatives: a constant becomes an enum, and a
   * property of several types a union.
   */
  #mergeAlternatives(schema: SchemaNode): SchemaNode {
    const alternatives = (schema.oneOf ?? schema.anyOf)?.map((alternative) => this.resolve(alternative))
    if (!alternatives) return schema
    const names = [...new Set(alternatives.flatMap(({ properties = {} }) => Object.keys(properties)))]
    return {
      type: 'object',
      properties: Object.fromEntries(
        names.map((name) => {
          const schemas = alternatives.flatMap(({ properties = {} }) => properties[name] ?? [])
          const distinct = [...new Map(schemas.map((each) => [JSON.stringify(shapeOf(each)), each])).values()]
          if (distinct.length === 1) return [name, distinct[0]!]
          const isConstant = distinct.every((each) => each.const !== undefined)
          return [name, isConstant ? { type: 'string', enum: distinct.map((each) => each.const) } : { anyOf: distinct }]
        }),
      ),
      required: names.filter((name) => alternatives.every(({ required = [] }) => required.includes(name))),
    }
  }

  /** Returns the type of a schema. An inline object becomes a named type with the suggested name. */
  build(schema: SchemaNode, suggestedName: string): Type {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
      if (!this.#types.has(name)) this.#declare(name, this.#schemaOf(schema.$ref))
      return { kind: 'ref', name }
    }
    if (schema.allOf?.length === 1 && !schema.properties) return this.build(schema.allOf[0]!, suggestedName)
    if (schema.allOf) return this.#declareInline(this.resolve(schema), suggestedName)
    const alternatives = schema.anyOf ?? schema.oneOf
    if (alternatives) return this.#union(alternatives, suggestedName)
    if (Array.isArray(schema.type)) {
      const alternativeTypes = schema.type.map((type) => ({ ...schema, type, description: undefined }) as SchemaNode)
      return this.#union(alternativeTypes, suggestedName)
    }
    if (schema.const !== undefined && schema.const !== null)
      return { kind: 'literal', value: schema.const as string | number | boolean }
    if (schema.enum?.length === 1) return { kind: 'literal', value: schema.enum[0] as string | number | boolean }
    if (schema.enum?.every((value) => typeof value === 'string'))
      return { kind: 'enum', values: schema.enum as string[] }
    switch (schema.type) {
      case 'string':
      case 'integer':
      case 'number':
      case 'boolean':
      case 'null':
        return { kind: schema.type }
      case 'array': {
        const itemName = suggestedName.replace(/[A-Z][a-z0-9]*$/, (word) => pascalCase(singular(word.toLowerCase())))
        return { kind: 'array', items: schema.items ? this.build(schema.items, itemName) : { kind: 'unknown' } }
      }
      default:
        if (schema.type !== 'object' && !schema.properties) return { kind: 'unknown' }
        return this.#objectOrMap(schema, suggestedName)
    }
  }

  #schemaOf(reference: string): SchemaNode {
    const name = reference.slice(reference.lastIndexOf('/') + 1)
    const schema = this.#schemas[name]
    if (!schema) throw new Error(`The descriptions have no schema ${name}.`)
    return schema
  }

  #objectOrMap(schema: SchemaNode, suggestedName: string): Type {
    if (Object.keys(schema.properties ?? {}).length > 0) return this.#declareInline(schema, suggestedName)
    const valueSchemas = [
      ...Object.values(schema.patternProperties ?? {}),
      ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ]
    if (valueSchemas.length !== 1) return { kind: 'map', values: { kind: 'unknown' } }
    return { kind: 'map', values: this.build(valueSchemas[0]!, `${suggestedName}Value`) }
  }

  #union(schemas: SchemaNode[], suggestedName: string): Type {
    const others = schemas.filter(({ type }) => type !== 'null')
    const types = others.map((schema, index) =>
      this.build(schema, index === 0 ? suggestedName : `${suggestedName}${index + 1}`),
    )
    const type: Type = types.length === 1 ? types[0]! : { kind: 'union', alternatives: types }
    return others.length < schemas.length ? { kind: 'nullable', type } : type
  }

  #declareInline(schema: SchemaNode, suggestedName: string): Type {
    const shape = JSON.stringify(schema)
    let name = suggestedName
    while ((this.#schemas[name] || this.#types.has(name)) && this.#inlineSchemas.get(name) !== shape) name += 'Item'
    if (!this.#types.has(name)) {
      this.#inlineSchemas.set(name, shape)
      this.#declare(name, schema)
    }
    return { kind: 'ref', name }
  }

  #declare(name: string, schema: SchemaNode): void {
    const description = schema.description ?? ''
    const resolved = schema.allOf ? this.resolve(schema) : schema
    if (Object.keys(resolved.properties ?? {}).length === 0) {
      const placeholder: AliasType = { kind: 'alias', name, description, type: { kind: 'unknown' } }
      this.#types.set(name, placeholder) // before its parts are built, because a type may refer to itself
      placeholder.type = this.build(schema, name)
      return
    }
    const properties: Property[] = []
    this.#types.set(name, { kind: 'object', name, description, properties })
    for (const [propertyName, property] of Object.entries(resolved.properties!)) {
      properties.push({
        name: propertyName,
        type: this.build(property as SchemaNode, name + pascalCase(propertyName)),
        required: resolved.required?.includes(propertyName) ?? false,
        description: property.description ?? '',
        deprecated: (property as SchemaNode).deprecated ?? false,
      })
    }
  }
}
