import type { EndorsementRing } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

/** Returns the kind of a ring and the number of its members. */
export function ringName({ kind, size }: Pick<EndorsementRing, 'kind' | 'size'>): string {
  if (kind === 'pair') return t('Pair of {size} people', { size })
  return kind === 'cycle' ? t('Cycle of {size} people', { size }) : t('Cluster of {size} people', { size })
}
