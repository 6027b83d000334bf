import { isUtf8 } from 'node:buffer'
import { type Detail, problem } from '../../api/problem.ts'
import { findExcess, MAX_NESTING_DEPTH } from './json-limits.ts'

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Parses a JSON body. Rejects bodies that are not UTF-8, are nested too deeply, or, unless the sender is trusted, would take long to parse. */
export function parseJson(raw: Buffer, { isTrusted = false } = {}): unknown {
  if (!isUtf8(raw)) throw invalidBodyProblem('is not valid UTF-8')
  const excess = isTrusted ? undefined : findExcess(raw)
  if (excess !== undefined) throw invalidBodyProblem(excess)
  try {
    return JSON.parse(raw.toString('utf8'))
  } catch (error) {
    throw invalidBodyProblem(`is not valid JSON: ${describeSyntaxError(raw, error)}`)
  }
}

function invalidBodyProblem(message: string) {
  return problem('VALIDATION_FAILED', `The body ${message}.`, { details: [{ path: 'body', message }] })
}

/** Returns the parser's message without the excerpt of the body, which may contain personal data. */
function describeSyntaxError(raw: Buffer, error: unknown): string {
  if (raw.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
    return 'it starts with a byte order mark (U+FEFF); send it without one'
  const message = error instanceof Error ? error.message : ''
  const position = /position (\d+)/.exec(message)?.[1]
  if (message.includes('end of JSON') || Number(position) === raw.toString('utf8').length)
    return 'the end is missing, such as a closing quotation mark, bracket or brace'
  return position === undefined ? 'unexpected character' : `unexpected character at position ${position}`
}

const MAX_UNSTORABLE_TEXT_DETAILS = 100
const MAX_PATH_LENGTH = 200

/** Adds a detail to `details` for every text in a value that cannot be stored unchanged. */
export function collectUnstorableTexts(value: unknown, path: string, details: Detail[], depth = 0): void {
  if (details.length >= MAX_UNSTORABLE_TEXT_DETAILS || depth > MAX_NESTING_DEPTH) return
  if (typeof value === 'string') {
    const message = unstorableReason(value)
    if (message) details.push({ path: path || 'body', message })
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      collectUnstorableTexts(item, `${path}[${index}]`, details, depth + 1)
    })
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      const message = unstorableReason(key)
      if (message) details.push({ path: path || 'body', message: `a property name ${message}` })
      else collectUnstorableTexts(item, (path ? `${path}.${key}` : key).slice(0, MAX_PATH_LENGTH), details, depth + 1)
    }
  }
}

/** Returns why PostgreSQL cannot store a text; undefined if it can. */
export function unstorableReason(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain a NUL character'
  if (!text.isWellFormed()) return 'must not contain an unpaired surrogate'
  return undefined
}
