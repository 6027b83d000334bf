import { useEffect, useRef, useState } from 'preact/hooks'
import type { Branding, BrandingChange, ColourCheck } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { DraftNotice, useFormDraft } from '../shared/form-draft.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { BrandingPreview } from './branding-preview.tsx'
import { ColourField } from './colour-field.tsx'

const FIELDS = [
  ['display_name', t('Name'), 'text', 100],
  ['footer', t('Footer'), 'text', 200],
  ['homepage', t('Website'), 'url', 200],
  ['reply_to', t('Reply address of emails'), 'email', 254],
] as const
const HINTS: Record<FieldName, string> = {
  display_name: t('Without web addresses. Emails are sent by “Name via Attestry”.'),
  footer: t('One line at the end of pages and emails, such as the registered name and address.'),
  homepage: t('Linked at the end of pages and emails. Must start with https://'),
  reply_to: t('Receives the replies of candidates, students and reviewers.'),
  colour: t('Buttons and links. The dark theme uses a lighter shade of it.'),
}
/** Data URLs that the browser can show. Other files are rejected when they are saved. */
const SHOWN_TYPES = /^data:image\/(?:png|jpeg|webp);/
type FieldName = (typeof FIELDS)[number][0] | 'colour'
type Values = Record<FieldName, string>

interface Props {
  path: string
  branding: Branding
  isOwner: boolean
  onSaved: (branding: Branding) => void
}

export function BrandingForm({ path, branding, isOwner, onSaved }: Props) {
  const draft = useFormDraft<Values>(`branding ${path}`, valuesOf(branding))
  const { value: values, setValue: setValues } = draft
  /** A data URL of the chosen file, null to remove the logo, or undefined if it is not changed. */
  const [logo, setLogo] = useState<string | null>()
  const [check, setCheck] = useState<ColourCheck>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  const fileInput = useRef<HTMLInputElement>(null)
  const errorOf = (name: string) => error?.details.find(({ path: field }) => field === name)?.message
  const logoUrl = logo === undefined ? branding.logo?.url : logo !== null && SHOWN_TYPES.test(logo) ? logo : undefined

  // The server computes the contrast, by the same rule as when the colour is saved.
  useEffect(() => {
    setCheck(undefined)
    if (!/^#[0-9a-f]{6}$/i.test(values.colour)) return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      const response = await api<ColourCheck>(`${path}/colour?colour=${encodeURIComponent(values.colour)}`, {
        signal: controller.signal,
      })
      if (response.ok) setCheck(response.data)
    }, 200)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [values.colour])

  return (
    <div class="branding">
      <form class="card stack" noValidate onSubmit={(event) => void save(event)}>
        <DraftNotice draft={draft} />
        {FIELDS.slice(0, 1).map(renderField)}
        <Field
          id="branding-logo"
          label={t('Logo')}
          hint={t('PNG, JPEG or WebP, up to 100 KB and 1,024 pixels a side. Also the icon of the browser tab.')}
          error={errorOf('logo')}
        >
          {(attributes) => (
            <div class="row">
              {logoUrl && <img class="brand-logo" src={logoUrl} alt={t('Current logo')} />}
              {isOwner && (
                <input
                  {...attributes}
                  ref={fileInput}
                  type="file"
                  accept="image/png,image/jpeg,image/webp"
                  onChange={(event) => chooseLogo(event.currentTarget.files?.[0])}
                />
              )}
              {isOwner && (logoUrl || logo) && (
                <button type="button" class="small-button" onClick={removeLogo}>
                  {t('Remove logo')}
                </button>
              )}
              {!isOwner && !logoUrl && <span id="branding-logo">{t('No logo')}</span>}
            </div>
          )}
        </Field>
        <ColourField
          value={values.colour}
          check={check}
          hint={HINTS.colour}
          error={errorOf('colour')}
          isOwner={isOwner}
          onChange={(colour) => change('colour', colour)}
        />
        {FIELDS.slice(1).map(renderField)}
        {error && (
          <Notice kind="bad">
            <span role="alert">
              {error.details.length > 0 ? t('Not saved. Correct the marked fields above.') : error.message}
            </span>
          </Notice>
        )}
        {saved && <Notice kind="good">{t('Branding saved. New emails and pages use it at once.')}</Notice>}
        {isOwner ? (
          <SubmitButton class="primary" busy={busy}>
            {t('Save branding')}
          </SubmitButton>
        ) : (
          <p class="soft small">{t('Only owners can change the branding.')}</p>
        )}
      </form>
      <BrandingPreview
        name={values.display_name.trim() || branding.organisation_name}
        logoUrl={logoUrl}
        colours={check?.colours}
        footer={values.footer.trim()}
        homepage={values.homepage.trim()}
      />
    </div>
  )

  function renderField([name, label, inputMode, maxLength]: (typeof FIELDS)[number]) {
    return (
      <Field key={name} id={`branding-${name}`} label={label} hint={HINTS[name]} error={errorOf(name)}>
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            inputMode={inputMode}
            maxLength={maxLength}
            placeholder={name === 'display_name' ? branding.organisation_name : undefined}
            disabled={!isOwner}
            value={values[name]}
            onInput={(event) => change(name, event.currentTarget.value)}
          />
        )}
      </Field>
    )
  }

  function change(name: FieldName, value: string) {
    setSaved(false)
    setValues((previous) => ({ ...previous, [name]: value }))
  }

  function chooseLogo(file: File | undefined) {
    setSaved(false)
    if (!file) return setLogo(undefined)
    const reader = new FileReader()
    reader.onload = () => setLogo(String(reader.result))
    reader.readAsDataURL(file)
  }

  function removeLogo() {
    setSaved(false)
    if (fileInput.current) fileInput.current.value = ''
    setLogo(null)
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setSaved(false)
    setError(undefined)
    const body: BrandingChange = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value.trim() || null]),
    )
    if (logo !== undefined) body.logo = logo === null ? null : logo.slice(logo.indexOf(',') + 1)
    const response = await api<Branding>(path, { method: 'PUT', body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    if (fileInput.current) fileInput.current.value = ''
    setLogo(undefined)
    setSaved(true)
    draft.complete()
    onSaved(response.data)
  }
}

function valuesOf({ display_name, colour, reply_to, footer, homepage }: Branding): Values {
  return {
    display_name: display_name ?? '',
    colour: colour ?? '',
    reply_to: reply_to ?? '',
    footer: footer ?? '',
    homepage: homepage ?? '',
  }
}
