import { isUtf8 } from 'node:buffer'
import { type Detail, problem } from '../../api/problem.ts'

/** Parses a JSON body, which must be UTF-8 and not nested beyond reason. */
export function parseJson(raw: Buffer): unknown {
  if (!isUtf8(raw)) throw badBody('is not valid UTF-8')
  const text = raw.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badBody(`is not valid JSON: ${jsonComplaint(error)}`)
  }
  requireShallow(value)
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

function requireShallow(value: unknown, depth = 0): void {
  if (depth > DEEPEST) throw badBody(`is nested more than ${DEEPEST} levels deep`)
  if (value !== null && typeof value === 'object')
    for (const item of Object.values(value)) requireShallow(item, depth + 1)
}

const MOST_FOUND = 100
const LONGEST_PATH = 200

/** Adds a detail for every text that no store or reader can keep faithfully. */
export function collectUnstorable(value: unknown, path: string, details: Detail[], depth = 0): void {
  if (details.length >= MOST_FOUND || depth > DEEPEST) return
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
      else collectUnstorable(item, (path ? `${path}.${key}` : key).slice(0, LONGEST_PATH), details, depth + 1)
    }
  }
}

export function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL character'
  if (!text.isWellFormed()) return 'must not hold half a surrogate pair'
  return undefined
}
