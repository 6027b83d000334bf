import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData, useList } from '../loading.ts'
import { Link, setQuery, useAddress } from '../router.tsx'

export interface MailHead {
  mail_id: string
  org_id: string | null
  mode: string | null
  kind: string
  about: string | null
  to_name: string | null
  to_address: string
  status: 'queued' | 'sent' | 'failed' | 'kept'
  attempts: number
  last_error: string | null
  created_at: string
  sent_at: string | null
}

const KINDS = ['review_request', 'review_reminder', 'review_outcome', 'sign_in', 'notice', 'candidate']

/** Every mail of the server. Where none is sent, this is where it is read. */
export default function OperatorMails() {
  const { query } = useAddress()
  const kind = query.get('kind') ?? ''
  const status = query.get('status') ?? ''
  const filters = new URLSearchParams()
  if (kind) filters.set('kind', kind)
  if (status) filters.set('status', status)
  const list = useList<MailHead>(`/operator/mails${filters.size > 0 ? `?${filters}` : ''}`, { every: 10_000 })
  const ways = useData<{ mails: 'sent' | 'kept' }>('/sign-in')
  if (ways.loading && !ways.data) return <h1 aria-busy="true">Mails</h1>
  return (
    <>
      <h1>Mails</h1>
      {ways.data?.mails === 'kept' && (
        <Notice kind="wait">
          No mail server is configured: mails are kept here and sent to nobody. Read them, and pass on the links.
        </Notice>
      )}
      <p class="soft">Only operators see this: mails hold links that let in.</p>
      <div class="row filters">
        <label>
          Kind
          <select value={kind} onChange={(event) => setQuery({ kind: event.currentTarget.value })}>
            <option value="">Every kind</option>
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {each.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">Every status</option>
            {['queued', 'sent', 'failed', 'kept'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Mails, newest first"
        rows={list.items}
        keyOf={({ mail_id }) => mail_id}
        more={list.more}
        empty={<p class="soft">{kind || status ? 'No such mail.' : 'No mail was written yet.'}</p>}
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Mail',
            cell: ({ mail_id, kind: what }) => (
              <Link to={`/operator/mails/${mail_id}`}>{what.replaceAll('_', ' ')}</Link>
            ),
          },
          {
            name: 'To',
            cell: ({ to_name, to_address }) => (
              <>
                {to_name && <div>{to_name}</div>}
                <span class={to_name ? 'soft small' : ''}>{to_address}</span>
              </>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Tries', right: true, cell: ({ attempts }) => attempts },
          { name: 'Last error', cell: ({ last_error }) => last_error ?? '–' },
        ]}
      />
    </>
  )
}
