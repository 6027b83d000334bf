import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import type { TSchema } from 'typebox/type'
import { type Detail, type Problem, problem } from '../../api/problem.ts'
import { closestName } from './did-you-mean.ts'
import { findErrors } from './error-limits.ts'
import { collectUnstorable } from './json.ts'
import { withoutOtherBranches } from './union-errors.ts'

const MOST_DETAILS = 1000

type Part = 'params' | 'querystring' | 'body'

const parts: Part[] = ['params', 'querystring', 'body']
const prefixes: Record<Part, string> = { params: 'path', querystring: 'query', body: '' }

export interface RequestParts {
  params: unknown
  query: unknown
  body: unknown
  rawBody: Buffer
  raw?: { url?: string | undefined }
}

export type RequestSchema = Partial<Record<Part, unknown>>

/**
 * Checks every part of a request at once, so that a caller learns of all that is wrong in one answer; reads numbers and
 * defaults into the parts.
 */
export type RequestValidator = (request: RequestParts) => { part: Part; detail: Detail }[]

const NOTHING: ReturnType<RequestValidator> = []

export function compileRequestValidator(schema: RequestSchema): RequestValidator {
  const checks = parts
    .filter((part) => schema[part] !== undefined)
    .map((part) => compilePart(part, schema[part] as TSchema))
  return (request) => {
    let found = NOTHING
    for (const check of checks) {
      const more = check(request)
      if (more.length > 0) found = [...found, ...more]
    }
    return found
  }
}

function compilePart(part: Part, schema: TSchema) {
  // Made at the first call: a server has hundreds of them, and is up sooner without.
  let compiled: ReturnType<typeof Compile> | undefined
  const field = part === 'querystring' ? 'query' : part
  const absentBody = (schema as { default?: unknown }).default // for a body that may be left out
  const properties = Object.entries((schema as ObjectSchema).properties ?? {})
  return (request: RequestParts) => {
    const body = request.body === undefined ? absentBody : request.body
    const value = part === 'body' ? body : readTexts(properties, request[field])
    compiled ??= Compile(schema)
    const validator = compiled
    const valid = validator.Check(value)
    const details = valid ? [] : violations(part, schema, findErrors(validator, schema, value), value)
    // Only an escape can hold what cannot be stored: neither the parser of JSON nor that of addresses lets a raw NUL pass, and
    // UTF-8 has no half pairs.
    if (part === 'body' ? request.rawBody.includes('\\u') : request.raw?.url?.includes('%')) {
      collectUnstorable(knownParts(schema as ObjectSchema, value), prefixes[part], details)
    }
    if (valid && details.length === 0) request[field] = value
    return details.length === 0 ? NOTHING : details.map((detail) => ({ part, detail }))
  }
}

function violations(part: Part, schema: TSchema, errors: TLocalizedValidationError[], value: unknown): Detail[] {
  if (part === 'body' && value === undefined) return [{ path: 'body', message: 'a JSON body is required' }]
  const details = detailsOf(schema, errors, prefixes[part], value)
  return details.length > 0
    ? details
    : [{ path: prefixes[part] || 'body', message: 'breaks more rules than can be listed' }]
}

/** Where unknown properties are ignored, so is what they hold. */
function knownParts({ properties, additionalProperties }: ObjectSchema, value: unknown): unknown {
  if (!properties || additionalProperties === false || value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)))
}

/** One refusal for any number of violations, of which as many are listed as anybody would read. */
export function invalid(found: Detail[]): Problem {
  const details = found.length > MOST_DETAILS ? fewer(found) : found
  const [first] = details
  const message =
    details.length === 1
      ? `${first!.path}: ${first!.message}${first!.message.endsWith('?') ? '' : '.'}`
      : `${found.length} things are wrong with this request; see details.`
  return problem('VALIDATION_FAILED', message, { details })
}

/** Each item of a list that is at fault is named at least once before any is named again. */
function fewer(found: Detail[]): Detail[] {
  const firsts = new Map(
    found.toReversed().map((detail) => [/^[^\]]*\]/.exec(detail.path)?.[0] ?? detail.path, detail]),
  )
  const chosen = new Set([...firsts.values()].slice(-MOST_DETAILS))
  for (const detail of found) if (chosen.size < MOST_DETAILS) chosen.add(detail)
  return found.filter((detail) => chosen.has(detail))
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

/** Query and path values arrive as text: numbers and booleans are read strictly, defaults filled in. */
function readTexts(properties: [string, PropertySchema][], value: unknown): unknown {
  const given = (value ?? {}) as Record<string, unknown>
  const read: Record<string, unknown> = {}
  for (const [name, property] of properties) {
    const text = Object.hasOwn(given, name) ? given[name] : undefined
    if (text === undefined) {
      if (property.default !== undefined) read[name] = property.default
    } else {
      read[name] = typeof text === 'string' ? readText(text, property.type) : text
    }
  }
  return read
}

function readText(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** Turns the checker's findings into one detail a violation, named by the path of the property at fault. */
function detailsOf(schema: TSchema, errors: TLocalizedValidationError[], prefix: string, value: unknown): Detail[] {
  const details = new Map<string, Detail>()
  const found = withoutOtherBranches(errors)
  // Of a property with a name of the caller's own, the checker says both that its value is wrong and that it is unknown.
  const faulty = new Set(found.filter(({ keyword }) => keyword !== 'boolean').map(({ instancePath }) => instancePath))
  for (const error of found) {
    for (const { at, ...detail } of describe(schema, error, prefix, value))
      if (at === undefined || !faulty.has(at)) details.set(`${detail.path}\n${detail.message}`, detail)
  }
  return [...details.values()]
}

/** `at`: where the property is, for one that is not known. */
type Finding = Detail & { at?: string }

function describe(schema: TSchema, error: TLocalizedValidationError, prefix: string, value: unknown): Finding[] {
  const at = (name?: string) => readablePath(error.instancePath, prefix, value, name)
  switch (error.keyword) {
    case 'boolean':
      return [] // said by additionalProperties, with the name
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: at(name),
        message: wordsFor(schemaAt(schema, error.schemaPath), name) ?? 'is required',
      }))
    case 'additionalProperties':
      return error.params.additionalProperties.map((name, _index, { length }) => ({
        path: at(name),
        at: `${error.instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        message: unknownWording(name, schemaAt(schema, error.schemaPath), length <= MOST_HINTS),
      }))
    default:
      return [{ path: at(), message: wording(error) + objectHint(schema, error) }]
  }
}

/** Who sends this many names that nobody knows is not in need of hints, which take time. */
const MOST_HINTS = 20

function unknownWording(name: string, schema: ObjectSchema | undefined, hints: boolean): string {
  const words = wordsFor(schema, name)
  if (words) return words
  const meant = hints && schema?.properties ? closestName(name, Object.keys(schema.properties)) : undefined
  return meant === undefined ? 'is not a known property' : `is not a known property; did you mean ${meant}?`
}

const explained = new WeakMap<object, Record<string, string>>()

/** What is said of properties that an object lacks, or has and must not have, instead of the bare fact. */
export function explain<Schema extends object>(schema: Schema, words: Record<string, string>): Schema {
  explained.set(schema, words)
  return schema
}

function wordsFor(schema: object | undefined, name: string): string | undefined {
  const words = schema && explained.get(schema)
  return words && Object.hasOwn(words, name) ? words[name] : undefined
}

/** Who sends a text or a list where an object belongs learns what the object holds. */
function objectHint(schema: TSchema, { keyword, params, schemaPath }: TLocalizedValidationError): string {
  if (keyword !== 'type' || params.type !== 'object') return ''
  const { required = [] } = schemaAt(schema, schemaPath) ?? {}
  return required.length === 0 || required.length > 4 ? '' : ` with ${required.join(' and ')}`
}

/** The part of a schema that a finding names as `#/properties/skills/items`. */
function schemaAt(schema: TSchema, path: string): ObjectSchema | undefined {
  let found: unknown = schema
  for (const step of path.split('/').slice(1)) found = (found as Record<string, unknown> | undefined)?.[step]
  return found as ObjectSchema | undefined
}

function wording(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case 'type':
      return `must be ${article(String(error.params.type))}`
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`
    case 'enum':
      return `must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
    case 'pattern':
      return patternWording(String(error.params.pattern))
    case 'minLength':
      return `must have at least ${count(error.params.limit, 'character')}`
    case 'maxLength':
      return `must have at most ${count(error.params.limit, 'character')}`
    case 'minItems':
      return `must have at least ${count(error.params.limit, 'item')}`
    case 'maxItems':
      return `must have at most ${count(error.params.limit, 'item')}`
    case 'minProperties':
      return `must have at least ${count(error.params.limit, 'property')}`
    case 'maxProperties':
      return `must have at most ${error.params.limit} properties`
    case 'minimum':
      return `must be at least ${error.params.limit}`
    case 'maximum':
      return `must be at most ${error.params.limit}`
    case 'uniqueItems':
      return 'must not repeat an item'
    case 'anyOf':
      return 'has none of the accepted forms'
    default:
      return error.message
  }
}

/** The pattern that schemas use for a text that must hold more than white space. */
export const NOT_BLANK = '\\P{White_Space}'

const patternWords = new Map([[NOT_BLANK, 'must not be blank']])

/** A pattern whose violation is told in words, wherever it is used. */
export function inWords(pattern: string, words: string): string {
  patternWords.set(pattern, words)
  return pattern
}

/** Ids are told by how they begin. */
function patternWording(pattern: string): string {
  const prefix = /^\^([A-Za-z]{2}_)/.exec(pattern)?.[1]
  return (
    patternWords.get(pattern) ??
    (prefix ? `must be an id that begins with ${prefix}, and match ${pattern}` : `must match ${pattern}`)
  )
}

function article(type: string) {
  return type === 'integer' ? 'a whole number' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function count(number: number, noun: string) {
  return `${number} ${number === 1 ? noun : `${noun}s`}`
}

/** `/skills/2/skill_id` becomes `skills[2].skill_id`. */
function readablePath(pointer: string, prefix: string, value: unknown, name?: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (name !== undefined) parts.push(name)
  let path = prefix
  let at = value
  for (const part of parts) {
    path += Array.isArray(at) ? `[${part}]` : path ? `.${part}` : part
    at = (at as Record<string, unknown> | undefined | null)?.[part]
  }
  return path || 'body'
}
