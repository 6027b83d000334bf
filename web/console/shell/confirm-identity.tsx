import { useEffect, useState } from 'preact/hooks'
import type { SignInOptions } from '../../api-types/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api, onConfirmationRequired } from './api.ts'

/** Asks for an emailed code when the API requires a recent sign-in. Rendered once, for all pages. */
export function ConfirmIdentity({ email, isOperator }: { email: string; isOperator: boolean }) {
  const [resolve, setResolve] = useState<(confirmed: boolean) => void>()
  useEffect(() => {
    let pending: Promise<boolean> | undefined
    onConfirmationRequired(() => {
      pending ??= new Promise<boolean>((resolveConfirmation) => setResolve(() => resolveConfirmation)).finally(() => {
        pending = undefined
        setResolve(undefined)
      })
      return pending
    })
    return () => onConfirmationRequired(async () => false)
  }, [])
  return resolve ? <CodeDialog email={email} isOperator={isOperator} onDone={resolve} /> : null
}

interface Props {
  email: string
  isOperator: boolean
  onDone: (confirmed: boolean) => void
}

function CodeDialog({ email, isOperator, onDone }: Props) {
  const [options, setOptions] = useState<SignInOptions>()
  const [code, setCode] = useState('')
  const [sent, setSent] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'code') && 'This code is wrong or has expired.'
  useEffect(() => {
    void api<SignInOptions>('/sign-in').then((response) => response.ok && setOptions(response.data))
    void sendCode()
  }, [])
  return (
    <Dialog title="Confirm that it is you" onClose={() => onDone(false)}>
      <p>
        You signed in more than 15 minutes ago. To continue, enter the code that we{' '}
        {sent ? `emailed to ${email}` : `are emailing to ${email}`}.
      </p>
      {options?.mails === 'kept' && (
        <Notice kind="wait">
          No email server is configured, so the email is stored.{' '}
          {isOperator ? (
            <>
              Sign in again with the link that <code>npx attestry operator link {email}</code> prints on the server.
            </>
          ) : (
            'Ask an operator for the code.'
          )}
        </Notice>
      )}
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      <form class="stack" onSubmit={(event) => void confirm(event)}>
        <Field id="confirmation-code" label="Code" hint="Eight digits; valid for 10 minutes." error={fieldError}>
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              maxLength={20}
              value={code}
              onInput={(event) => setCode(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="row">
          <SubmitButton class="primary" busy={busy} ready={code.trim() !== ''}>
            Confirm
          </SubmitButton>
          <button type="button" onClick={() => void sendCode()}>
            Send a new code
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function sendCode() {
    const response = await api('/confirmation/mail', { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    if (response.ok) setSent(true)
  }

  async function confirm(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api('/confirmation', { body: { code } })
    setBusy(false)
    if (response.ok) onDone(true)
    else setError(response.error)
  }
}
