import '../shared/forms.css'
import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MadeBy } from '../shared/created-via.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { typesText, useEventTypes } from './event-types.ts'
import { WebhookForm, WebhookSecret } from './webhook-form.tsx'
import type { Webhook, WebhookWithSecret } from './webhook-records.ts'

export default function Webhooks() {
  const place = usePlace()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const list = useList<Webhook>(place.at(`/webhooks${status && status !== 'all' ? `?status=${status}` : ''}`))
  const [adding, setAdding] = useState(false)
  const [made, setMade] = useState<WebhookWithSecret>()
  const rows = status ? list.items : list.items?.filter((webhook) => webhook.status !== 'archived')
  const owner = place.may('owner')
  const types = useEventTypes()
  return (
    <>
      <div class="page-head">
        <h1>Webhooks</h1>
        {owner && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add an endpoint
          </button>
        )}
      </div>
      <p class="soft">
        Where {place.mode} events are posted, signed, and retried for 30 days until they are taken. Up to five
        endpoints.
      </p>
      <div class="row filters">
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">In use</option>
            {['enabled', 'failing', 'disabled', 'archived', 'all'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Endpoints, newest first"
        rows={rows}
        keyOf={({ webhook_id }) => webhook_id}
        more={list.more}
        loading={list.loading}
        empty={
          status ? (
            <p class="soft">No endpoint with this status.</p>
          ) : (
            <>
              <h2>No endpoint yet</h2>
              <p class="soft">
                Add the address of your server, and results arrive by themselves. Without one, pull them from{' '}
                <Link to={place.go('/events')}>Events</Link>.
              </p>
            </>
          )
        }
        columns={[
          {
            name: 'Address',
            cell: ({ webhook_id, url, description }) => (
              <>
                <span class="long">
                  <Link to={place.go(`/webhooks/${webhook_id}`)}>{url}</Link>
                </span>
                {description && <div class="soft small">{description}</div>}
              </>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Events', cell: ({ event_types }) => typesText(event_types, types) },
          { name: 'Made by', cell: ({ created_via }) => <MadeBy via={created_via} /> },
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {adding && <WebhookForm onClose={() => setAdding(false)} onSaved={show} />}
      {made && <WebhookSecret webhook={made} onClose={() => setMade(undefined)} />}
    </>
  )

  function show(webhook: WebhookWithSecret) {
    setAdding(false)
    setMade(webhook)
    void list.reload()
  }
}
