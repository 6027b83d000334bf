import { scimError } from './errors.ts'

/**
 * Filters of lists and paths of patches (RFC 7644). The parser of the library takes exponential time for some texts, and writes to
 * `Object.prototype` for others. Filters are therefore read and evaluated here, and the library gets only paths that were checked here.
 */

const MAX_FILTER_LENGTH = 1000
const MAX_COMPARISONS = 6
const MAX_PATH_LENGTH = 200

/** An attribute such as `userName`, `name.givenName` or `emails[type eq "work"].value`. */
const PATH = String.raw`[A-Za-z$][\w:.$-]*(?:\[[A-Za-z]\w* eq (?:"[^"\\[\]\p{Cc}]*"|true|false)\](?:\.[A-Za-z$]\w*)?)?`
const PATH_FORMAT = new RegExp(`^${PATH}$`, 'u')
const PATH_PARTS = /^([^[]+)(?:\[(\w+) eq ([^\]]*)\](?:\.(.*))?)?$/u
const VALUE = String.raw`"[^"\\\p{Cc}]{0,254}"|true|false|-?\d{1,15}`
const COMPARISON = new RegExp(
  ` *(${PATH}) +(?:(pr)|(eq|ne|co|sw|ew|gt|ge|lt|le) +(${VALUE}))(?: +(and|or) +(?=\\S)| *$)`,
  'iuy',
)
const CORE_SCHEMA_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i
const CASE_SENSITIVE_ATTRIBUTES = ['id', 'externalid']
const DATE_FORMAT = /^\d{4}-\d\d-\d\dT/

type Value = string | number | boolean

interface Comparison {
  path: string
  operator: string
  value: Value | undefined
}

/** Returns the resources that match a filter: comparisons that are joined by `and` and `or`. */
export function filterResources(resources: object[], filter: string): object[] {
  const alternatives = readFilter(filter)
  return resources.filter((resource) =>
    alternatives.some((comparisons) => comparisons.every((comparison) => matches(resource, comparison))),
  )
}

/** Returns the alternatives of a filter, each of them a list of comparisons that must all be true. */
function readFilter(filter: string): Comparison[][] {
  if (filter.length > MAX_FILTER_LENGTH)
    throw scimError(400, 'invalidFilter', `The filter must have at most ${MAX_FILTER_LENGTH} characters.`)
  const alternatives: Comparison[][] = [[]]
  let position = 0
  for (let count = 1; count <= MAX_COMPARISONS; count++) {
    COMPARISON.lastIndex = position
    const match = COMPARISON.exec(filter)
    if (!match) break
    const [text, path, presence, operator, value, join] = match
    alternatives.at(-1)!.push({
      path: path!,
      operator: (presence ?? operator)!.toLowerCase(),
      value: value === undefined ? undefined : readValue(value),
    })
    if (join === undefined) return alternatives
    if (join.toLowerCase() === 'or') alternatives.push([])
    position += text.length
  }
  throw scimError(
    400,
    'invalidFilter',
    `The filter must be up to ${MAX_COMPARISONS} comparisons such as \`userName eq "asha"\` or \`externalId pr\`, joined by \`and\` or \`or\`, without parentheses and backslashes.`,
  )
}

function readValue(text: string): Value {
  if (text.startsWith('"')) return text.slice(1, -1)
  return /^[tf]/i.test(text) ? text.toLowerCase() === 'true' : Number(text)
}

/** Throws an error if the path of a patch, or an attribute name that is used as one, is not supported. */
export function requireValidPath(path: string): void {
  if (path.length > MAX_PATH_LENGTH || !PATH_FORMAT.test(path))
    throw scimError(
      400,
      'invalidPath',
      `A path must be an attribute such as \`name.givenName\` or \`emails[type eq "work"].value\`, with at most ${MAX_PATH_LENGTH} characters.`,
    )
}

function matches(resource: object, { path, operator, value }: Comparison): boolean {
  const values = valuesAt(resource, path)
  if (operator === 'pr') return values.length > 0
  const isCaseSensitive = CASE_SENSITIVE_ATTRIBUTES.includes(path.toLowerCase())
  if (operator === 'ne') return !values.some((actual) => compare('eq', actual, value!, isCaseSensitive))
  return values.some((actual) => compare(operator, actual, value!, isCaseSensitive))
}

/** Returns the values of an attribute: none if it is missing, several if it has several. */
function valuesAt(resource: object, path: string): unknown[] {
  const [, attribute, conditionName, conditionValue, subAttribute] =
    PATH_PARTS.exec(path.replace(CORE_SCHEMA_PREFIX, '')) ?? []
  let values: unknown[] = [resource]
  for (const name of attribute!.split('.')) values = valuesOf(values, name)
  if (conditionName !== undefined)
    values = values.filter((value) =>
      valuesOf([value], conditionName).some((actual) => compare('eq', actual, readValue(conditionValue!), false)),
    )
  return subAttribute === undefined ? values : valuesOf(values, subAttribute)
}

function valuesOf(objects: unknown[], name: string): unknown[] {
  return objects
    .flatMap((object) => (typeof object === 'object' && object !== null ? Object.entries(object) : []))
    .filter(([key]) => key.toLowerCase() === name.toLowerCase())
    .flatMap(([, value]) => value)
    .filter((value) => value !== undefined && value !== null)
}

function compare(operator: string, actualValue: unknown, expectedValue: Value, isCaseSensitive: boolean): boolean {
  const fold = (value: unknown) => (typeof value === 'string' && !isCaseSensitive ? value.toLowerCase() : value)
  // A complex value, such as an email address with its type, is compared by its attribute `value`.
  const [actual, expected] = [fold(simpleValue(actualValue)), fold(expectedValue)]
  // Microsoft Entra ID sends "True" and "False" as texts.
  if (typeof actual === 'boolean' && typeof expected === 'string')
    return operator === 'eq' && String(actual) === expected
  if (operator === 'eq') return actual === expected
  if (typeof actual === 'string' && typeof expected === 'string') {
    if (operator === 'co') return actual.includes(expected)
    if (operator === 'sw') return actual.startsWith(expected)
    if (operator === 'ew') return actual.endsWith(expected)
    const areDates = [actualValue, expectedValue].every((value) => DATE_FORMAT.test(String(value)))
    return areDates
      ? isInOrder(operator, Date.parse(actual), Date.parse(expected))
      : isInOrder(operator, actual, expected)
  }
  return typeof actual === 'number' && typeof expected === 'number' && isInOrder(operator, actual, expected)
}

function simpleValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'value' in value ? value.value : value
}

function isInOrder<T extends string | number>(operator: string, actual: T, expected: T): boolean {
  if (operator === 'gt') return actual > expected
  if (operator === 'ge') return actual >= expected
  if (operator === 'lt') return actual < expected
  return operator === 'le' && actual <= expected
}
