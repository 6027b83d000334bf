import { useState } from 'preact/hooks'
import type { ConsoleNotification, NotificationList } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { refreshBell } from '../shell/notification-bell.tsx'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { KIND_NAMES } from './kind-names.ts'
import { notificationText } from './notification-text.ts'
import { SettingsForm } from './settings-form.tsx'
import './notifications.css'

const POLL_INTERVAL_MS = 60_000

/** The notifications of a member. Operators who are not members get none: their alerts are on the page Status. */
export default function Notifications() {
  const context = useOrgContext()
  if (context.org.role !== 'operator') return <MemberNotifications />
  return (
    <>
      <h1>{t('Notifications')}</h1>
      <p class="soft">
        {richText('Only members of the organisation get notifications. <link>View the alerts of this server</link>', {
          link: (words) => <Link to="/operator/now">{words}</Link>,
        })}
      </p>
    </>
  )
}

/** The latest notifications of the member in this mode, and the choice which to get. */
function MemberNotifications() {
  const context = useOrgContext()
  const list = useData<NotificationList>(context.apiPath('/notifications'), { pollMs: POLL_INTERVAL_MS })
  const [error, setError] = useState<ApiError>()
  const shownError = error ?? list.error
  return (
    <>
      <div class="page-head">
        <h1>{t('Notifications')}</h1>
        {list.data && list.data.unread > 0 && (
          <button type="button" onClick={() => void markAllRead()}>
            {t('Mark all as read')}
          </button>
        )}
      </div>
      {shownError && <Notice kind="bad">{shownError.message}</Notice>}
      {list.data?.items.length === 0 && (
        <p class="soft">
          {t(
            'No notifications. Results, assignments, failures, low credits and decided skill requests appear here for 90 days.',
          )}
        </p>
      )}
      {!list.data && !shownError && <p class="waiting">Notifications</p>}
      {list.data && list.data.items.length > 0 && (
        <ul class="plain-list card notification-list">
          {list.data.items.map((notification) => (
            <Item key={notification.notification_id} notification={notification} />
          ))}
        </ul>
      )}
      {/* Hidden until the list is shown, which would move it. */}
      <div class="stack-tight" hidden={!list.data && !shownError}>
        <h2>{t('What you get')}</h2>
        <SettingsForm
          onSaved={() => {
            void list.reload()
            refreshBell()
          }}
        />
      </div>
    </>
  )

  async function markAllRead() {
    const response = await api(context.apiPath('/notifications/read'), { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    await list.reload()
    refreshBell()
  }
}

function Item({ notification }: { notification: ConsoleNotification }) {
  const context = useOrgContext()
  const { path, kind, updated_at, is_unread } = notification
  return (
    <li class={is_unread ? 'unread' : ''}>
      <Link to={context.pagePath(path)}>{notificationText(notification)}</Link>
      <span class="soft small">
        {is_unread && <strong>{t('Unread')} · </strong>}
        {KIND_NAMES[kind]} · <Time at={updated_at} />
      </span>
    </li>
  )
}
