import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, SecondFactors, SignInOptions } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api, onConfirmationRequired } from './api.ts'
import { supportsPasskeys, usePasskey } from './passkeys.ts'
import { ProviderButton } from './provider-button.tsx'

/**
 * Asks for an emailed code or, in a session with an identity provider, for a new sign-in when the API requires a recent one. Rendered once,
 * for all pages.
 */
export function ConfirmIdentity({ session }: { session: ConsoleSession }) {
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
  if (!resolve) return null
  const { email, kind, provider } = session
  if (provider) return <ProviderDialog provider={provider} onDone={resolve} />
  return <CodeDialog email={email} isOperator={kind === 'operator'} onDone={resolve} />
}

interface ProviderDialogProps {
  provider: { provider_id: string; name: string }
  onDone: (confirmed: boolean) => void
}

function ProviderDialog({ provider, onDone }: ProviderDialogProps) {
  const [error, setError] = useState<ApiError>()
  return (
    <Dialog title={t('Confirm that it is you')} onClose={() => onDone(false)}>
      {error && <Notice kind="bad">{error.message}</Notice>}
      <p>
        {t(
          'This change requires that you have signed in within the last 15 minutes. Sign in again: you return to this page, and can then repeat the change.',
        )}
      </p>
      <ProviderButton provider={provider} fresh onError={setError} />
    </Dialog>
  )
}

interface Props {
  email: string
  isOperator: boolean
  onDone: (confirmed: boolean) => void
}

function CodeDialog({ email, isOperator, onDone }: Props) {
  const [options, setOptions] = useState<SignInOptions>()
  const [factors, setFactors] = useState<SecondFactors>()
  const [code, setCode] = useState('')
  const [sent, setSent] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'code') && t('This code is wrong or has expired.')
  useEffect(() => {
    void api<SignInOptions>('/sign-in').then((response) => response.ok && setOptions(response.data))
    void api<SecondFactors>('/account/factors').then((response) => {
      setFactors(response.ok ? response.data : undefined)
      if (!response.ok || !response.data.authenticator_app) void sendCode()
    })
  }, [])
  const hasApp = factors?.authenticator_app === true
  const hasPasskey = (factors?.passkeys.length ?? 0) > 0 && supportsPasskeys()
  return (
    <Dialog title={t('Confirm that it is you')} onClose={() => onDone(false)}>
      <p>
        {hasApp
          ? t(
              'You signed in more than 15 minutes ago. To continue, enter the code of your authenticator app, or a recovery code.',
            )
          : t(
              sent
                ? 'You signed in more than 15 minutes ago. To continue, enter the code that we emailed to {email}.'
                : 'You signed in more than 15 minutes ago. To continue, enter the code that we are emailing to {email}.',
              { email },
            )}
      </p>
      {hasPasskey && (
        <button type="button" onClick={() => void confirmWithPasskey()}>
          {t('Use a passkey')}
        </button>
      )}
      {!hasApp && options?.mails === 'kept' && (
        <Notice kind="wait">
          {t('No email server is configured, so the email is stored.')}{' '}
          {isOperator
            ? richText('Sign in again with the link that {command} prints on the server.', {
                command: <code>npx attestry operator link {email}</code>,
              })
            : t('Ask an operator for the code.')}
        </Notice>
      )}
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      <form class="stack" onSubmit={(event) => void confirm(event)}>
        <Field
          id="confirmation-code"
          label={t('Code')}
          hint={hasApp ? t('Six digits.') : t('Eight digits; valid for 10 minutes.')}
          error={fieldError}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
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
            {t('Confirm')}
          </SubmitButton>
          {!hasApp && (
            <button type="button" onClick={() => void sendCode()}>
              {t('Send a new code')}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )

  async function sendCode() {
    const response = await api('/confirmation/mail', { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    if (response.ok) setSent(true)
  }

  async function confirmWithPasskey() {
    const response = await usePasskey('/confirmation/passkey')
    if (response.ok) onDone(true)
    else setError(response.error)
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
