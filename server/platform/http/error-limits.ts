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
  const itemErrors = Object.entries(properties).flatMap(([name, propertySchema]) => {
    const list = (value as Record<string, unknown>)[name]
    return propertySchema.items && Array.isArray(list) ? errorsOfLaterItems(errors, name, propertySchema, list) : []
  })
  return [...errors, ...itemErrors]
}

/** Returns one error with the unknown property names, because validating thousands of properties would take long. */
function unknownPropertiesError(knownProperties: object, value: object): TLocalizedValidationError[] {
  const unknownNames = Object.keys(value).filter((name) => !Object.hasOwn(knownProperties, name))
  const params = { additionalProperties: unknownNames.slice(0, MAX_ERRORS) }
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
  const startIndex = lastPath === undefined ? 0 : Number(lastPath.slice(prefix.length).split('/', 1)[0])
  const validator = getItemValidator(items!)
  const itemErrors: TLocalizedValidationError[] = []
  const schemaPath = `#/properties/${name}`
  if (maxItems !== undefined && list.length > maxItems)
    itemErrors.push({
      keyword: 'maxItems',
      schemaPath,
      instancePath: `/${name}`,
      params: { limit: maxItems },
      message: '',
    })
  for (let index = startIndex; index < Math.min(list.length, maxItems ?? MAX_ERRORS); index++) {
    if (validator.Check(list[index])) continue
    const [first] = validator.Errors(list[index])
    if (!first) continue
    const error = toUnknownPropertyError(first)
    const instancePath = `${prefix}${index}${error.instancePath}`
    itemErrors.push({ ...error, instancePath, schemaPath: error.schemaPath.replace('#', `${schemaPath}/items`) })
  }
  return itemErrors
}

/** Converts the `boolean` error that TypeBox reports for an unknown property into an `additionalProperties` error with its name. */
function toUnknownPropertyError(error: TLocalizedValidationError): TLocalizedValidationError {
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

const itemValidators = new WeakMap<TSchema, Validator>()

function getItemValidator(schema: TSchema): Validator {
  const validator = itemValidators.get(schema) ?? Compile(schema)
  itemValidators.set(schema, validator)
  return validator
}
