import type { EndorsementRing } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

/** Returns the kind of a ring and the number of its members. */
export function ringName({ kind, size }: Pick<EndorsementRing, 'kind' | 'size'>): string {
  if (kind === 'pair') return t('pair of {size} people', { size })
  return kind === 'cycle' ? t('cycle of {size} people', { size }) : t('cluster of {size} people', { size })
}
