import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import type { TSchema } from 'typebox/type'

/** More violations than an answer lists; what a hostile body adds beyond them is not worth the time. */
const MOST_ERRORS = 1500
/** Of each item that comes after those. */
const MOST_OF_AN_ITEM = 1

Settings.Set({ maxErrors: MOST_ERRORS })

interface ObjectSchema {
  properties?: Record<string, ListSchema>
  additionalProperties?: unknown
}

interface ListSchema {
  maxItems?: number
  items?: TSchema
}

/** What the checker finds. Where it gives up, every item at fault of the body's lists is named all the same. */
export function findErrors(validator: Validator, schema: TSchema, value: unknown): TLocalizedValidationError[] {
  const { properties = {}, additionalProperties } = schema as ObjectSchema
  if (value === null || typeof value !== 'object') return validator.Errors(value)
  if (additionalProperties === false && Object.keys(value).length > MOST_ERRORS) return tooManyNames(properties, value)
  const errors = validator.Errors(value)
  if (errors.length < MOST_ERRORS) return errors
  const more = Object.entries(properties).flatMap(([name, own]) => {
    const list = (value as Record<string, unknown>)[name]
    return own.items && Array.isArray(list) ? lateErrors(errors, name, own, list) : []
  })
  return [...errors, ...more]
}

/** Looking at every one of them would take long, and tell nobody more. */
function tooManyNames(known: object, value: object): TLocalizedValidationError[] {
  const names = Object.keys(value).filter((name) => !Object.hasOwn(known, name))
  const params = { additionalProperties: names.slice(0, MOST_ERRORS) }
  return [{ keyword: 'additionalProperties', schemaPath: '#', instancePath: '', params, message: '' }]
}

function lateErrors(
  errors: TLocalizedValidationError[],
  name: string,
  { maxItems, items }: ListSchema,
  list: unknown[],
): TLocalizedValidationError[] {
  const place = `/${name}/`
  const seen = errors.findLast(({ instancePath }) => instancePath.startsWith(place))?.instancePath
  const last = seen === undefined ? 0 : Number(seen.slice(place.length).split('/', 1)[0])
  const item = itemValidator(items!)
  const found: TLocalizedValidationError[] = []
  const schemaPath = `#/properties/${name}`
  if (maxItems !== undefined && list.length > maxItems)
    found.push({ keyword: 'maxItems', schemaPath, instancePath: `/${name}`, params: { limit: maxItems }, message: '' })
  Settings.Set({ maxErrors: MOST_OF_AN_ITEM })
  try {
    // The last one that was looked at may have been left half way.
    for (let at = last; at < Math.min(list.length, maxItems ?? MOST_ERRORS); at++) {
      if (item.Check(list[at])) continue
      for (const error of item.Errors(list[at]).map(unknownByName)) {
        const instancePath = `${place}${at}${error.instancePath}`
        found.push({ ...error, instancePath, schemaPath: error.schemaPath.replace('#', `${schemaPath}/items`) })
      }
    }
  } finally {
    Settings.Set({ maxErrors: MOST_ERRORS })
  }
  return found
}

/** The checker speaks of a property that must not be there before it says so of all of them, for which it has no room here. */
function unknownByName(error: TLocalizedValidationError): TLocalizedValidationError {
  if (error.keyword !== 'boolean') return error
  const at = error.instancePath.lastIndexOf('/')
  const name = error.instancePath
    .slice(at + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
  return {
    keyword: 'additionalProperties',
    schemaPath: error.schemaPath.replace(/\/additionalProperties$/, ''),
    instancePath: error.instancePath.slice(0, at),
    params: { additionalProperties: [name] },
    message: '',
  }
}

const validators = new WeakMap<TSchema, Validator>()

function itemValidator(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema)
  validators.set(schema, known)
  return known
}
