import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import type { TSchema } from 'typebox/type'
import { collectUnstorable } from './json.ts'
import { type Detail, type Problem, problem } from './problem.ts'

// Far more violations than anybody reads; what a hostile body adds beyond them is not worth the time.
Settings.Set({ maxErrors: 5000 })

const MOST_DETAILS = 1000

type Part = 'params' | 'querystring' | 'body'

const parts: Part[] = ['params', 'querystring', 'body']
const prefixes: Record<Part, string> = { params: 'path', querystring: 'query', body: '' }

export interface RequestParts {
  params: unknown
  query: unknown
  body: unknown
  rawBody: Buffer
}

export type RequestSchema = Partial<Record<Part, unknown>>

/**
 * Checks every part of a request at once, so that a caller learns of all that is wrong in one answer; reads numbers and
 * defaults into the parts.
 */
export type RequestValidator = (request: RequestParts) => { part: Part; detail: Detail }[]

export function compileRequestValidator(schema: RequestSchema): RequestValidator {
  const checks = parts
    .filter((part) => schema[part] !== undefined)
    .map((part) => compilePart(part, schema[part] as TSchema))
  return (request) => checks.flatMap((check) => check(request))
}

function compilePart(part: Part, schema: TSchema) {
  // Made at the first call: a server has hundreds of them, and is up sooner without.
  let compiled: ReturnType<typeof Compile> | undefined
  const field = part === 'querystring' ? 'query' : part
  const absentBody = (schema as { default?: unknown }).default // for a body that may be left out
  return (request: RequestParts) => {
    const body = request.body === undefined ? absentBody : request.body
    const value = part === 'body' ? body : readTexts(schema as ObjectSchema, request[field])
    compiled ??= Compile(schema)
    const validator = compiled
    const valid = validator.Check(value)
    const details = valid ? [] : violations(part, validator.Errors(value), value)
    // Only an escape can hold what cannot be stored: the JSON parser refuses a raw NUL, and UTF-8 has no half pairs.
    if (part !== 'body' || request.rawBody.includes('\\u')) {
      collectUnstorable(knownParts(schema as ObjectSchema, value), prefixes[part], details)
    }
    if (valid && details.length === 0) request[field] = value
    return details.map((detail) => ({ part, detail }))
  }
}

function violations(part: Part, errors: TLocalizedValidationError[], value: unknown): Detail[] {
  if (part === 'body' && value === undefined) return [{ path: 'body', message: 'a JSON body is required' }]
  const details = detailsOf(errors, prefixes[part], value)
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
      ? `${first!.path}: ${first!.message}.`
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
  properties?: Record<string, { type?: string; default?: unknown }>
}

/** Query and path values arrive as text: numbers and booleans are read strictly, defaults filled in. */
function readTexts(schema: ObjectSchema, value: unknown): unknown {
  const given = (value ?? {}) as Record<string, unknown>
  const read: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
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
function detailsOf(errors: TLocalizedValidationError[], prefix: string, value: unknown): Detail[] {
  const details = new Map<string, Detail>()
  for (const error of withoutOtherBranches(errors)) {
    for (const detail of describe(error, prefix, value)) details.set(`${detail.path}\n${detail.message}`, detail)
  }
  return [...details.values()]
}

function describe(error: TLocalizedValidationError, prefix: string, value: unknown): Detail[] {
  const at = (name?: string) => readablePath(error.instancePath, prefix, value, name)
  switch (error.keyword) {
    case 'boolean':
      return [] // said by additionalProperties, with the name
    case 'required':
      return error.params.requiredProperties.map((name) => ({ path: at(name), message: 'is required' }))
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({ path: at(name), message: 'is not a known property' }))
    default:
      return [{ path: at(), message: wording(error) }]
  }
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
      return String(error.params.pattern) === NOT_BLANK ? 'must not be blank' : `must match ${error.params.pattern}`
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

/**
 * A value that fits none of several forms is reported against the form it comes closest to, by the number of findings;
 * the findings of the other forms would only mislead.
 */
function withoutOtherBranches(errors: TLocalizedValidationError[]): TLocalizedValidationError[] {
  let kept = errors
  for (const choice of errors.filter((error) => error.keyword === 'anyOf')) {
    const branches = branchesOf(choice, kept)
    if (branches.size === 0) continue
    const closest = [...branches.values()].sort((a, b) => weight(a) - weight(b))[0]!
    const allConstants = [...branches.values()].every((branch) => branch.length === 1 && branch[0]!.keyword === 'const')
    const dropped = new Set([...branches.values()].filter((branch) => branch !== closest || allConstants).flat())
    if (allConstants) {
      const allowedValues = [...branches.values()].map(
        (branch) => (branch[0] as { params: { allowedValue: unknown } }).params.allowedValue,
      )
      kept = kept.map((error) => (error === choice ? { ...choice, keyword: 'enum', params: { allowedValues } } : error))
    } else {
      dropped.add(choice)
    }
    kept = kept.filter((error) => !dropped.has(error))
  }
  return kept
}

function branchesOf(choice: TLocalizedValidationError, errors: TLocalizedValidationError[]) {
  const start = `${choice.schemaPath}/anyOf/`
  const branches = new Map<string, TLocalizedValidationError[]>()
  for (const error of errors) {
    if (!error.schemaPath.startsWith(start) || !error.instancePath.startsWith(choice.instancePath)) continue
    const branch = error.schemaPath.slice(start.length).split('/')[0]!
    branches.set(branch, [...(branches.get(branch) ?? []), error])
  }
  return branches
}

function weight(branch: TLocalizedValidationError[]): number {
  // A wrong kind of value altogether is further away than any number of wrong properties.
  return branch.reduce(
    (sum, error) => sum + (error.keyword === 'type' && error.instancePath === branch[0]!.instancePath ? 3 : 1),
    0,
  )
}
