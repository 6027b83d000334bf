import { isUtf8 } from 'node:buffer'
import { type Detail, problem } from './problem.ts'

/** Parses a JSON body; what no store or reader can keep faithfully (NUL, half a surrogate pair, bad UTF-8) is refused by path. */
export function parseJson(raw: Buffer): unknown {
  if (!isUtf8(raw)) throw badBody('is not valid UTF-8')
  const text = raw.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badBody(`is not valid JSON: ${jsonComplaint(error)}`)
  }
  // Both evils can only be written as an escape: the parser refuses a raw NUL, and UTF-8 has no lone surrogates.
  if (text.includes('\\u')) {
    const details: Detail[] = []
    collectUnstorable(value, '', details)
    if (details.length > 0) throw problem('VALIDATION_FAILED', 'The body has text that cannot be stored.', { details })
  }
  return value
}

function badBody(message: string) {
  return problem('VALIDATION_FAILED', `The body ${message}.`, { details: [{ path: 'body', message }] })
}

/** The parser's message without the excerpt of the body, which may hold personal data. */
function jsonComplaint(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return `unexpected character at position ${position}`
  return message.includes('end of JSON') ? 'it ends too early' : 'unexpected character'
}

const DEEPEST = 64

function collectUnstorable(value: unknown, path: string, details: Detail[], depth = 0): void {
  if (depth > DEEPEST) throw badBody(`is nested more than ${DEEPEST} levels deep`)
  if (typeof value === 'string') {
    const fault = unstorable(value)
    if (fault) details.push({ path: path || 'body', message: fault })
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      collectUnstorable(item, `${path}[${index}]`, details, depth + 1)
    })
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      const fault = unstorable(key)
      if (fault) details.push({ path: path || 'body', message: `a property name ${fault}` })
      collectUnstorable(item, path ? `${path}.${key}` : key, details, depth + 1)
    }
  }
}

export function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL character'
  if (!text.isWellFormed()) return 'must not hold half a surrogate pair'
  return undefined
}
