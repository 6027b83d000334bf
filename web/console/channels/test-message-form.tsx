import { useState } from 'preact/hooks'
import type { TestMessageResult } from '../../api-types/console.ts'
import type { Channel } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

/** Sends the first message of an example job to the user. */
export function TestMessageForm({ path, channel }: { path: string; channel: Channel }) {
  const [to, setTo] = useState('')
  const [result, setResult] = useState<TestMessageResult>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  return (
    <form class="stack-tight" noValidate onSubmit={(event) => void send(event)}>
      <Field
        id={`${channel}-test`}
        label={
          channel === 'email' ? t('Your email address, for a test message') : t('Your phone number, for a test message')
        }
        error={error && (error.details[0]?.message ?? error.message)}
      >
        {(attributes) => (
          <input {...attributes} type="text" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
        )}
      </Field>
      <div>
        <SubmitButton busy={busy}>{t('Send a test message')}</SubmitButton>
      </div>
      {result?.accepted && <Notice kind="good">{t('The provider accepted the message.')}</Notice>}
      {result && !result.accepted && (
        <Notice kind="bad">
          {t('The provider rejected the message: {error}. {remedy}', { error: result.error, remedy: result.remedy })}
        </Notice>
      )}
    </form>
  )

  async function send(event: Event) {
    event.preventDefault()
    setBusy(true)
    setResult(undefined)
    const response = await api<TestMessageResult>(path, { body: { to: to.trim() } })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (response.ok) setResult(response.data)
  }
}
