import { useState } from 'preact/hooks'
import type { OwnSession } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { browserName } from './browser-name.ts'
import { SecondFactorSettings } from './second-factors.tsx'

/** The user's own sessions, passkeys and authenticator app. */
export default function Account() {
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
