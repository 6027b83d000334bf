import { useState } from 'preact/hooks'
import type { Event } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListCount, listQueryString, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { EventDeliveries } from './event-deliveries.tsx'
import { useEventTypes } from './event-types.ts'

const PAGE_SIZE = 50
const POLL_INTERVAL_MS = 10_000
const ACKNOWLEDGED = [
  ['false', t('Not acknowledged')],
  ['true', t('Acknowledged')],
] as const

const ACKNOWLEDGED_BY = { pull: t('by pull'), webhook: t('by webhook') }

export default function Events() {
  const context = useOrgContext()
  const { query } = useAddress()
  const [shown, setShown] = useState<Event>()
  const [error, setError] = useState<ApiError>()
  const allTypes = useEventTypes()
  const isFiltered = ['acknowledged', 'type', 'event_id'].some((name) => query.get(name))
  const filter = listQueryString(query, ['acknowledged', 'type', 'event_id'], PAGE_SIZE)
  const list = useList<Event>(context.apiPath(`/lists/events?${filter}`), { pollMs: POLL_INTERVAL_MS })

  return (
    <>
      <h1>{t('Events')}</h1>
      <p class="soft">
        {richText(
          'Events are sent to your webhook endpoints. An event is acknowledged when all of its endpoints have accepted it, or when you acknowledge it. Until then, {call} returns it.',
          { call: <code>GET /events</code> },
        )}
      </p>
      <div class="row filters">
        <SearchFilter label={t('Event ID')} name="event_id" placeholder={t('EV_…')} />
        <SelectFilter
          name="type"
          label={t('Type')}
          allLabel={t('All types')}
          options={allTypes.map((type) => [type, type] as const)}
        />
        <SelectFilter name="acknowledged" label={t('Show')} allLabel={t('All events')} options={ACKNOWLEDGED} />
      </div>
      <ListCount list={list} nouns={[t('event'), t('events')]} />
      {(error ?? list.error) && <Notice kind="bad">{(error ?? list.error)!.message}</Notice>}
      <Table
        caption={t('Events, newest first')}
        rows={list.items}
        keyOf={({ event_id }) => event_id}
        loadMore={list.more}
        empty={
          <p class="soft">
            {isFiltered ? t('No events of the last 30 days match these filters.') : t('No events in the last 30 days.')}
          </p>
        }
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} seconds /> },
          { name: t('Type'), cell: ({ type }) => <code>{type}</code> },
          {
            name: t('Event'),
            cell: (event) => (
              <button type="button" class="plain flush" onClick={() => setShown(event)}>
                <code>{event.event_id}</code>
              </button>
            ),
          },
          {
            name: t('Acknowledged'),
            cell: ({ delivery }) =>
              delivery.acknowledged_by ? ACKNOWLEDGED_BY[delivery.acknowledged_by] : <Badge state="pending" />,
          },
          { name: t('Attempts'), right: true, cell: ({ delivery }) => delivery.attempts },
          { name: t('Last error'), cell: ({ delivery }) => delivery.last_error ?? '–' },
        ]}
      />
      {shown && (
        <Dialog title={shown.type} onClose={() => setShown(undefined)}>
          <pre class="json">{JSON.stringify({ ...shown, delivery: undefined }, null, 2)}</pre>
          <EventDeliveries eventId={shown.event_id} />
          {context.can('owner') && !shown.delivery.acknowledged_at && (
            <button type="button" onClick={() => void acknowledge(shown)}>
              {t('Acknowledge and stop retries')}
            </button>
          )}
        </Dialog>
      )}
    </>
  )

  async function acknowledge({ event_id }: Event) {
    const response = await api(context.apiPath('/events/ack'), { body: { event_ids: [event_id] } })
    setError(response.ok ? undefined : response.error)
    setShown(undefined)
    await list.reload()
  }
}
