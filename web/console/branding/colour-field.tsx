import type { ColourCheck } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'

interface Props {
  value: string
  check: ColourCheck | undefined
  hint: string
  error: string | undefined
  isOwner: boolean
  onChange: (colour: string) => void
}

const MIN_CONTRAST_TEXT = '4.5:1'

/** A colour as text and in the colour dialog of the browser, with its contrast and the nearest readable colour. */
export function ColourField({ value, check, hint, error, isOwner, onChange }: Props) {
  return (
    <div class="stack-tight">
      <Field id="branding-colour" label={t('Colour')} hint={hint} error={check?.isReadable ? undefined : error}>
        {(attributes) => (
          <div class="colour-inputs">
            <input
              {...attributes}
              type="text"
              maxLength={7}
              placeholder="#0a6550"
              spellcheck={false}
              autocapitalize="none"
              disabled={!isOwner}
              value={value}
              onInput={(event) => onChange(event.currentTarget.value.trim())}
            />
            {isOwner && (
              <input
                type="color"
                aria-label={t('Choose a colour')}
                value={/^#[0-9a-f]{6}$/i.test(value) ? value : '#0a6550'}
                onInput={(event) => onChange(event.currentTarget.value)}
              />
            )}
          </div>
        )}
      </Field>
      <div class="contrast small" aria-live="polite">
        {check && (
          <>
            <ul>
              <li>{t('White text on the colour: {contrast}:1', { contrast: check.whiteText })}</li>
              <li>{t('The colour on a light page: {contrast}:1', { contrast: check.lightPage })}</li>
              <li>{t('Its lighter shade on a dark page: {contrast}:1', { contrast: check.darkPage })}</li>
            </ul>
            {check.isReadable ? (
              <p class="good-text">{t('Readable: at least {contrast} everywhere.', { contrast: MIN_CONTRAST_TEXT })}</p>
            ) : (
              <p class="bad-text">
                {!error && <>{t('Hard to read: at least {contrast} is required.', { contrast: MIN_CONTRAST_TEXT })} </>}
                {isOwner && (
                  <button type="button" class="small-button" onClick={() => onChange(check.suggestion)}>
                    {t('Use {suggestion} instead', { suggestion: check.suggestion })}
                  </button>
                )}
              </p>
            )}
          </>
        )}
      </div>
    </div>
  )
}
