import Format from 'typebox/format'

/**
 * Finds what is wrong with a value, in bounded time: lengths are checked before items, a list that is too long is not walked, and
 * the number of errors is limited. TypeBox's own error collection walks every item of a list of any length.
 */

/** The part of JSON Schema that request schemas use. A test makes sure that they use nothing else. */
export interface RequestValueSchema {
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: RequestValueSchema[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  items?: RequestValueSchema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  properties?: Record<string, RequestValueSchema>
  required?: string[]
  maxProperties?: number
  propertyNames?: RequestValueSchema
  additionalProperties?: boolean | RequestValueSchema
}

/** Keywords that do not restrict values. */
type AnnotationKeyword = 'title' | 'description' | 'default' | 'examples'

/** The keywords that `findSchemaErrors` knows. */
export const supportedKeywords: ReadonlySet<string> = new Set<keyof RequestValueSchema | AnnotationKeyword>([
  'type',
  'const',
  'enum',
  'anyOf',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'properties',
  'required',
  'maxProperties',
  'propertyNames',
  'additionalProperties',
  'title',
  'description',
  'default',
  'examples',
])

/** The position of a value in the request: the names and indexes that lead to it. */
export interface ValuePath {
  parent: ValuePath | undefined
  key: string | number
}

export type SchemaError = {
  /** Undefined for the value as a whole. */
  path: ValuePath | undefined
  /** The schema that the value violates. */
  schema: RequestValueSchema
  value: unknown
} & (
  | { keyword: 'required'; names: string[] }
  | { keyword: 'additionalProperties'; names: string[]; unlistedNames: number }
  | { keyword: 'enum'; allowedValues: readonly unknown[] }
  | { keyword: OtherKeyword }
)

type OtherKeyword = Exclude<
  keyof RequestValueSchema,
  'required' | 'additionalProperties' | 'enum' | 'properties' | 'items'
>

/** Up to this number, all errors are collected; after it, only the first error of each list item. */
const MAX_DETAILED_ERRORS = 300
/** The longest list of the APIs has 1,000 items, and every invalid item is reported. */
const MAX_ERRORS = MAX_DETAILED_ERRORS + 1000
/** How many items of a list without `maxItems` are checked. */
const MAX_CHECKED_ITEMS = 1000
const MAX_NAMED_PROPERTIES = 100

/** Returns the errors of a value; none if it is valid. */
export function findSchemaErrors(schema: RequestValueSchema, value: unknown): SchemaError[] {
  const errors: SchemaError[] = []
  checkValue(schema, value, undefined, errors, MAX_DETAILED_ERRORS)
  return errors
}

/** Adds the errors of a value to `errors`, and stops when there are `limit` of them. */
function checkValue(
  schema: RequestValueSchema,
  value: unknown,
  path: ValuePath | undefined,
  errors: SchemaError[],
  limit: number,
): void {
  if (schema.anyOf) {
    checkUnion(schema, schema.anyOf, value, path, errors)
    return
  }
  if (schema.type !== undefined && !hasType(value, schema.type)) {
    errors.push({ keyword: 'type', path, schema, value })
    return
  }
  if ('const' in schema && value !== schema.const) errors.push({ keyword: 'const', path, schema, value })
  if (schema.enum && !schema.enum.includes(value))
    errors.push({ keyword: 'enum', path, schema, value, allowedValues: schema.enum })
  if (typeof value === 'string') checkText(schema, value, path, errors)
  else if (typeof value === 'number') checkNumber(schema, value, path, errors)
  else if (Array.isArray(value)) checkList(schema, value, path, errors, limit)
  else if (value !== null && typeof value === 'object')
    checkObject(schema, value as Record<string, unknown>, path, errors, limit)
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}

function checkText(schema: RequestValueSchema, value: string, path: ValuePath | undefined, errors: SchemaError[]) {
  const { minLength, maxLength, pattern, format } = schema
  if (maxLength !== undefined && isLongerThan(value, maxLength)) {
    errors.push({ keyword: 'maxLength', path, schema, value })
    return // a pattern could take long on a long text
  }
  if (minLength !== undefined && minLength > 0 && !isLongerThan(value, minLength - 1))
    errors.push({ keyword: 'minLength', path, schema, value })
  if (pattern !== undefined && !regExpOf(pattern).test(value)) errors.push({ keyword: 'pattern', path, schema, value })
  if (format !== undefined && !Format.Test(format, value)) errors.push({ keyword: 'format', path, schema, value })
}

/** JSON Schema counts code points, and a code point has one or two UTF-16 units. */
function isLongerThan(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false
  if (text.length > 2 * codePoints) return true
  let count = 0
  for (const _codePoint of text) count++
  return count > codePoints
}

const regExps = new Map<string, RegExp>()

function regExpOf(pattern: string): RegExp {
  const regExp = regExps.get(pattern) ?? new RegExp(pattern, 'u')
  regExps.set(pattern, regExp)
  return regExp
}

function checkNumber(schema: RequestValueSchema, value: number, path: ValuePath | undefined, errors: SchemaError[]) {
  if (schema.minimum !== undefined && value < schema.minimum) errors.push({ keyword: 'minimum', path, schema, value })
  if (schema.maximum !== undefined && value > schema.maximum) errors.push({ keyword: 'maximum', path, schema, value })
}

function checkList(
  schema: RequestValueSchema,
  value: unknown[],
  path: ValuePath | undefined,
  errors: SchemaError[],
  limit: number,
) {
  const { minItems = 0, maxItems, items, uniqueItems } = schema
  if (value.length < minItems) errors.push({ keyword: 'minItems', path, schema, value })
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push({ keyword: 'maxItems', path, schema, value })
    return
  }
  const errorsBefore = errors.length
  if (items) {
    for (let index = 0; index < value.length && index < MAX_CHECKED_ITEMS && errors.length < MAX_ERRORS; index++)
      checkValue(items, value[index], { parent: path, key: index }, errors, Math.max(limit, errors.length + 1))
  }
  // Valid items that must be unique are short texts or numbers.
  if (uniqueItems && errors.length === errorsBefore && new Set(value).size < value.length)
    errors.push({ keyword: 'uniqueItems', path, schema, value })
}

function checkObject(
  schema: RequestValueSchema,
  value: Record<string, unknown>,
  path: ValuePath | undefined,
  errors: SchemaError[],
  limit: number,
) {
  const { required = [], properties = {}, additionalProperties = true, propertyNames, maxProperties } = schema
  const missingNames = required.filter((name) => !Object.hasOwn(value, name))
  if (missingNames.length > 0) errors.push({ keyword: 'required', path, schema, value, names: missingNames })
  const names = Object.keys(value)
  if (maxProperties !== undefined && names.length > maxProperties) {
    errors.push({ keyword: 'maxProperties', path, schema, value })
    return
  }
  if (errors.length >= limit) return
  const otherNames = names.filter((name) => !Object.hasOwn(properties, name))
  if (additionalProperties === false && otherNames.length > 0) {
    const listedNames = otherNames.slice(0, MAX_NAMED_PROPERTIES)
    const unlistedNames = otherNames.length - listedNames.length
    errors.push({ keyword: 'additionalProperties', path, schema, value, names: listedNames, unlistedNames })
  }
  for (const name of Object.keys(properties)) {
    if (errors.length >= limit) return
    if (Object.hasOwn(value, name))
      checkValue(properties[name]!, value[name], { parent: path, key: name }, errors, limit)
  }
  if (additionalProperties === false) return
  const errorsBefore = errors.length
  for (const name of otherNames) {
    if (errors.length >= limit) return
    // A name is reported as a mistake of the object, once.
    if (propertyNames && errors.length === errorsBefore) checkValue(propertyNames, name, path, errors, limit)
    if (typeof additionalProperties === 'object')
      checkValue(additionalProperties, value[name], { parent: path, key: name }, errors, limit)
  }
}

const MAX_ERRORS_PER_UNION_MEMBER = 30

/**
 * Adds the errors of the union member that the value is closest to: the one with the fewest invalid properties. The errors of the
 * other members would be misleading.
 */
function checkUnion(
  schema: RequestValueSchema,
  members: RequestValueSchema[],
  value: unknown,
  path: ValuePath | undefined,
  errors: SchemaError[],
) {
  let closest: SchemaError[] | undefined
  const allowedConstants: unknown[] = []
  for (const member of members) {
    const memberErrors: SchemaError[] = []
    checkValue(member, value, path, memberErrors, MAX_ERRORS_PER_UNION_MEMBER)
    if (memberErrors.length === 0) return
    if ('const' in member) allowedConstants.push(member.const)
    if (!closest || distanceTo(memberErrors, path) < distanceTo(closest, path)) closest = memberErrors
  }
  if (allowedConstants.length === members.length)
    errors.push({ keyword: 'enum', path, schema, value, allowedValues: allowedConstants })
  else if (closest) errors.push(...closest)
}

/** A value of another type is further away than any number of invalid properties. */
const OTHER_TYPE_DISTANCE = 10_000

function distanceTo(memberErrors: SchemaError[], unionPath: ValuePath | undefined): number {
  let distance = 0
  for (const error of memberErrors) {
    if (error.keyword === 'type' && error.path === unionPath) distance += OTHER_TYPE_DISTANCE
    else if (error.keyword === 'required') distance += error.names.length
    else if (error.keyword === 'additionalProperties') distance += 2 * (error.names.length + error.unlistedNames)
    else distance += 1
  }
  return distance
}

/** Returns the names and indexes that lead to a value, from the outermost. */
export function pathKeys(path: ValuePath | undefined): (string | number)[] {
  const keys: (string | number)[] = []
  for (let node = path; node; node = node.parent) keys.push(node.key)
  return keys.reverse()
}
