import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { useEventTypes } from './event-types.ts'

interface PulledEvent {
  event_id: string
  type: string
  sequence: number
  created_at: string
  data: object
  delivery: {
    acknowledged_at: string | null
    acknowledged_by: string | null
    attempts: number
    last_error: string | null
  }
}

export default function Events() {
  const place = usePlace()
  const { query } = useAddress()
  const [shown, setShown] = useState<PulledEvent>()
  const [refusal, setRefusal] = useState<Refusal>()
  const acknowledged = query.get('acknowledged') ?? 'false'
  const types = query.get('types') ?? ''
  const all = useEventTypes()
  const list = useList<PulledEvent>(place.at(`/events?acknowledged=${acknowledged}${types ? `&types=${types}` : ''}`))

  return (
    <>
      <h1>Events</h1>
      <p class="soft">
        What partners are told of. Webhooks deliver them; what no endpoint has taken waits here to be pulled.
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
            <option value="">Every type</option>
            {types && !all.includes(types) && <option>{types}</option>}
            {all.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
      </div>
      {(refusal ?? list.refusal) && <Notice kind="bad">{(refusal ?? list.refusal)!.message}</Notice>}
      <Table
        caption="Events, oldest first"
        rows={list.items}
        keyOf={({ event_id }) => event_id}
        more={list.more}
        loading={list.loading}
        empty={
          <p class="soft">
            {acknowledged === 'false' ? 'Every event has been acknowledged.' : 'No such event in 30 days.'}
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
          {place.may('owner') && !shown.delivery.acknowledged_at && (
            <button type="button" onClick={() => void acknowledge(shown)}>
              Acknowledge, and end its retries
            </button>
          )}
        </Dialog>
      )}
    </>
  )

  async function acknowledge({ event_id }: PulledEvent) {
    const answer = await api(place.at('/events/ack'), { body: { event_ids: [event_id] } })
    setRefusal(answer.ok ? undefined : answer.refusal)
    setShown(undefined)
    await list.reload()
  }
}
