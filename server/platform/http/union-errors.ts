import type { TLocalizedValidationError } from 'typebox/error'

type ValidationError = TLocalizedValidationError

/**
 * For a value that matches no member of a union, keeps only the errors of the closest member (the one with the fewest invalid
 * properties). The errors of the other members would be misleading.
 */
export function keepErrorsOfClosestMember(errors: ValidationError[]): ValidationError[] {
  const droppedErrors = new Set<ValidationError>()
  const rewordedErrors = new Map<ValidationError, ValidationError>()
  for (const [union, errorsByMember] of groupByMember(errors)) {
    const members = [...errorsByMember.values()]
      .map((memberErrors) => memberErrors.filter((error) => !droppedErrors.has(error)))
      .filter((memberErrors) => memberErrors.length > 0)
    if (members.length === 0) continue
    const { instancePath } = union
    const areAllConstants = members.every(
      (memberErrors) => memberErrors.length === 1 && memberErrors[0]!.keyword === 'const',
    )
    const [closest] = members.toSorted((a, b) => distanceToMember(a, instancePath) - distanceToMember(b, instancePath))
    for (const memberErrors of members) {
      if (memberErrors !== closest || areAllConstants) for (const error of memberErrors) droppedErrors.add(error)
    }
    if (areAllConstants) {
      const allowedValues = members.map(
        (memberErrors) => (memberErrors[0] as { params: { allowedValue: unknown } }).params.allowedValue,
      )
      rewordedErrors.set(union, { ...union, keyword: 'enum', params: { allowedValues } } as ValidationError)
    } else {
      droppedErrors.add(union)
    }
  }
  return errors.filter((error) => !droppedErrors.has(error)).map((error) => rewordedErrors.get(error) ?? error)
}

/** Precedes the number of a member in the schema path of its errors. */
const UNION_PATH = '/anyOf/'

/** Groups the errors by union and member, in one pass: a hostile body has thousands of errors. */
function groupByMember(errors: ValidationError[]): Map<ValidationError, Map<string, ValidationError[]>> {
  const unionErrors = new Map<string, ValidationError>()
  const errorsByUnion = new Map<ValidationError, Map<string, ValidationError[]>>()
  for (const error of errors) {
    if (error.keyword !== 'anyOf') continue
    unionErrors.set(`${error.schemaPath}\n${error.instancePath}`, error)
    errorsByUnion.set(error, new Map())
  }
  if (unionErrors.size === 0) return errorsByUnion
  for (const error of errors) {
    const { schemaPath } = error
    for (let index = schemaPath.indexOf(UNION_PATH); index >= 0; index = schemaPath.indexOf(UNION_PATH, index + 1)) {
      const unionError = nearestUnionError(unionErrors, schemaPath.slice(0, index), error.instancePath)
      if (!unionError) continue
      const member = schemaPath.slice(index + UNION_PATH.length).split('/')[0]!
      const errorsByMember = errorsByUnion.get(unionError)!
      const memberErrors = errorsByMember.get(member)
      if (memberErrors) memberErrors.push(error)
      else errorsByMember.set(member, [error])
    }
  }
  return errorsByUnion
}

/** Returns the union error of this schema at the value itself or at one of its ancestors. */
function nearestUnionError(
  unions: Map<string, ValidationError>,
  schemaPath: string,
  instancePath: string,
): ValidationError | undefined {
  for (let path = instancePath; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const unionError = unions.get(`${schemaPath}\n${path}`)
    if (unionError || path === '') return unionError
  }
}

/** A value of another type is further away than any number of invalid properties. */
const OTHER_TYPE_DISTANCE = 10_000

function distanceToMember(memberErrors: ValidationError[], unionPath: string): number {
  const properties = new Set(memberErrors.flatMap(propertiesOfError))
  const isOtherType = memberErrors.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === unionPath)
  return properties.size + (isOtherType ? OTHER_TYPE_DISTANCE : 0)
}

/** Returns the properties that an error is about. An unknown property counts twice. */
function propertiesOfError(error: ValidationError): string[] {
  const { instancePath } = error
  if (error.keyword === 'required') return error.params.requiredProperties.map((name) => `${instancePath}/${name}`)
  if (error.keyword === 'additionalProperties')
    return error.params.additionalProperties.flatMap((name) => [
      `${instancePath}/${name}`,
      `${instancePath}/${name} unknown`,
    ])
  return [instancePath]
}
