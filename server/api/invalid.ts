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

/** Keeps one error of each invalid list item before a second error of any. */
function truncateDetails(errors: Detail[]): Detail[] {
  const firsts = new Map(
    errors.toReversed().map((detail) => [/^[^\]]*\]/.exec(detail.path)?.[0] ?? detail.path, detail]),
  )
  const chosen = new Set([...firsts.values()].slice(-MAX_DETAILS))
  for (const detail of errors) if (chosen.size < MAX_DETAILS) chosen.add(detail)
  return errors.filter((detail) => chosen.has(detail))
}
