import { createHash } from 'node:crypto'
import type { Item } from './questions.ts'

/** How the kinds of composed items begin. */
export const COMPOSED = 'composed '

/**
 * What makes an item the same for a person: the bank's item in whatever language and with whatever lead-in; of composed
 * ones what is asked for; of any other its options, in whatever order.
 */
export function fingerprint(item: Pick<Item, 'skill' | 'options' | 'key' | 'kind' | 'bankId'>): string {
  const { skill, options, key, kind, bankId } = item
  const told = bankId
    ? [bankId]
    : kind.startsWith(COMPOSED)
      ? [skill, kind, options[key]]
      : [skill, options[key], ...[...options].sort()]
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url').slice(0, 16)
}
