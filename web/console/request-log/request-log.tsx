import { useState } from 'preact/hooks'
import type { LoggedRequest } from '../../api-types/partner.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListCount, listQueryString, SearchFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const PAGE_SIZE = 50
const FILTER_NAMES = ['q', 'failed', 'api', 'request_id'] as const

/** API calls of the last three days, without bodies. */
export default function Requests() {
  const context = useOrgContext()
  const { query } = useAddress()
  const [shown, setShown] = useState<LoggedRequest>()
  const filter = listQueryString(query, FILTER_NAMES, PAGE_SIZE)
  const isFiltered = FILTER_NAMES.some((name) => query.get(name))
  const list = useList<LoggedRequest>(context.apiPath(`/requests?${filter}`))
  return (
    <>
      <div class="page-head">
        <h1>Request log</h1>
        <button type="button" onClick={() => void list.reload()}>
          Refresh
        </button>
      </div>
      <div class="row filters">
        <SearchFilter label="Search" placeholder="Path, error code, key or request ID" />
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
            <option value="">All</option>
            <option value="partner">Partner</option>
            <option value="verification">Verification</option>
            <option value="ats">ATS</option>
          </select>
        </label>
      </div>
      <ListCount list={list} nouns={['call', 'calls']} />
      {query.get('request_id') && (
        <p class="row small">
          <span>
            Request <code>{query.get('request_id')}</code>
          </span>
          <button type="button" class="plain flush" onClick={() => setQuery({ request_id: undefined })}>
            Show all calls
          </button>
        </p>
      )}
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Calls in the last three days, newest first"
        rows={list.items}
        keyOf={({ id }) => String(id)}
        loadMore={list.more}
        loading={list.loading}
        empty={
          isFiltered ? (
            <p class="soft">No calls match these filters.</p>
          ) : (
            <>
              <h2>No calls yet</h2>
              <p class="soft">
                API calls with this organisation's {context.mode} keys are listed here for three days. Try{' '}
                <code>npx attestry request GET /shifts</code>.
              </p>
            </>
          )
        }
        columns={[
          { name: 'When', cell: ({ at }) => <Time at={at} seconds /> },
          {
            name: 'Call',
            cell: ({ method, route }) => (
              <code>
                {method} {route}
              </code>
            ),
          },
          {
            name: 'Response',
            cell: ({ status, code }) => (
              <span class={status < 400 ? 'good-text' : 'bad-text'}>
                {status} {code ?? ''}
              </span>
            ),
          },
          { name: 'Duration', right: true, cell: ({ duration_ms }) => `${duration_ms.toFixed(1)} ms` },
          { name: 'Key', cell: ({ key_id }) => (key_id ? <code>{key_id}</code> : '–') },
          {
            name: 'Request ID',
            cell: (row) => (
              <>
                <code>{row.request_id}</code>
                {row.differed.length > 0 && (
                  <div>
                    <button type="button" class="plain flush" onClick={() => setShown(row)}>
                      Show the expected string
                    </button>
                  </div>
                )}
              </>
            ),
          },
        ]}
      />
      {shown && (
        <Dialog title="Signature mismatch" onClose={() => setShown(undefined)}>
          <p class="soft">
            The signature does not match this request. The server expected a signature of the string below. Compare it,
            byte by byte, with the string that your code signed.
          </p>
          <dl class="description-list">
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
