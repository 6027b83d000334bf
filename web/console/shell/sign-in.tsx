import { useEffect, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Notice } from '../../ui/notice.tsx'
import { api, type Refusal } from './api.ts'
import type { Session } from './session.ts'

interface Ways {
  mails: 'sent' | 'kept'
  first_start: boolean
}

export function SignIn({ onSession }: { onSession: (session: Session) => void }) {
  const [ways, setWays] = useState<Ways>()
  const [email, setEmail] = useState('')
  const [adminKey, setAdminKey] = useState('')
  const [asked, setAsked] = useState(false)
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    void api<Ways>('/sign-in').then((answer) => answer.ok && setWays(answer.data))
    const token = new URLSearchParams(location.hash.slice(1)).get('token')
    if (!token) return
    history.replaceState(null, '', location.pathname) // a link that lets in does not stay in the address
    void enter('/sign-in/link', { token })
  }, [])

  return (
    <main class="sheet sign-in stack">
      <p class="wordmark">Attestry</p>
      <h1>Sign in to the console</h1>
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
      {asked ? (
        <Notice kind="good">
          If {email} belongs to somebody here, a link is on its way. It works once, for 15 minutes.
          {ways?.mails === 'kept' && ' No mail server is configured: the operator finds the mail under Mails.'}
        </Notice>
      ) : (
        <form class="card stack" onSubmit={(event) => void askForMail(event)}>
          <label>
            Your mail address
            <input
              type="email"
              autoComplete="email"
              required
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          </label>
          <Action class="primary" busy={busy} ready={email.trim() !== ''}>
            Mail me a link
          </Action>
        </form>
      )}
      <details class="card" open={ways?.first_start ?? false}>
        <summary>Sign in as the operator</summary>
        <form class="stack details-body" onSubmit={(event) => void asOperator(event)}>
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
            It is the server's ADMIN_API_KEY; where that was not set, it lies in the data folder. <code>npm start</code>{' '}
            also prints a link that signs you in once.
          </p>
          <Action busy={busy} ready={adminKey !== ''}>
            Sign in
          </Action>
        </form>
      </details>
    </main>
  )

  async function enter(path: string, body: object) {
    setBusy(true)
    setRefusal(undefined)
    const answer = await api<Session>(path, { body })
    setBusy(false)
    if (answer.ok) onSession(answer.data)
    else setRefusal(answer.refusal)
  }

  function asOperator(event: Event) {
    event.preventDefault()
    return enter('/sign-in/operator', { admin_key: adminKey })
  }

  async function askForMail(event: Event) {
    event.preventDefault()
    setBusy(true)
    setRefusal(undefined)
    const answer = await api('/sign-in/mail', { body: { email: email.trim() } })
    setBusy(false)
    if (answer.ok) setAsked(true)
    else setRefusal(answer.refusal)
  }
}
