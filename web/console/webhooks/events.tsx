import { useState } from 'preact/hooks'
import type { Event } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { useEventTypes } from './event-types.ts'

export default function Events() {
  const context = useOrgContext()
  const { query } = useAddress()
  const [shown, setShown] = useState<Event>()
  const [error, setError] = useState<ApiError>()
  const acknowledged = query.get('acknowledged') ?? 'false'
  const types = query.get('types') ?? ''
  const allTypes = useEventTypes()
  const list = useList<Event>(context.apiPath(`/events?acknowledged=${acknowledged}${types ? `&types=${types}` : ''}`))

  return (
    <>
      <h1>Events</h1>
      <p class="soft">
        Events are sent to your webhook endpoints. An event is acknowledged when all of its endpoints have accepted it,
        or when you acknowledge it. Until then, <code>GET /events</code> returns it.
      </p>
      <div class="row filters">
        <label>
          Show
          <select value={acknowledged} onChange={(event) => setQuery({ acknowledged: event.currentTarget.value })}>
            <option value="false">Not acknowledged</option>
            <option value="true">Acknowledged</option>
            <option value="all">All</option>
          </select>
        </label>
        <label>
          Type
          <select value={types} onChange={(event) => setQuery({ types: event.currentTarget.value })}>
            <option value="">All types</option>
            {types && !(allTypes as string[]).includes(types) && <option>{types}</option>}
            {allTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
      </div>
      {(error ?? list.error) && <Notice kind="bad">{(error ?? list.error)!.message}</Notice>}
      <Table
        caption="Events, oldest first"
        rows={list.items}
        keyOf={({ event_id }) => event_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          <p class="soft">
            {acknowledged === 'false'
              ? 'All events have been acknowledged.'
              : 'No events in the last 30 days match these filters.'}
          </p>
        }
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Type', cell: ({ type }) => <code>{type}</code> },
          {
            name: 'Event',
            cell: (event) => (
              <button type="button" class="plain flush" onClick={() => setShown(event)}>
                <code>{event.event_id}</code>
              </button>
            ),
          },
          {
            name: 'Acknowledged',
            cell: ({ delivery }) =>
              delivery.acknowledged_by ? `by ${delivery.acknowledged_by}` : <Badge state="pending" />,
          },
          { name: 'Attempts', right: true, cell: ({ delivery }) => delivery.attempts },
          { name: 'Last error', cell: ({ delivery }) => delivery.last_error ?? '–' },
        ]}
      />
      {shown && (
        <Dialog title={shown.type} onClose={() => setShown(undefined)}>
          <pre class="json">{JSON.stringify({ ...shown, delivery: undefined }, null, 2)}</pre>
          {context.can('owner') && !shown.delivery.acknowledged_at && (
            <button type="button" onClick={() => void acknowledge(shown)}>
              Acknowledge and stop retries
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
