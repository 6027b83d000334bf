import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import type { TSchema } from 'typebox/type'
import { idDescriptions } from '../../api/id-descriptions.ts'
import type { Detail } from '../../api/problem.ts'
import { closestName } from './did-you-mean.ts'
import { findErrors } from './error-limits.ts'
import { collectUnstorableTexts } from './json.ts'
import { keepErrorsOfClosestMember } from './union-errors.ts'

type RequestPart = 'params' | 'querystring' | 'body'

const requestParts: RequestPart[] = ['params', 'querystring', 'body']
const pathPrefixes: Record<RequestPart, string> = { params: 'path', querystring: 'query', body: '' }

interface RequestParts {
  params: unknown
  query: unknown
  body: unknown
  rawBody: Buffer
  raw?: { url?: string | undefined }
}

export type RequestSchema = Partial<Record<RequestPart, unknown>>

/** Validates every part of a request, so that one response lists all errors. Parses numbers and fills in defaults. */
export type RequestValidator = (request: RequestParts) => PartError[]

interface PartError {
  part: RequestPart
  detail: Detail
}

const NO_ERRORS: PartError[] = []

export function compileRequestValidator(schema: RequestSchema): RequestValidator {
  const validators = requestParts
    .filter((part) => schema[part] !== undefined)
    .map((part) => compilePartValidator(part, schema[part] as TSchema))
  return (request) => {
    let errors = NO_ERRORS
    for (const validate of validators) {
      const partErrors = validate(request)
      if (partErrors.length > 0) errors = [...errors, ...partErrors]
    }
    return errors
  }
}

function compilePartValidator(part: RequestPart, schema: TSchema) {
  // Compiled at the first request: a server has hundreds of schemas, and starts faster this way.
  let compiled: ReturnType<typeof Compile> | undefined
  const field = part === 'querystring' ? 'query' : part
  const defaultBody = (schema as { default?: unknown }).default
  const properties = Object.entries((schema as ObjectSchema).properties ?? {})
  return (request: RequestParts) => {
    const body = request.body === undefined ? defaultBody : request.body
    const value = part === 'body' ? body : parseParameters(properties, request[field])
    compiled ??= Compile(schema)
    const validator = compiled
    const isValid = validator.Check(value)
    const details = isValid ? [] : detailsOf(part, schema, findErrors(validator, schema, value), value)
    // Only an escape sequence can produce a text that cannot be stored: JSON and URLs contain no raw NUL, and UTF-8 has no
    // unpaired surrogates.
    if (part === 'body' ? request.rawBody.includes('\\u') : request.raw?.url?.includes('%')) {
      collectUnstorableTexts(pickKnownProperties(schema as ObjectSchema, value), pathPrefixes[part], details)
    }
    if (isValid && details.length === 0) request[field] = value
    return details.length === 0 ? NO_ERRORS : details.map((detail) => ({ part, detail }))
  }
}

function detailsOf(part: RequestPart, schema: TSchema, errors: TLocalizedValidationError[], value: unknown): Detail[] {
  if (part === 'body' && value === undefined) return [{ path: 'body', message: 'a JSON body is required' }]
  const details = toDetails(schema, errors, pathPrefixes[part], value)
  return details.length > 0 ? details : [{ path: pathPrefixes[part] || 'body', message: 'has too many errors to list' }]
}

/** Returns a copy of the value without the properties that the schema ignores. */
function pickKnownProperties({ properties, additionalProperties }: ObjectSchema, value: unknown): unknown {
  if (!properties || additionalProperties === false || value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)))
}

interface ObjectSchema {
  additionalProperties?: unknown
  required?: string[]
  properties?: Record<string, PropertySchema>
}

interface PropertySchema {
  type?: string
  default?: unknown
}

/** Parses query and path parameters, which arrive as text, by the types in their schema, and fills in defaults. */
function parseParameters(properties: [string, PropertySchema][], value: unknown): unknown {
  const texts = (value ?? {}) as Record<string, unknown>
  const parsed: Record<string, unknown> = {}
  for (const [name, property] of properties) {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined
    if (text === undefined) {
      if (property.default !== undefined) parsed[name] = property.default
    } else {
      parsed[name] = typeof text === 'string' ? parseParameter(text, property.type) : text
    }
  }
  return parsed
}

function parseParameter(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** Converts the errors of TypeBox into one detail each, with the path of the invalid property. */
function toDetails(schema: TSchema, errors: TLocalizedValidationError[], prefix: string, value: unknown): Detail[] {
  const details = new Map<string, Detail>()
  const relevantErrors = keepErrorsOfClosestMember(errors)
  // If a schema restricts additional properties, TypeBox reports an invalid one both as invalid and as unknown.
  const invalidPaths = new Set(
    relevantErrors.filter(({ keyword }) => keyword !== 'boolean').map(({ instancePath }) => instancePath),
  )
  for (const error of relevantErrors) {
    for (const { unknownAt, ...detail } of describeError(schema, error, prefix, value))
      if (unknownAt === undefined || !invalidPaths.has(unknownAt))
        details.set(`${detail.path}\n${detail.message}`, detail)
  }
  return [...details.values()]
}

/** A detail; `unknownAt` is the JSON pointer of the unknown property that it is about, if any. */
type DescribedError = Detail & { unknownAt?: string }

function describeError(
  schema: TSchema,
  error: TLocalizedValidationError,
  prefix: string,
  value: unknown,
): DescribedError[] {
  const pathOf = (name?: string) => readablePath(error.instancePath, prefix, value, name)
  switch (error.keyword) {
    case 'boolean':
      return [] // repeated by additionalProperties, with the name
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: pathOf(name),
        message: customMessage(schemaAt(schema, error.schemaPath), name) ?? 'is required',
      }))
    case 'additionalProperties':
      return error.params.additionalProperties.map((name, _index, { length }) => ({
        path: pathOf(name),
        unknownAt: `${error.instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        message: unknownPropertyMessage(
          name,
          schemaAt(schema, error.schemaPath),
          length <= MAX_UNKNOWN_PROPERTIES_WITH_HINTS,
        ),
      }))
    default: {
      const message = messageFor(error) + objectHint(schema, error)
      const hasAdvice = message.includes(';')
      const received = hasAdvice ? '' : describeReceivedValue(error, prefix, valueAt(value, error.instancePath))
      return [{ path: pathOf(), message: message + received }]
    }
  }
}

/** Suggestions are slow, so they are skipped for bodies with many unknown properties. */
const MAX_UNKNOWN_PROPERTIES_WITH_HINTS = 20

function unknownPropertyMessage(name: string, schema: ObjectSchema | undefined, withHint: boolean): string {
  const message = customMessage(schema, name)
  if (message) return message
  const suggestion = withHint && schema?.properties ? closestName(name, Object.keys(schema.properties)) : undefined
  return suggestion === undefined ? 'is not a known property' : `is not a known property; did you mean ${suggestion}?`
}

const customMessages = new WeakMap<object, Record<string, string>>()

/** Sets the messages for properties that an object lacks although they are required, or has although they are not allowed. */
export function setPropertyMessages<Schema extends object>(schema: Schema, messages: Record<string, string>): Schema {
  customMessages.set(schema, messages)
  return schema
}

function customMessage(schema: object | undefined, name: string): string | undefined {
  const messages = schema && customMessages.get(schema)
  return messages && Object.hasOwn(messages, name) ? messages[name] : undefined
}

const MAX_LISTED_PROPERTIES = 4

/** Lists the required properties if the value should have been an object. */
function objectHint(schema: TSchema, { keyword, params, schemaPath }: TLocalizedValidationError): string {
  if (keyword !== 'type' || params.type !== 'object') return ''
  const { required = [] } = schemaAt(schema, schemaPath) ?? {}
  return required.length === 0 || required.length > MAX_LISTED_PROPERTIES ? '' : ` with ${required.join(' and ')}`
}

/** Describes the received value. Texts of a body are shown only if they are IDs or keywords: others may be personal data. */
function describeReceivedValue(error: TLocalizedValidationError, prefix: string, value: unknown): string {
  const isParameter = prefix !== ''
  switch (error.keyword) {
    case 'type': {
      const isShown = isParameter || (typeof value === 'number' && error.params.type === 'integer')
      return `; got ${isShown ? showValue(value) : kindOf(value)}`
    }
    case 'minimum':
    case 'maximum':
    case 'enum':
    case 'const':
      return `; got ${showValue(value)}`
    case 'pattern':
      return isParameter || idPrefix(String(error.params.pattern)) ? `; got ${showValue(value)}` : ''
    default:
      return ''
  }
}

const MAX_SHOWN_VALUE_LENGTH = 40

function showValue(value: unknown): string {
  if (value !== null && typeof value === 'object') return kindOf(value)
  const text = JSON.stringify(value)
  return text === undefined || text.length > MAX_SHOWN_VALUE_LENGTH ? kindOf(value) : text
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return withArticle(Array.isArray(value) ? 'array' : typeof value)
}

/** Returns the part of a schema at a path such as `#/properties/skills/items`. */
function schemaAt(schema: TSchema, path: string): ObjectSchema | undefined {
  return valueAt(schema, path) as ObjectSchema | undefined
}

function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const name of pointerParts(pointer)) found = (found as Record<string, unknown> | undefined | null)?.[name]
  return found
}

function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function messageFor(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case 'type':
      return `must be ${withArticle(String(error.params.type))}`
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`
    case 'enum':
      return `must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
    case 'pattern':
      return patternMessage(String(error.params.pattern))
    case 'minLength':
      return `must have at least ${countNoun(error.params.limit, 'character')}`
    case 'maxLength':
      return `must have at most ${countNoun(error.params.limit, 'character')}`
    case 'minItems':
      return `must have at least ${countNoun(error.params.limit, 'item')}`
    case 'maxItems':
      return `must have at most ${countNoun(error.params.limit, 'item')}`
    case 'minProperties':
      return `must have at least ${countNoun(error.params.limit, 'property')}`
    case 'maxProperties':
      return `must have at most ${error.params.limit} properties`
    case 'minimum':
      return `must be at least ${error.params.limit}`
    case 'maximum':
      return `must be at most ${error.params.limit}`
    case 'uniqueItems':
      return 'must not contain duplicate items'
    case 'anyOf':
      return 'does not match any of the accepted forms'
    default:
      return error.message
  }
}

/** Pattern of a text that contains more than white space. */
export const NOT_BLANK_PATTERN = '\\P{White_Space}'

const patternDescriptions = new Map([[NOT_BLANK_PATTERN, 'must not be blank']])

/** Sets the message for values that do not match a pattern, and returns the pattern. */
export function describePattern(pattern: string, message: string): string {
  patternDescriptions.set(pattern, message)
  return pattern
}

function patternMessage(pattern: string): string {
  const description = patternDescriptions.get(pattern)
  if (description !== undefined) return description
  const prefix = idPrefix(pattern)
  if (prefix === undefined) return `must match the pattern ${pattern}`
  return `must be ${idDescriptions[prefix] ?? `an ID that starts with ${prefix}`}`
}

function idPrefix(pattern: string): string | undefined {
  return /^\^([A-Za-z]{2,3}_)/.exec(pattern)?.[1]
}

function withArticle(type: string) {
  return type === 'integer' ? 'a whole number' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function countNoun(number: number, noun: string) {
  return `${number} ${number === 1 ? noun : `${noun}s`}`
}

/** Converts a JSON pointer into a readable path: `/skills/2/skill_id` becomes `skills[2].skill_id`. */
function readablePath(pointer: string, prefix: string, value: unknown, name?: string): string {
  const parts = pointerParts(pointer)
  if (name !== undefined) parts.push(name)
  let path = prefix
  let current = value
  for (const part of parts) {
    path += Array.isArray(current) ? `[${part}]` : path ? `.${part}` : part
    current = (current as Record<string, unknown> | undefined | null)?.[part]
  }
  return path || 'body'
}
