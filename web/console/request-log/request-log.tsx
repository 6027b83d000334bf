import { useState } from 'preact/hooks'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

interface LoggedRequest {
  id: string
  at: string
  api: string
  key_id: string | null
  method: string
  route: string
  status: number
  code: string | null
  duration_ms: number
  request_id: string
  differed: { path: string; message: string }[]
}

/** What partners' systems called in the last days, without bodies. */
export default function Requests() {
  const place = usePlace()
  const { query } = useAddress()
  const [shown, setShown] = useState<LoggedRequest>()
  const filters = new URLSearchParams()
  for (const name of ['failed', 'api', 'request_id']) {
    const value = query.get(name)
    if (value) filters.set(name, value)
  }
  const list = useList<LoggedRequest>(place.at(`/requests?${filters}`))
  return (
    <>
      <div class="page-head">
        <h1>Request log</h1>
        <button type="button" onClick={() => void list.reload()}>
          Refresh
        </button>
      </div>
      <div class="row filters">
        <label>
          Show
          <select
            value={query.get('failed') ?? ''}
            onChange={(event) => setQuery({ failed: event.currentTarget.value })}
          >
            <option value="">All calls</option>
            <option value="true">Failed calls</option>
          </select>
        </label>
        <label>
          API
          <select value={query.get('api') ?? ''} onChange={(event) => setQuery({ api: event.currentTarget.value })}>
            <option value="">Both</option>
            <option value="partner">Partner</option>
            <option value="verification">Verification</option>
          </select>
        </label>
        <label>
          Request id
          <input
            type="search"
            value={query.get('request_id') ?? ''}
            placeholder="x-request-id"
            onChange={(event) => setQuery({ request_id: event.currentTarget.value.trim() })}
          />
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Calls of the last three days, newest first"
        rows={list.items}
        keyOf={({ id }) => id}
        more={list.more}
        loading={list.loading}
        empty={
          <>
            <h2>No calls</h2>
            <p class="soft">
              Calls to the APIs with this organisation's {place.mode} keys appear here for three days. Try{' '}
              <code>npx attestry request GET /shifts</code>.
            </p>
          </>
        }
        columns={[
          { name: 'When', cell: ({ at }) => <Time at={at} /> },
          {
            name: 'Call',
            cell: ({ method, route }) => (
              <code>
                {method} {route}
              </code>
            ),
          },
          {
            name: 'Answer',
            cell: ({ status, code }) => (
              <span class={status < 400 ? 'good-text' : 'bad-text'}>
                {status} {code ?? ''}
              </span>
            ),
          },
          { name: 'Took', right: true, cell: ({ duration_ms }) => `${duration_ms.toFixed(1)} ms` },
          { name: 'Key', cell: ({ key_id }) => (key_id ? <code>{key_id}</code> : '–') },
          {
            name: 'Request id',
            cell: (row) => (
              <>
                <code>{row.request_id}</code>
                {row.differed.length > 0 && (
                  <div>
                    <button type="button" class="plain flush" onClick={() => setShown(row)}>
                      What differed
                    </button>
                  </div>
                )}
              </>
            ),
          },
        ]}
      />
      {shown && (
        <Dialog title="What the server read" onClose={() => setShown(undefined)}>
          <p class="soft">
            The signature did not fit these lines. Compare them with what your code signed, byte by byte.
          </p>
          <dl class="facts">
            {shown.differed.map(({ path, message }) => (
              <div key={path + message}>
                <dt>{path}</dt>
                <dd>
                  <pre>{message}</pre>
                </dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  )
}
