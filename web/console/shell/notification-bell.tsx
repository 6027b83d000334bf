import { useEffect } from 'preact/hooks'
import type { UnreadCount } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { useData } from './loading.ts'
import { Link } from './router.tsx'
import type { OrgContext } from './session.ts'

const POLL_INTERVAL_MS = 60_000
const CHANGED_EVENT = 'attestry-notifications-changed'

/** Updates the number in the bell, after notifications were read or other kinds were chosen. */
export function refreshBell(): void {
  dispatchEvent(new Event(CHANGED_EVENT))
}

/** Link to the notifications, with the number of unread ones. */
export function NotificationBell({ context, isCurrent }: { context: OrgContext; isCurrent: boolean }) {
  const { data, reload } = useData<UnreadCount>(context.apiPath('/notifications/unread'), { pollMs: POLL_INTERVAL_MS })
  useEffect(() => {
    const update = () => void reload()
    addEventListener(CHANGED_EVENT, update)
    return () => removeEventListener(CHANGED_EVENT, update)
  }, [reload])
  const unread = data?.unread ?? 0
  return (
    <Link class="bell" to={context.pagePath('/notifications')} current={isCurrent}>
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <path d="M6 17V11a6 6 0 0 1 12 0v6l1.5 2h-15zM10 21.5h4" />
      </svg>
      <span class="hidden-text">{t('Notifications')}</span>
      {unread > 0 && (
        <span class="badge bad bell-count">
          {unread > 99 ? '99+' : unread}
          <span class="hidden-text"> {t('unread')}</span>
        </span>
      )}
    </Link>
  )
}
