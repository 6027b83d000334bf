import type { EmailFilters, EmailSummary, SignInOptions } from '../../api-types/console.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListCount, listQueryString, SearchFilter } from '../shared/list-filters.tsx'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'

const POLL_INTERVAL_MS = 10_000
const PAGE_SIZE = 50

/** All emails of the server. Without an email server, operators read them here. */
export default function OperatorEmails() {
  const { query } = useAddress()
  const kind = query.get('kind') ?? ''
  const status = query.get('status') ?? ''
  const list = useList<EmailSummary>(`/operator/mails?${listQueryString(query, ['kind', 'status', 'q'], PAGE_SIZE)}`, {
    pollMs: POLL_INTERVAL_MS,
  })
  const choices = useData<EmailFilters>('/operator/mail-filters').data
  const signInOptions = useData<SignInOptions>('/sign-in')
  if (signInOptions.loading && !signInOptions.data) return <h1 aria-busy="true">Emails</h1>
  return (
    <>
      <h1>Emails</h1>
      {signInOptions.data?.mails === 'kept' && (
        <Notice kind="wait">
          No email server is configured: emails are stored here and not sent. Pass the links on to the recipients
          yourself.
        </Notice>
      )}
      <p class="soft">
        Only operators can read these emails, because they contain sign-in links. TEST emails are stored, not sent,
        except to members of the organisation and to allowed addresses.{' '}
        <Link to="/operator/suppressions">Suppressed mailboxes</Link> do not get some or all emails.
      </p>
      <div class="row filters">
        <SearchFilter label="Recipient" placeholder="Address, name or email ID" />
        <Choice label="Kind" allLabel="All kinds" name="kind" value={kind} choices={choices?.kinds} />
        <Choice label="Status" allLabel="All statuses" name="status" value={status} choices={choices?.statuses} />
      </div>
      <ListCount list={list} nouns={['email', 'emails']} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Emails, newest first"
        rows={list.items}
        keyOf={({ mail_id }) => mail_id}
        loadMore={list.more}
        empty={
          <p class="soft">{kind || status || query.get('q') ? 'No email matches these filters.' : 'No emails yet.'}</p>
        }
        columns={[
          { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Email',
            cell: ({ mail_id, kind: emailKind }) => (
              <Link to={`/operator/mails/${mail_id}`}>{emailKind.replaceAll('_', ' ')}</Link>
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
          { name: 'Attempts', right: true, cell: ({ attempts }) => attempts },
          { name: 'Reason or last error', cell: ({ explanation, last_error }) => explanation ?? last_error ?? '–' },
        ]}
      />
    </>
  )
}

interface ChoiceProps {
  label: string
  /** Label of the option that selects everything, such as “All kinds”. */
  allLabel: string
  name: string
  value: string
  /** The values that the server offers; undefined until they are loaded. */
  choices: string[] | undefined
}

function Choice({ label, allLabel, name, value, choices = [] }: ChoiceProps) {
  const options = value && !choices.includes(value) ? [value, ...choices] : choices
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{allLabel}</option>
        {options.map((each) => (
          <option key={each} value={each}>
            {each.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  )
}
