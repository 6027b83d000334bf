import type { CreatedVia as Source } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'

/** Shows whether an object was created in the console or through the API, which is also where it can be changed. */
export function CreatedVia({ via }: { via: Source }) {
  return <span class="tag">{via === 'api' ? 'API' : t('Console')}</span>
}

/** Explains why an object has no edit button. */
export function ReadOnly({ noun }: { noun: string }) {
  return (
    <p class="notice read-only">
      {t(
        'This {noun} was created through the API. You can view it here, but only the system that created it can change it.',
        { noun },
      )}
    </p>
  )
}
