import { type Detail, problem, type VerificationErrorCode } from '../api/problem.ts'

/** Checks of fields that have their own error codes; they run before the schema validation. */

type Body = Record<string, unknown>

/** Returns true for undefined, null, empty and blank values. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

export function requireField(body: unknown, name: string, code: VerificationErrorCode): void {
  if (isMissing(fieldOf(body, name))) throw problem(code, `${name} is required.`)
}

export function fieldOf(body: unknown, name: string): unknown {
  return body !== null && typeof body === 'object' && Object.hasOwn(body, name) ? (body as Body)[name] : undefined
}

const LOCAL_PART = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Accepts a plain email address: no display name, quotes or comments, and nothing that could end a header. */
export function isEmail(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 254) return false
  const atIndex = value.lastIndexOf('@')
  const localPart = value.slice(0, atIndex)
  const labels = value.slice(atIndex + 1).split('.')
  return (
    atIndex > 0 &&
    localPart.length <= 64 &&
    LOCAL_PART.test(localPart) &&
    labels.length >= 2 &&
    labels.every((label) => DOMAIN_LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  )
}

/** Accepts an absolute http or https URL without spaces, control characters or credentials. */
export function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 2000 || /[\s\p{Cc}\\]/u.test(value)) return false
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\//i.test(value) && !url.username && !url.password
}

export function invalidWebAddressDetail(path: string): Detail {
  return { path, message: 'must be an http or https URL, such as https://example.com' }
}
