import { useContext, useState } from 'preact/hooks'
import type { ConsoleSession, OwnSession } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { RefreshContext, SessionContext } from '../shell/session.ts'
import { browserName } from './browser-name.ts'
import { SecondFactorSettings } from './second-factors.tsx'

/** The user's own sessions, passkeys and authenticator app. */
export default function Account() {
  const session = useContext(SessionContext)
  const list = useList<OwnSession>('/sessions')
  const [error, setError] = useState<ApiError>()
  const shownError = error ?? list.error
  return (
    <>
      <div class="page-head">
        <h1>{t('Your sessions')}</h1>
        <button type="button" onClick={() => void signOutEverywhere()}>
          {t('Sign out everywhere')}
        </button>
      </div>
      <p class="soft">
        {t(
          'End sessions that you do not recognise. A session ends after 12 hours without a request, and at the latest after 7 days.',
        )}
      </p>
      {shownError && <Notice kind="bad">{shownError.message}</Notice>}
      <Table
        caption={t('Your sessions, newest first')}
        rows={list.items}
        keyOf={({ session_id }) => session_id}
        loading={list.loading}
        empty={<p class="soft">{t('No sessions.')}</p>}
        columns={[
          { name: t('Signed in'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Last used'), cell: ({ seen_at }) => <Time at={seen_at} /> },
          { name: t('IP address'), cell: ({ address }) => (address ? <code>{address}</code> : '–') },
          {
            name: t('Browser'),
            cell: ({ user_agent }) => (user_agent ? <span title={user_agent}>{browserName(user_agent)}</span> : '–'),
          },
          {
            name: t('Actions'),
            cell: ({ session_id, current }) =>
              current ? (
                t('This session')
              ) : (
                <button type="button" class="plain flush" onClick={() => void endSession(session_id)}>
                  {t('End session')}
                </button>
              ),
          },
        ]}
      />
      {session?.kind === 'person' && <NameForm session={session} />}
      <SecondFactorSettings />
    </>
  )

  async function endSession(sessionId: string) {
    const response = await api(`/sessions/${sessionId}`, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    await list.reload()
  }

  async function signOutEverywhere() {
    const response = await api('/sign-out/everywhere', { method: 'POST' })
    if (!response.ok) return setError(response.error)
    await list.reload() // responds 401, which opens the sign-in page
  }
}

/** The name that colleagues see. */
function NameForm({ session }: { session: ConsoleSession }) {
  const refresh = useContext(RefreshContext)
  const [name, setName] = useState(session.name ?? '')
  const [error, setError] = useState<ApiError>()
  const [saved, setSaved] = useState(false)
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'name')?.message
  return (
    <form class="card stack" onSubmit={(event) => void save(event)}>
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      {saved && <Notice kind="good">{t('Your name was saved.')}</Notice>}
      <Field
        id="person-name"
        label={t('Your name')}
        hint={t('Your colleagues see it with your email address. Leave it empty to show only the address.')}
        error={fieldError}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            autoComplete="name"
            maxLength={80}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <SubmitButton busy={busy}>{t('Save name')}</SubmitButton>
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api('/account/name', { method: 'PUT', body: { name: name.trim() || null } })
    setBusy(false)
    setSaved(response.ok)
    setError(response.ok ? undefined : response.error)
    if (response.ok) await refresh()
  }
}
