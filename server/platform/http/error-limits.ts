import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import type { TSchema } from 'typebox/type'

/** Maximum number of errors to collect. A response lists fewer; the limit bounds the time spent on a hostile body. */
const MAX_ERRORS = 1500

// The setting applies to the whole process, so it is set once and never changed.
Settings.Set({ maxErrors: MAX_ERRORS })

interface ObjectSchema {
  properties?: Record<string, ListSchema>
  additionalProperties?: unknown
}

interface ListSchema {
  maxItems?: number
  items?: TSchema
}

/** Returns the validation errors of a value: all of them up to MAX_ERRORS, then one for each invalid item of its lists. */
export function findErrors(validator: Validator, schema: TSchema, value: unknown): TLocalizedValidationError[] {
  const { properties = {}, additionalProperties } = schema as ObjectSchema
  if (value === null || typeof value !== 'object') return validator.Errors(value)
  if (additionalProperties === false && Object.keys(value).length > MAX_ERRORS)
    return unknownPropertiesError(properties, value)
  const errors = validator.Errors(value)
  if (errors.length < MAX_ERRORS) return errors
  const more = Object.entries(properties).flatMap(([name, own]) => {
    const list = (value as Record<string, unknown>)[name]
    return own.items && Array.isArray(list) ? errorsOfLaterItems(errors, name, own, list) : []
  })
  return [...errors, ...more]
}

/** Reports only the unknown names: validating thousands of properties would take long. */
function unknownPropertiesError(known: object, value: object): TLocalizedValidationError[] {
  const names = Object.keys(value).filter((name) => !Object.hasOwn(known, name))
  const params = { additionalProperties: names.slice(0, MAX_ERRORS) }
  return [{ keyword: 'additionalProperties', schemaPath: '#', instancePath: '', params, message: '' }]
}

/** Returns the first error of each item after the last one that `errors` mentions. */
function errorsOfLaterItems(
  errors: TLocalizedValidationError[],
  name: string,
  { maxItems, items }: ListSchema,
  list: unknown[],
): TLocalizedValidationError[] {
  const prefix = `/${name}/`
  const lastPath = errors.findLast(({ instancePath }) => instancePath.startsWith(prefix))?.instancePath
  // The errors of the last item may be incomplete, so it is included.
  const start = lastPath === undefined ? 0 : Number(lastPath.slice(prefix.length).split('/', 1)[0])
  const validator = itemValidator(items!)
  const found: TLocalizedValidationError[] = []
  const schemaPath = `#/properties/${name}`
  if (maxItems !== undefined && list.length > maxItems)
    found.push({ keyword: 'maxItems', schemaPath, instancePath: `/${name}`, params: { limit: maxItems }, message: '' })
  for (let index = start; index < Math.min(list.length, maxItems ?? MAX_ERRORS); index++) {
    if (validator.Check(list[index])) continue
    const [first] = validator.Errors(list[index])
    if (!first) continue
    const error = toUnknownProperty(first)
    const instancePath = `${prefix}${index}${error.instancePath}`
    found.push({ ...error, instancePath, schemaPath: error.schemaPath.replace('#', `${schemaPath}/items`) })
  }
  return found
}

/** TypeBox reports each unknown property as a `boolean` error before the `additionalProperties` error that lists all their names. */
function toUnknownProperty(error: TLocalizedValidationError): TLocalizedValidationError {
  if (error.keyword !== 'boolean') return error
  const slash = error.instancePath.lastIndexOf('/')
  const name = error.instancePath
    .slice(slash + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
  return {
    keyword: 'additionalProperties',
    schemaPath: error.schemaPath.replace(/\/additionalProperties$/, ''),
    instancePath: error.instancePath.slice(0, slash),
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
