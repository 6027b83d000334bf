import { useEffect, useState } from 'preact/hooks'
import type { EmbedOrigins as OriginList } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

/** The section with the origins of the websites that may show pages in a frame. */
export function EmbedOrigins() {
  const { mode, apiPath } = useOrgContext()
  const path = apiPath('/embed-origins')
  const stored = useData<OriginList>(path)
  const [text, setText] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  useEffect(() => setText(undefined), [path])
  const lines = text ?? stored.data?.origins.join('\n')
  const fieldError = error?.details.find(({ path: field }) => field.startsWith('origins'))
  if (stored.error?.status === 403) return null // the list of keys above shows the error

  return (
    <section class="card stack" aria-labelledby="embed-origins-title">
      <h2 id="embed-origins-title">{t('Websites that embed pages')}</h2>
      <p class="soft">
        {t(
          'Conversations, verifications and reports can be shown in a frame on these websites only. Pages on a website that you remove stop working at once.',
        )}
      </p>
      {stored.error && <Notice kind="bad">{stored.error.message}</Notice>}
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      {saved && <Notice kind="good">{t('Saved.')}</Notice>}
      {lines !== undefined && (
        <form class="stack" noValidate onSubmit={(event) => void save(event)}>
          <Field
            id="embed-origins"
            label={t('Allowed origins')}
            hint={
              mode === 'test'
                ? t(
                    'Origins such as https://careers.example.com, one per line. In TEST mode, also http://localhost:3000, or http://localhost:* for every port.',
                  )
                : t('Origins such as https://careers.example.com, one per line.')
            }
            error={fieldError && errorText(lines, fieldError)}
          >
            {(attributes) => (
              <textarea
                {...attributes}
                rows={4}
                value={lines}
                onInput={(event) => {
                  setError(undefined)
                  setSaved(false)
                  setText(event.currentTarget.value)
                }}
              />
            )}
          </Field>
          <SubmitButton class="primary" busy={busy}>
            {t('Save origins')}
          </SubmitButton>
        </form>
      )}
    </section>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setSaved(false)
    const origins = numberedLines(lines!).map(({ text: origin }) => origin)
    const response = await api<OriginList>(path, { method: 'PUT', body: { origins } })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    setError(undefined)
    setText(response.data.origins.join('\n'))
    setSaved(true)
  }
}

/** Returns the lines that are not empty, with their numbers. */
function numberedLines(lines: string): { text: string; number: number }[] {
  return lines
    .split('\n')
    .map((line, index) => ({ text: line.trim(), number: index + 1 }))
    .filter(({ text }) => text !== '')
}

/** Returns the error, with the number of the line if it is about a field such as `origins[0]`. */
function errorText(lines: string, { path, message }: ApiError['details'][number]): string {
  const index = /\[(\d+)\]/.exec(path)?.[1]
  const line = index === undefined ? undefined : numberedLines(lines)[Number(index)]
  return line ? t('Line {number}: {message}', { number: line.number, message }) : message
}
