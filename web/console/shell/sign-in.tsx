import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, SignInOptions } from '../../api-types/console.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from './api.ts'

export function SignIn({ onSession }: { onSession: (session: ConsoleSession) => void }) {
  const [options, setOptions] = useState<SignInOptions>()
  const [email, setEmail] = useState('')
  const [adminKey, setAdminKey] = useState('')
  const [emailRequested, setEmailRequested] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    void api<SignInOptions>('/sign-in').then((response) => response.ok && setOptions(response.data))
    const token = new URLSearchParams(location.hash.slice(1)).get('token')
    if (!token) return
    history.replaceState(null, '', location.pathname) // remove the sign-in token from the address
    void signIn('/sign-in/link', { token })
  }, [])

  return (
    <main class="sheet sign-in stack">
      <p class="wordmark">Attestry</p>
      <h1>Sign in to the console</h1>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {emailRequested ? (
        <Notice kind="good">
          If {email} has an account, we sent a sign-in link to it. The link works once and expires after 15 minutes.
          {options?.mails === 'kept' &&
            ' No email server is configured, so the email is stored: ask the operator, who can read it under Emails.'}
        </Notice>
      ) : (
        <form class="card stack" onSubmit={(event) => void requestSignInEmail(event)}>
          <label>
            Email address
            <input
              type="email"
              autoComplete="email"
              required
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          </label>
          <SubmitButton class="primary" busy={busy} ready={email.trim() !== ''}>
            Email me a sign-in link
          </SubmitButton>
        </form>
      )}
      <details class="card" open={options?.first_start ?? false}>
        <summary>Sign in as the operator</summary>
        <form class="stack details-body" onSubmit={(event) => void signInAsOperator(event)}>
          <label>
            Admin key
            <input
              type="password"
              autoComplete="current-password"
              required
              value={adminKey}
              onInput={(event) => setAdminKey(event.currentTarget.value)}
            />
          </label>
          <p class="soft small">
            The server's ADMIN_API_KEY, or the contents of the file admin-api-key in the data folder.{' '}
            <code>npm start</code> also prints a one-time sign-in link.
          </p>
          <SubmitButton busy={busy} ready={adminKey !== ''}>
            Sign in
          </SubmitButton>
        </form>
      </details>
    </main>
  )

  async function signIn(path: string, body: object) {
    setBusy(true)
    setError(undefined)
    const response = await api<ConsoleSession>(path, { body })
    setBusy(false)
    if (response.ok) onSession(response.data)
    else setError(response.error)
  }

  function signInAsOperator(event: Event) {
    event.preventDefault()
    return signIn('/sign-in/operator', { admin_key: adminKey })
  }

  async function requestSignInEmail(event: Event) {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const response = await api('/sign-in/mail', { body: { email: email.trim() } })
    setBusy(false)
    if (response.ok) setEmailRequested(true)
    else setError(response.error)
  }
}
