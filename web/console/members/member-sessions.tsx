import { useState } from 'preact/hooks'
import type { Member, MemberSession } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'

interface Props {
  /** API path of the members. */
  path: string
  member: Member
  onClose: () => void
}

/** The sessions of a member, which an owner can end. */
export function MemberSessions({ path, member, onClose }: Props) {
  const sessionsPath = `${path}/${member.member_id}/sessions`
  const list = useList<MemberSession>(sessionsPath)
  const [error, setError] = useState<ApiError>()
  const shownError = error ?? list.error
  return (
    <Dialog title={t('Sessions of {email}', { email: member.email })} onClose={onClose}>
      {shownError && <Notice kind="bad">{shownError.message}</Notice>}
      {list.items?.length === 0 && <p class="soft">{t('This member is not signed in.')}</p>}
      <ul class="plain-list stack" aria-busy={list.loading}>
        {list.items?.map(({ session_id, created_at, seen_at, address, user_agent }) => (
          <li key={session_id} class="card stack">
            <p>
              {richText(
                address
                  ? 'Last used {usedAt}, signed in {signedInAt} from {address}'
                  : 'Last used {usedAt}, signed in {signedInAt}',
                {
                  usedAt: <Time at={seen_at} />,
                  signedInAt: <Time at={created_at} />,
                  address: <code>{address}</code>,
                },
              )}
            </p>
            {user_agent && <p class="small soft">{user_agent}</p>}
            <button type="button" class="plain flush" onClick={() => void end(`/${session_id}`)}>
              {t('End session')}
            </button>
          </li>
        ))}
      </ul>
      {(list.items?.length ?? 0) > 0 && (
        <button type="button" class="danger" onClick={() => void end('')}>
          {t('End all sessions')}
        </button>
      )}
    </Dialog>
  )

  async function end(sessionPath: string) {
    const response = await api(sessionsPath + sessionPath, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    await list.reload()
  }
}
