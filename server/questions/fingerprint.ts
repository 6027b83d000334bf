import { createHash } from 'node:crypto'
import type { Item } from './questions.ts'

/** Prefix of the kinds of composed items. */
export const COMPOSED_KIND_PREFIX = 'composed '

/**
 * Identifies an item for a person: bank items by ID, regardless of language and lead-in; composed items by skill, kind and key;
 * others by skill, key and options in any order.
 */
export function fingerprint(item: Pick<Item, 'skill' | 'options' | 'key' | 'kind' | 'bankId'>): string {
  const { skill, options, key, kind, bankId } = item
  const identity = bankId
    ? [bankId]
    : kind.startsWith(COMPOSED_KIND_PREFIX)
      ? [skill, kind, options[key]]
      : [skill, options[key], ...[...options].sort()]
  return createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 16)
}
