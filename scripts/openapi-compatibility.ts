import { isDeepStrictEqual } from 'node:util'
import { portablePattern, SCOPE_KEY } from '../server/openapi/components.ts'

/** A part of a description. */
// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = Record<string, any>

/** Parts of a description that cannot break a client, and that snapshots of releases therefore omit. */
const OMITTED_KEYS = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'x-codeSamples',
  'tags',
  'info',
  'servers',
])
/** Keys whose value is a map with arbitrary names as keys. */
const NAME_MAPS = new Set(['properties', 'schemas', 'paths', 'webhooks', 'patternProperties', 'headers'])

/**
 * Returns a description without texts and examples, for the snapshot of a release. The names of the examples of a response remain,
 * because those of an error response are its error codes.
 */
export function reduceDescription(node: unknown, isNameMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => reduceDescription(item))
  if (node === null || typeof node !== 'object') return node
  const reduced: Json = {}
  for (const [key, value] of Object.entries(node)) {
    if (isNameMap || !OMITTED_KEYS.has(key)) reduced[key] = reduceDescription(value, !isNameMap && NAME_MAPS.has(key))
    else if (key === 'examples' && !Array.isArray(value))
      reduced.examples = Object.fromEntries(Object.keys(value).map((name) => [name, {}]))
  }
  return reduced
}

/** Returns the changes of a description that can break clients of the released one, one line each. */
export function findBreakingChanges(released: Json, current: Json): string[] {
  return new Comparison(released, current).compare()
}

/** Side of a schema: clients send requests and read responses. */
type Direction = 'request' | 'response'

class Comparison {
  readonly #released: Json
  readonly #current: Json
  readonly #changes = new Set<string>()
  readonly #comparedSchemas = new Set<string>()

  constructor(released: Json, current: Json) {
    this.#released = released
    this.#current = current
  }

  compare(): string[] {
    this.#compareSecuritySchemes()
    for (const [path, operations] of Object.entries<Json>(this.#released.paths)) {
      for (const [method, operation] of Object.entries<Json>(operations))
        this.#compareOperation(`${method.toUpperCase()} ${path}`, operation, this.#current.paths[path]?.[method])
    }
    for (const [type, { post }] of Object.entries<Json>(this.#released.webhooks ?? {})) {
      const currentPost = this.#current.webhooks?.[type]?.post
      if (currentPost) this.#compareBodies(`event ${type}`, post.requestBody, currentPost.requestBody, 'response')
      else this.#report(`event ${type}`, 'was removed')
    }
    return [...this.#changes]
  }

  #report(location: string, change: string): void {
    this.#changes.add(`${location} ${change}`)
  }

  #compareOperation(name: string, released: Json, current: Json | undefined): void {
    if (!current) return void this.#report(name, 'was removed')
    if (released.operationId !== current.operationId)
      this.#report(name, `has another operationId: ${current.operationId}`)
    this.#compareSecurity(name, released, current)
    const releasedParameters = this.#parametersOf(this.#released, released)
    const currentParameters = this.#parametersOf(this.#current, current)
    for (const [key, parameter] of releasedParameters) {
      const currentParameter = currentParameters.get(key)
      if (currentParameter) this.#compareSchemas(`${name} ${key}`, parameter.schema, currentParameter.schema, 'request')
      else this.#report(name, `no longer has the ${key}`)
    }
    for (const [key, { required }] of currentParameters)
      if (required && !releasedParameters.get(key)?.required) this.#report(name, `requires the ${key}`)
    if (current.requestBody?.required && !released.requestBody?.required) this.#report(name, 'requires a body')
    this.#compareBodies(`${name} request`, released.requestBody, current.requestBody, 'request')
    for (const [status, response] of Object.entries<Json>(released.responses)) {
      if (!status.startsWith('2')) continue
      const currentResponse = current.responses[status]
      if (!currentResponse) {
        this.#report(name, `no longer responds with ${status}`)
        continue
      }
      this.#compareBodies(`${name} response`, response, currentResponse, 'response')
      for (const header of Object.keys(response.headers ?? {}))
        if (!currentResponse.headers?.[header]) this.#report(name, `no longer returns the header ${header}`)
    }
    this.#compareErrors(name, released, current)
  }

  #compareSecuritySchemes(): void {
    const currentSchemes: Json = this.#current.components.securitySchemes ?? {}
    for (const [name, released] of Object.entries<Json>(this.#released.components.securitySchemes ?? {})) {
      const current: Json = currentSchemes[name] ?? {}
      if (['type', 'in', 'name', 'scheme'].some((key) => released[key] !== current[key]))
        this.#report(`security scheme ${name}`, 'was changed or removed')
    }
  }

  /** Reports requirements that the credentials of a client of the released description may not fulfil. */
  #compareSecurity(name: string, released: Json, current: Json): void {
    const alternativesOf = (description: Json, operation: Json): string[][] => {
      const requirements: Json[] = operation.security ?? description.security ?? []
      return requirements.length === 0 ? [[]] : requirements.map((requirement) => Object.keys(requirement))
    }
    const currentAlternatives = alternativesOf(this.#current, current)
    for (const schemes of alternativesOf(this.#released, released)) {
      if (currentAlternatives.some((needed) => needed.every((scheme) => schemes.includes(scheme)))) continue
      const expected = currentAlternatives.map((needed) => needed.join(' and ')).join(', or ')
      this.#report(name, `requires other credentials: ${expected}, before ${schemes.join(' and ') || 'none'}`)
    }
    const [before, after] = [released[SCOPE_KEY], current[SCOPE_KEY]]
    if (after !== undefined && after !== before)
      this.#report(name, `requires the scope ${after}, before ${before ?? 'none'}`)
  }

  #compareErrors(name: string, released: Json, current: Json): void {
    const currentStatuses = this.#errorStatusesOf(this.#current, current)
    for (const [code, status] of this.#errorStatusesOf(this.#released, released)) {
      const currentStatus = currentStatuses.get(code)
      if (currentStatus === undefined) this.#report(name, `no longer returns the error code ${code}`)
      else if (currentStatus !== status)
        this.#report(name, `returns ${code} with the status ${currentStatus}, before ${status}`)
    }
  }

  /** Returns the error codes of an operation with their statuses. */
  #errorStatusesOf(description: Json, { responses }: Json): Map<string, string> {
    const errors = Object.entries<Json>(responses).filter(([status]) => !status.startsWith('2'))
    return new Map(
      errors.flatMap(([status, response]) => {
        const { examples = {} } = resolve(description, response).content?.['application/json'] ?? {}
        return Object.keys(examples).map((code): [string, string] => [code, status])
      }),
    )
  }

  #parametersOf(description: Json, { parameters = [] }: Json): Map<string, Json> {
    const resolved: Json[] = parameters.map((each: Json) => resolve(description, each))
    return new Map(resolved.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]))
  }

  #compareBodies(location: string, released: Json | undefined, current: Json | undefined, direction: Direction): void {
    const releasedSchema = released?.content?.['application/json']?.schema
    const currentSchema = current?.content?.['application/json']?.schema
    if (releasedSchema && currentSchema) this.#compareSchemas(location, releasedSchema, currentSchema, direction)
    else if (releasedSchema) this.#report(location, 'no longer has a body')
  }

  #compareSchemas(location: string, releasedNode: Json, currentNode: Json, direction: Direction): void {
    if (releasedNode.$ref) {
      const key = `${direction} ${releasedNode.$ref} ${currentNode.$ref}`
      if (this.#comparedSchemas.has(key)) return
      this.#comparedSchemas.add(key)
    }
    const name = releasedNode.$ref ? `${releasedNode.$ref.split('/').at(-1)} (${direction})` : location
    const released = resolve(this.#released, releasedNode)
    const current = resolve(this.#current, currentNode)
    if (String(released.type) !== String(current.type))
      return void this.#report(name, `has another type: ${current.type}, before ${released.type}`)
    this.#compareValues(name, released, current, direction)
    this.#compareProperties(name, released, current, direction)
    if (released.items && current.items) this.#compareSchemas(`${name}[]`, released.items, current.items, direction)
    if (direction === 'response' && canBeNull(current) && !canBeNull(released)) this.#report(name, 'can be null')
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      for (const [index, part] of (released[key] ?? []).entries()) {
        const currentPart = findSamePart(part, index, current[key] ?? [])
        if (currentPart) this.#compareSchemas(`${name} (alternative ${index + 1})`, part, currentPart, direction)
        else this.#report(name, `no longer has the alternative ${part.$ref?.split('/').at(-1) ?? index + 1}`)
      }
    }
  }

  #compareValues(name: string, released: Json, current: Json, direction: Direction): void {
    const releasedValues: unknown[] = released.enum ?? (released.const === undefined ? [] : [released.const])
    const currentValues: unknown[] = current.enum ?? (current.const === undefined ? [] : [current.const])
    for (const value of releasedValues)
      if (currentValues.length > 0 && !currentValues.includes(value))
        this.#report(name, `no longer has the value ${value}`)
    if (direction === 'response') return
    if (releasedValues.length === 0 && currentValues.length > 0) this.#report(name, 'accepts only some values')
    for (const key of ['maxLength', 'maxItems', 'maximum', 'exclusiveMaximum', 'maxProperties'])
      if (current[key] < (released[key] ?? Number.POSITIVE_INFINITY))
        this.#report(name, `has a lower ${key}: ${current[key]}`)
    for (const key of ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'minProperties'])
      if (current[key] > (released[key] ?? Number.NEGATIVE_INFINITY))
        this.#report(name, `has a higher ${key}: ${current[key]}`)
    if (current.pattern !== undefined && current.pattern !== portablePattern(released.pattern))
      this.#report(name, 'has another pattern')
    for (const key of ['format', 'multipleOf'])
      if (current[key] !== undefined && current[key] !== released[key])
        this.#report(name, `has another ${key}: ${current[key]}, before ${released[key] ?? 'none'}`)
    if (current.uniqueItems && !released.uniqueItems) this.#report(name, 'must have unique items')
    if (current.additionalProperties === false && released.additionalProperties !== false)
      this.#report(name, 'rejects other properties')
    if (released.default !== undefined && !isDeepStrictEqual(current.default, released.default))
      this.#report(
        name,
        `has another default: ${JSON.stringify(current.default)}, before ${JSON.stringify(released.default)}`,
      )
  }

  #compareProperties(name: string, released: Json, current: Json, direction: Direction): void {
    for (const [property, schema] of Object.entries<Json>(released.properties ?? {})) {
      const currentSchema = current.properties?.[property]
      if (currentSchema) this.#compareSchemas(`${name}.${property}`, schema, currentSchema, direction)
      else this.#report(`${name}.${property}`, 'was removed')
    }
    const [before, after]: [string[], string[]] = [released.required ?? [], current.required ?? []]
    if (direction === 'request')
      for (const property of after) if (!before.includes(property)) this.#report(`${name}.${property}`, 'is required')
    if (direction === 'response')
      for (const property of before)
        if (!after.includes(property) && current.properties?.[property])
          this.#report(`${name}.${property}`, 'is optional')
  }
}

function canBeNull({ anyOf = [], oneOf = [] }: Json): boolean {
  return [...anyOf, ...oneOf].some(({ type }) => type === 'null')
}

function findSamePart(part: Json, index: number, currentParts: Json[]): Json | undefined {
  return part.$ref ? currentParts.find(({ $ref }) => $ref === part.$ref) : currentParts[index]
}

function resolve(description: Json, node: Json): Json {
  if (node.$ref === undefined) return node
  const path: string[] = node.$ref.slice(2).split('/')
  return path.reduce((value, key) => value[key], description)
}
