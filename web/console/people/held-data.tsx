import { useEffect, useRef } from 'preact/hooks'
import type { PersonExport } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import './people.css'

/** All data that is stored about a person, by kind of record. It receives the focus when it appears, because the button is above other content. */
export function HeldData({ exported }: { exported: PersonExport }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [exported])
  const sections = (exported.sections ?? []).filter(({ records }) => records.length > 0)
  return (
    <section class="held-data" aria-label={t('Stored data')}>
      <h2 tabIndex={-1} ref={heading}>
        {t('Stored data')}
      </h2>
      {sections.length === 0 && <p class="soft">{t('No personal data is stored.')}</p>}
      {sections.map(({ name, title, records }, index) => (
        <details key={name} open={index === 0}>
          <summary>
            {title} ({records.length})
          </summary>
          {records.map((record, position) => (
            <DescriptionList key={position}>
              {Object.entries(record).map(([field, value]) => (
                <DescriptionItem key={field} name={fieldName(field)}>
                  <span class="held-value">{textOf(value)}</span>
                </DescriptionItem>
              ))}
            </DescriptionList>
          ))}
        </details>
      ))}
    </section>
  )
}

/** Returns the display name of a field: "External candidate ID" for `external_candidate_id`. */
function fieldName(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\bid\b/g, 'ID')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns a value as text. Records in a list are separated by empty lines. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) {
    const separator = value.some((entry) => typeof entry === 'object' && entry !== null) ? '\n\n' : '\n'
    return value.map(textOf).join(separator) || '–'
  }
  if (typeof value !== 'object') return String(value)
  const lines = Object.entries(value).map(([name, entry]) => `${fieldName(name)}: ${textOf(entry)}`)
  return lines.join('\n') || '–'
}
