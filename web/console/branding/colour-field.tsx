import type { ColourCheck } from '../../api-types/console.ts'
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
      <Field id="branding-colour" label="Colour" hint={hint} error={check?.isReadable ? undefined : error}>
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
                aria-label="Choose a colour"
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
              <li>White text on the colour: {check.whiteText}:1</li>
              <li>The colour on a light page: {check.lightPage}:1</li>
              <li>Its lighter shade on a dark page: {check.darkPage}:1</li>
            </ul>
            {check.isReadable ? (
              <p class="good-text">Readable: at least {MIN_CONTRAST_TEXT} everywhere.</p>
            ) : (
              <p class="bad-text">
                {!error && `Hard to read: at least ${MIN_CONTRAST_TEXT} is required. `}
                {isOwner && (
                  <button type="button" class="small-button" onClick={() => onChange(check.suggestion)}>
                    Use {check.suggestion} instead
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
