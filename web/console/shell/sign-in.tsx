import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, SignInOptions } from '../../api-types/console.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from './api.ts'

/** Returns the token of a sign-in link in the address. */
export function readSignInToken(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('token')
}

export function SignIn({ onSession }: { onSession: (session: ConsoleSession) => void }) {
  const [options, setOptions] = useState<SignInOptions>()
  const [email, setEmail] = useState('')
  const [emailRequested, setEmailRequested] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    void api<SignInOptions>('/sign-in').then((response) => response.ok && setOptions(response.data))
    const consumeToken = () => {
      const token = readSignInToken()
      if (!token) return
      history.replaceState(null, '', location.pathname) // remove the sign-in token from the address
      void signInWithLink(token)
    }
    consumeToken()
    addEventListener('hashchange', consumeToken) // a link that is opened on this page
    return () => removeEventListener('hashchange', consumeToken)
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
        <summary>Sign in as an operator</summary>
        <div class="stack details-body small">
          <p>
            Operators also sign in with their email address. In a terminal, every start prints a one-time link. Without
            a terminal, the first start stores the link in the file operator-sign-in-link in the data folder.
          </p>
          <p>If email does not work, print a new link on the server:</p>
          <pre>npx attestry operator link EMAIL</pre>
        </div>
      </details>
    </main>
  )

  async function signInWithLink(token: string) {
    setBusy(true)
    setError(undefined)
    const response = await api<ConsoleSession>('/sign-in/link', { body: { token } })
    setBusy(false)
    if (response.ok) onSession(response.data)
    else setError(response.error)
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
