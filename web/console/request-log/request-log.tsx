import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ConsoleLoggedRequest } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListCount, listQueryString, SearchFilter } from '../shared/list-filters.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import { useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const PAGE_SIZE = 50
const FILTER_NAMES = ['q', 'failed', 'api', 'request_id'] as const

/** API calls of the last three days, without bodies. */
export default function Requests() {
  const context = useOrgContext()
  const { query } = useAddress()
  const [shown, setShown] = useState<ConsoleLoggedRequest>()
  const filter = listQueryString(query, FILTER_NAMES, PAGE_SIZE)
  const isFiltered = FILTER_NAMES.some((name) => query.get(name))
  const list = useList<ConsoleLoggedRequest>(context.apiPath(`/requests?${filter}`))
  return (
    <>
      <div class="page-head">
        <h1>{t('Request log')}</h1>
        <button type="button" onClick={() => void list.reload()}>
          {t('Refresh')}
        </button>
      </div>
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Path, error code, key or request ID')} />
        <label>
          {t('Show')}
          <select
            value={query.get('failed') ?? ''}
            onChange={(event) => setQuery({ failed: event.currentTarget.value })}
          >
            <option value="">{t('All calls')}</option>
            <option value="true">{t('Failed calls')}</option>
          </select>
        </label>
        <label>
          API
          <select value={query.get('api') ?? ''} onChange={(event) => setQuery({ api: event.currentTarget.value })}>
            <option value="">{t('All')}</option>
            <option value="partner">{t('Partner')}</option>
            <option value="verification">{t('Verification')}</option>
            <option value="ats">{t('ATS')}</option>
          </select>
        </label>
      </div>
      <ListCount list={list} nouns={[t('call'), t('calls')]} />
      {query.get('request_id') && (
        <p class="row small">
          <span>{richText('Request {requestId}', { requestId: <code>{query.get('request_id')}</code> })}</span>
          <button type="button" class="plain flush" onClick={() => setQuery({ request_id: undefined })}>
            {t('Show all calls')}
          </button>
        </p>
      )}
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Calls in the last three days, newest first')}
        rows={list.items}
        keyOf={({ id }) => String(id)}
        loadMore={list.more}
        loading={list.loading}
        empty={
          isFiltered ? (
            <p class="soft">{t('No calls match these filters.')}</p>
          ) : (
            <>
              <h2>{t('No calls yet')}</h2>
              <p class="soft">
                {richText(
                  "API calls with this organisation's {mode} keys are listed here for three days. Try {command}.",
                  { mode: MODE_NAMES[context.mode], command: <code>npx attestry request GET /shifts</code> },
                )}
              </p>
            </>
          )
        }
        columns={[
          {
            name: t('Call'),
            cell: ({ method, path }) => (
              <code class="call-path">
                <b>{method}</b>{' '}
                {path.split(/(?<=\/)/).map((part, index) => (
                  <Fragment key={index}>
                    {index > 0 && <wbr />}
                    {part}
                  </Fragment>
                ))}
              </code>
            ),
          },
          {
            name: t('Response'),
            cell: (row) => (
              <>
                <span class={row.code ? '' : 'whole'}>
                  <span class={row.status < 400 ? 'good-text' : 'bad-text'}>
                    {row.status}
                    {row.code && ` ${row.code}`}
                  </span>{' '}
                  <span class="soft small whole">{t('{duration} ms', { duration: row.duration_ms.toFixed(1) })}</span>
                </span>
                {row.differed.length > 0 && (
                  <div>
                    <button type="button" class="plain flush" onClick={() => setShown(row)}>
                      {t('Show the expected string')}
                    </button>
                  </div>
                )}
              </>
            ),
          },
          {
            name: t('Key'),
            cell: ({ key_id, key_name }) =>
              key_id === null ? (
                '–'
              ) : key_name ? (
                <span title={key_id}>{key_name}</span>
              ) : (
                <code title={key_id}>{shortKeyId(key_id)}</code>
              ),
          },
          { name: t('When'), cell: ({ at }) => <Time at={at} seconds /> },
          { name: t('Request ID'), cell: ({ request_id }) => <code class="small whole">{request_id}</code> },
        ]}
      />
      {shown && (
        <Dialog title={t('Signature mismatch')} onClose={() => setShown(undefined)}>
          <p class="soft">
            {t(
              'The signature does not match this request. The server expected a signature of the string below. Compare it, byte by byte, with the string that your code signed.',
            )}
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

/** Returns the start and the end of the ID of a key without a name: rows with whole IDs would be two lines high. */
function shortKeyId(keyId: string): string {
  return keyId.length > 18 ? `${keyId.slice(0, 9)}…${keyId.slice(-6)}` : keyId
}
