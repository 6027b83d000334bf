import { type Detail, problem, type VerificationCode } from '../api/problem.ts'

/** Fields whose absence or form has a code of its own are read here, before the schema looks at the rest. */

export type Body = Record<string, unknown>

/** Absent, null, empty or white space alone. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

export function requireField(body: unknown, name: string, code: VerificationCode): void {
  if (isMissing(fieldOf(body, name))) throw problem(code, `${name} is required.`)
}

export function fieldOf(body: unknown, name: string): unknown {
  return body !== null && typeof body === 'object' && Object.hasOwn(body, name) ? (body as Body)[name] : undefined
}

const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** A mail address that can be written to as it stands: no names, no quotes, no comments, nothing that could end a header. */
export function isEmail(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 254) return false
  const at = value.lastIndexOf('@')
  const local = value.slice(0, at)
  const labels = value.slice(at + 1).split('.')
  return (
    at > 0 &&
    local.length <= 64 &&
    LOCAL.test(local) &&
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  )
}

/** An absolute http or https address without spaces, control characters or credentials. */
export function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 2000 || /[\s\p{Cc}\\]/u.test(value)) return false
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\//i.test(value) && !url.username && !url.password
}

export function notWebAddress(path: string): Detail {
  return { path, message: 'must be an http or https address' }
}
