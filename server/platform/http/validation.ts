import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox/type'
import { idDescriptions } from '../../api/id-descriptions.ts'
import type { Detail } from '../../api/problem.ts'
import { closestName, onlyNameWithWords } from './did-you-mean.ts'
import { collectUnstorableTexts } from './json.ts'
import { findSchemaErrors, pathKeys, type RequestValueSchema, type SchemaError } from './schema-errors.ts'

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

/** Larger bodies are checked by `findSchemaErrors` first, whose time is bounded. */
const MAX_BYTES_TO_CHECK_FIRST = 16 * 1024

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
    // The compiled check is fast for valid values, but walks a list before it checks its length.
    const isLarge = part === 'body' && request.rawBody.length > MAX_BYTES_TO_CHECK_FIRST
    const largeBodyErrors = isLarge ? findSchemaErrors(schema as RequestValueSchema, value) : []
    const isValid = largeBodyErrors.length === 0 && compiled.Check(value)
    const details = isValid ? [] : detailsOf(part, schema, largeBodyErrors, value)
    // Only an escape sequence can produce a text that cannot be stored: JSON and URLs contain no raw NUL, and UTF-8 has no
    // unpaired surrogates.
    if (part === 'body' ? request.rawBody.includes('\\u') : request.raw?.url?.includes('%')) {
      collectUnstorableTexts(pickKnownProperties(schema as ObjectSchema, value), pathPrefixes[part], details)
    }
    if (isValid && details.length === 0) request[field] = value
    return details.length === 0 ? NO_ERRORS : details.map((detail) => ({ part, detail }))
  }
}

function detailsOf(part: RequestPart, schema: TSchema, knownErrors: SchemaError[], value: unknown): Detail[] {
  if (part === 'body' && value === undefined) return [{ path: 'body', message: 'a JSON body is required' }]
  const errors = knownErrors.length > 0 ? knownErrors : findSchemaErrors(schema as RequestValueSchema, value)
  const hints = { left: MAX_UNKNOWN_PROPERTIES_WITH_HINTS }
  const details = withoutRepeatedBlank(errors.flatMap((error) => describeError(error, pathPrefixes[part], hints)))
  return details.length > 0 ? details : [{ path: pathPrefixes[part] || 'body', message: 'is not valid' }]
}

/** Reports an empty text once: a text that must not be blank has a minimum length, too. */
function withoutRepeatedBlank(details: Detail[]): Detail[] {
  const blankPaths = new Set(details.filter(({ message }) => message === BLANK_MESSAGE).map(({ path }) => path))
  return details.filter(({ path, message }) => message !== EMPTY_MESSAGE || !blankPaths.has(path))
}

/** Returns a copy of the value without the properties that the schema ignores. */
function pickKnownProperties({ properties, additionalProperties }: ObjectSchema, value: unknown): unknown {
  if (!properties || additionalProperties === false || value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)))
}

interface ObjectSchema {
  additionalProperties?: unknown
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

function describeError(error: SchemaError, prefix: string, hints: { left: number }): Detail[] {
  const pathOf = (name?: string) => readablePath(error, prefix, name)
  switch (error.keyword) {
    case 'required':
      return error.names.map((name) => ({
        path: pathOf(name),
        message: customMessage(error.schema, name) ?? 'is required',
      }))
    case 'additionalProperties': {
      const { names, unlistedNames, schema } = error
      const withHints = names.length <= hints.left
      if (withHints) hints.left -= names.length
      const details = names.map((name) => ({
        path: pathOf(name),
        message: unknownPropertyMessage(name, schema, withHints),
      }))
      if (unlistedNames > 0) details.push({ path: pathOf(), message: `has ${unlistedNames} more unknown properties` })
      return details
    }
    default: {
      const message = messageFor(error) + objectHint(error)
      const hasAdvice = message.includes(';')
      return [{ path: pathOf(), message: message + (hasAdvice ? '' : describeReceivedValue(error, prefix)) }]
    }
  }
}

/** Suggestions are slow, so that only the first unknown properties of a request have them. */
const MAX_UNKNOWN_PROPERTIES_WITH_HINTS = 20

/** Of an object with more properties, an error does not list them: the API reference does. */
const MAX_LISTED_ALLOWED_PROPERTIES = 12

function unknownPropertyMessage(name: string, schema: RequestValueSchema, withHint: boolean): string {
  const message = customMessage(schema, name)
  if (message) return message
  const properties = withHint ? Object.keys(schema.properties ?? {}) : []
  const suggestion = closestName(name, properties) ?? onlyNameWithWords(name, properties)
  if (suggestion !== undefined) return `is not a known property; did you mean ${suggestion}?`
  if (properties.length === 0 || properties.length > MAX_LISTED_ALLOWED_PROPERTIES) return 'is not a known property'
  return `is not a known property; expected ${properties.length === 1 ? '' : 'one of '}${properties.join(', ')}`
}

const customMessages = new WeakMap<object, Record<string, string>>()

/** Sets the messages for properties that an object lacks although they are required, or has although they are not allowed. */
export function setPropertyMessages<Schema extends object>(schema: Schema, messages: Record<string, string>): Schema {
  customMessages.set(schema, messages)
  return schema
}

function customMessage(schema: object, name: string): string | undefined {
  const messages = customMessages.get(schema)
  return messages && Object.hasOwn(messages, name) ? messages[name] : undefined
}

const MAX_LISTED_PROPERTIES = 4

/** Lists the required properties if the value should have been an object. */
function objectHint({ keyword, schema }: SchemaError): string {
  if (keyword !== 'type' || schema.type !== 'object') return ''
  const { required = [] } = schema
  return required.length === 0 || required.length > MAX_LISTED_PROPERTIES ? '' : ` with ${required.join(' and ')}`
}

/** Describes the received value. Texts of a body are shown only if they are IDs or keywords: others may be personal data. */
function describeReceivedValue({ keyword, schema, value }: SchemaError, prefix: string): string {
  const isParameter = prefix !== ''
  switch (keyword) {
    case 'type': {
      const isShown = isParameter || (typeof value === 'number' && schema.type === 'integer')
      return `; got ${isShown ? showValue(value) : kindOf(value)}`
    }
    case 'minimum':
    case 'maximum':
    case 'enum':
    case 'const':
      return `; got ${showValue(value)}`
    case 'pattern':
      return isParameter || idPrefix(schema.pattern!) ? `; got ${showValue(value)}` : ''
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

function messageFor(error: SchemaError): string {
  const { schema } = error
  switch (error.keyword) {
    case 'type':
      return `must be ${withArticle(schema.type!)}`
    case 'const':
      return `must be ${JSON.stringify(schema.const)}`
    case 'enum':
      return `must be one of ${error.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
    case 'pattern':
      return patternMessage(schema.pattern!)
    case 'format':
      return formatMessages[schema.format!] ?? `must have the format ${schema.format}`
    case 'minLength':
      return `must have at least ${countNoun(schema.minLength!, 'character')}`
    case 'maxLength':
      return `must have at most ${countNoun(schema.maxLength!, 'character')}`
    case 'minItems':
      return `must have at least ${countNoun(schema.minItems!, 'item')}`
    case 'maxItems':
      return `must have at most ${countNoun(schema.maxItems!, 'item')}`
    case 'maxProperties':
      return `must have at most ${schema.maxProperties} ${schema.maxProperties === 1 ? 'property' : 'properties'}`
    case 'minimum':
      return `must be at least ${schema.minimum}`
    case 'maximum':
      return `must be at most ${schema.maximum}`
    case 'uniqueItems':
      return 'must not contain duplicate items'
    default:
      return 'is not valid'
  }
}

const formatMessages: Record<string, string> = {
  'date-time': 'must be a time in the format of RFC 3339, such as 2026-03-14T09:30:00Z',
}

/** Pattern of a text that contains more than white space. */
export const NOT_BLANK_PATTERN = '\\P{White_Space}'

const BLANK_MESSAGE = 'must not be blank'
const EMPTY_MESSAGE = 'must have at least 1 character'
const patternDescriptions = new Map([[NOT_BLANK_PATTERN, BLANK_MESSAGE]])

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
  return `must be ${idDescriptions[prefix] ?? `an ID such as ${prefix}01HZX…`}`
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

/** Returns the path of a value as callers write it: `skills[2].skill_id`. */
function readablePath({ path }: SchemaError, prefix: string, name?: string): string {
  const keys = pathKeys(path)
  if (name !== undefined) keys.push(name)
  let text = prefix
  for (const key of keys) text += typeof key === 'number' ? `[${key}]` : text ? `.${key}` : key
  return text || 'body'
}
