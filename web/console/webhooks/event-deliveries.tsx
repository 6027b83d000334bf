import type { EventDeliveryList } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

/** The endpoints that an event is sent to, with links to the deliveries. */
export function EventDeliveries({ eventId }: { eventId: string }) {
  const context = useOrgContext()
  const { data, error } = useData<EventDeliveryList>(context.apiPath(`/lists/events/${eventId}/deliveries`))
  return (
    <section class="stack-tight" aria-label={t('Deliveries')}>
      <h3>{t('Deliveries')}</h3>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {data?.items.length === 0 && <p class="soft">{t('This event is not sent to any endpoint.')}</p>}
      {data?.items.map(({ webhook_id, url, status }) => (
        <p key={webhook_id} class="row between">
          <Link to={context.pagePath(`/webhooks/${webhook_id}?event=${eventId}`)}>{url}</Link>
          <Badge state={status} />
        </p>
      ))}
    </section>
  )
}
