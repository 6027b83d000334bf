import { useState } from 'preact/hooks'
import type { NewAuthenticatorApp, RecoveryCodes, SecondFactors } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { createPasskey, supportsPasskeys } from '../shell/passkeys.ts'
import './second-factors.css'

/** The passkeys and the authenticator app of the user. */
export function SecondFactorSettings() {
  const factors = useData<SecondFactors>('/account/factors')
  const [error, setError] = useState<ApiError>()
  const [newApp, setNewApp] = useState<NewAuthenticatorApp>()
  const { data } = factors
  if (!data) return factors.error ? <Notice kind="bad">{factors.error.message}</Notice> : null
  if (data.provider) return null
  return (
    <>
      {error && <Notice kind="bad">{error.message}</Notice>}
      <div class="page-head">
        <h2>{t('Passkeys')}</h2>
        {data.passkeys_supported && supportsPasskeys() && (
          <button type="button" onClick={() => void addPasskey()}>
            {t('Add a passkey')}
          </button>
        )}
      </div>
      <p class="soft">
        {t('A passkey signs you in with your fingerprint, face or PIN instead of an emailed link.')}
        {!data.passkeys_supported && ` ${t('Passkeys need a server with a domain name and HTTPS.')}`}
      </p>
      {data.passkeys.length > 0 && (
        <Table
          caption={t('Your passkeys')}
          rows={data.passkeys}
          keyOf={({ passkey_id }) => passkey_id}
          empty={null}
          columns={[
            { name: t('Name'), cell: ({ name }) => name },
            { name: t('Added'), cell: ({ created_at }) => <Time at={created_at} /> },
            { name: t('Last used'), cell: ({ last_used_at }) => <Time at={last_used_at} /> },
            {
              name: t('Actions'),
              cell: ({ passkey_id, name }) => (
                <button
                  type="button"
                  class="plain flush"
                  aria-label={t('Remove the passkey {name}', { name })}
                  onClick={() => void change(() => api(`/account/passkeys/${passkey_id}`, { method: 'DELETE' }))}
                >
                  {t('Remove')}
                </button>
              ),
            },
          ]}
        />
      )}
      <div class="page-head">
        <h2>{t('Authenticator app')}</h2>
        {data.authenticator_app ? (
          <button
            type="button"
            onClick={() => void change(() => api('/account/authenticator-app', { method: 'DELETE' }))}
          >
            {t('Remove the app')}
          </button>
        ) : (
          <button type="button" onClick={() => void startApp()}>
            {t('Set up an app')}
          </button>
        )}
      </div>
      <p class="soft">
        {data.authenticator_app
          ? t('Sign-in by email also requires a code of your app. Recovery codes left: {count}.', {
              count: data.recovery_codes_left,
            })
          : t('With an app, sign-in by email also requires a code that the app shows.')}
      </p>
      {newApp && (
        <AppDialog
          app={newApp}
          onClose={() => {
            setNewApp(undefined)
            void factors.reload()
          }}
        />
      )}
    </>
  )

  async function change(send: () => Promise<ApiResponse<unknown>>) {
    const response = await send()
    setError(response.ok ? undefined : response.error)
    await factors.reload()
  }

  function addPasskey() {
    const name = t('Passkey of {date}', {
      date: new Date().toLocaleDateString(displayLocale(), { dateStyle: 'medium' }),
    })
    return change(() => createPasskey(name))
  }

  async function startApp() {
    const response = await api<NewAuthenticatorApp>('/account/authenticator-app', { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    if (response.ok) setNewApp(response.data)
  }
}

/** Shows the QR code, asks for the first code, and then shows the recovery codes once. */
function AppDialog({ app, onClose }: { app: NewAuthenticatorApp; onClose: () => void }) {
  const [code, setCode] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [recoveryCodes, setRecoveryCodes] = useState<string[]>()
  if (recoveryCodes)
    return (
      <Dialog title={t('Store your recovery codes')} onClose={onClose}>
        <p>
          {t(
            'If you lose your device, each of these codes replaces a code of the app once. They are not shown again: print them, or store them in a password manager.',
          )}
        </p>
        <pre>{recoveryCodes.join('\n')}</pre>
        <button type="button" class="primary" onClick={onClose}>
          {t('I have stored them')}
        </button>
      </Dialog>
    )
  const fieldError = error?.details.find(({ path }) => path === 'code')?.message
  return (
    <Dialog title={t('Set up an authenticator app')} onClose={onClose}>
      <p>
        {t('Scan the code with an app such as Aegis, Google Authenticator or 1Password, or enter the secret by hand.')}
      </p>
      <p>
        <img class="app-qr-code" src={app.qr_code} alt={t('QR code with the secret')} width={200} height={200} />
      </p>
      <p>
        <code class="break">{app.secret}</code>
      </p>
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      <form class="stack" onSubmit={(event) => void confirm(event)}>
        <Field id="app-code" label={t('Code of the app')} hint={t('Six digits.')} error={fieldError}>
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
        <SubmitButton class="primary" busy={busy} ready={code.trim() !== ''}>
          {t('Turn on')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function confirm(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<RecoveryCodes>('/account/authenticator-app/confirm', { body: { code } })
    setBusy(false)
    if (response.ok) setRecoveryCodes(response.data.recovery_codes)
    else setError(response.error)
  }
}
