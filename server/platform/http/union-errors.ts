import type { TLocalizedValidationError } from 'typebox/error'

type Finding = TLocalizedValidationError

/**
 * A value that fits none of several forms is reported against the form it comes closest to, by the number of properties at
 * fault; the findings of the other forms would only mislead.
 */
export function withoutOtherBranches(errors: Finding[]): Finding[] {
  const dropped = new Set<Finding>()
  const reworded = new Map<Finding, Finding>()
  for (const [choice, found] of branchesOf(errors)) {
    const branches = [...found.values()]
      .map((branch) => branch.filter((error) => !dropped.has(error)))
      .filter((branch) => branch.length > 0)
    if (branches.length === 0) continue
    const { instancePath: at } = choice
    const allConstants = branches.every((branch) => branch.length === 1 && branch[0]!.keyword === 'const')
    const [closest] = branches.toSorted((a, b) => distance(a, at) - distance(b, at))
    for (const branch of branches) {
      if (branch !== closest || allConstants) for (const error of branch) dropped.add(error)
    }
    if (allConstants) {
      const allowedValues = branches.map(
        (branch) => (branch[0] as { params: { allowedValue: unknown } }).params.allowedValue,
      )
      reworded.set(choice, { ...choice, keyword: 'enum', params: { allowedValues } } as Finding)
    } else {
      dropped.add(choice)
    }
  }
  return errors.filter((error) => !dropped.has(error)).map((error) => reworded.get(error) ?? error)
}

const INTO_BRANCH = '/anyOf/'

/** Every choice that was missed, with the findings of each of its forms. One look at each finding: a hostile body has thousands. */
function branchesOf(errors: Finding[]): Map<Finding, Map<string, Finding[]>> {
  const choices = new Map<string, Finding>()
  const branches = new Map<Finding, Map<string, Finding[]>>()
  for (const error of errors) {
    if (error.keyword !== 'anyOf') continue
    choices.set(`${error.schemaPath}\n${error.instancePath}`, error)
    branches.set(error, new Map())
  }
  if (choices.size === 0) return branches
  for (const error of errors) {
    const { schemaPath } = error
    for (let at = schemaPath.indexOf(INTO_BRANCH); at >= 0; at = schemaPath.indexOf(INTO_BRANCH, at + 1)) {
      const choice = nearest(choices, schemaPath.slice(0, at), error.instancePath)
      if (!choice) continue
      const form = schemaPath.slice(at + INTO_BRANCH.length).split('/')[0]!
      const forms = branches.get(choice)!
      const findings = forms.get(form)
      if (findings) findings.push(error)
      else forms.set(form, [error])
    }
  }
  return branches
}

/** The choice of this schema at the value itself, or at what holds it. */
function nearest(choices: Map<string, Finding>, schemaPath: string, instancePath: string): Finding | undefined {
  for (let path = instancePath; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = choices.get(`${schemaPath}\n${path}`)
    if (found || path === '') return found
  }
}

/** A wrong kind of value altogether is further away than any number of wrong properties. */
const ANOTHER_KIND = 10_000

function distance(branch: Finding[], at: string): number {
  const properties = new Set(branch.flatMap(propertiesIn))
  const anotherKind = branch.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === at)
  return properties.size + (anotherKind ? ANOTHER_KIND : 0)
}

/** One property may be at fault in several ways, and several may be named by one finding; one that is not known counts twice. */
function propertiesIn(error: Finding): string[] {
  const { instancePath: at } = error
  if (error.keyword === 'required') return error.params.requiredProperties.map((name) => `${at}/${name}`)
  if (error.keyword === 'additionalProperties')
    return error.params.additionalProperties.flatMap((name) => [`${at}/${name}`, `${at}/${name} unknown`])
  return [at]
}
