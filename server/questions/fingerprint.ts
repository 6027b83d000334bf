import { createHash } from 'node:crypto'

/** Identifies an item of the AI writer by skill, key and options in any order. */
export function fingerprint({
  skill,
  options,
  key,
}: {
  skill: number
  options: readonly string[]
  key: number
}): string {
  const identity = [skill, options[key], ...[...options].sort()]
  return createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 16)
}
