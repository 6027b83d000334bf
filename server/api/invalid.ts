import { type Detail, type Problem, problem } from './problem.ts'

const MAX_DETAILS = 1000

/** Returns one problem for any number of validation errors; lists at most MAX_DETAILS of them. */
export function invalid(errors: Detail[]): Problem {
  const details = errors.length > MAX_DETAILS ? truncateDetails(errors) : errors
  const [first] = details
  const message =
    details.length === 1
      ? `${first!.path}: ${first!.message}${first!.message.endsWith('?') ? '' : '.'}`
      : `The request has ${errors.length} validation errors; see \`details\`.`
  return problem('VALIDATION_FAILED', message, { details })
}

/** Keeps MAX_DETAILS errors: first one error of each invalid list item, then further errors. */
function truncateDetails(errors: Detail[]): Detail[] {
  const firstErrorByItem = new Map(
    errors.toReversed().map((detail) => [/^[^\]]*\]/.exec(detail.path)?.[0] ?? detail.path, detail]),
  )
  const keptErrors = new Set([...firstErrorByItem.values()].slice(-MAX_DETAILS))
  for (const detail of errors) if (keptErrors.size < MAX_DETAILS) keptErrors.add(detail)
  return errors.filter((detail) => keptErrors.has(detail))
}
