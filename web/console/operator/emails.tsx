import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'

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

/** Every mail of the server. Where none is sent, this is where it is read. */
export default function OperatorMails() {
  const { query } = useAddress()
  const kind = query.get('kind') ?? ''
  const status = query.get('status') ?? ''
  const chosen = new URLSearchParams()
  if (kind) chosen.set('kind', kind)
  if (status) chosen.set('status', status)
  const list = useList<MailHead>(`/operator/mails${chosen.size > 0 ? `?${chosen}` : ''}`, { every: 10_000 })
  const filters = useData<{ kinds: string[]; statuses: string[] }>('/operator/mail-filters').data
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
        <Choice label="Kind" every="Every kind" name="kind" value={kind} choices={filters?.kinds} />
        <Choice label="Status" every="Every status" name="status" value={status} choices={filters?.statuses} />
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

interface ChoiceProps {
  label: string
  every: string
  name: string
  value: string
  /** What there is, as the server lists it. */
  choices: string[] | undefined
}

function Choice({ label, every, name, value, choices = [] }: ChoiceProps) {
  const all = value && !choices.includes(value) ? [value, ...choices] : choices
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{every}</option>
        {all.map((each) => (
          <option key={each} value={each}>
            {each.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  )
}
