import type { EmailFilters, EmailSummary, SignInOptions } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge, stateText } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { emailKindName, emailReasonText } from '../shared/labels.ts'
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
  if (signInOptions.loading && !signInOptions.data) return <h1 aria-busy="true">{t('Emails')}</h1>
  return (
    <>
      <h1>{t('Emails')}</h1>
      {signInOptions.data?.mails === 'kept' && (
        <Notice kind="wait">
          {t(
            'No email server is configured: emails are stored here and not sent. Pass the links on to the recipients yourself.',
          )}
        </Notice>
      )}
      <p class="soft">
        {richText(
          'Only operators can read these emails, because they contain sign-in links. TEST emails are stored, not sent, except to members of the organisation and to allowed addresses. <link>Suppressed mailboxes</link> do not get some or all emails.',
          { link: (words) => <Link to="/operator/suppressions">{words}</Link> },
        )}
      </p>
      <div class="row filters">
        <SearchFilter label={t('Recipient')} placeholder={t('Address, name or email ID')} />
        <Choice
          label={t('Kind')}
          allLabel={t('All kinds')}
          name="kind"
          value={kind}
          choices={choices?.kinds}
          nameOf={emailKindName}
        />
        <Choice
          label={t('Status')}
          allLabel={t('All statuses')}
          name="status"
          value={status}
          choices={choices?.statuses}
          nameOf={stateText}
        />
      </div>
      <ListCount list={list} nouns={[t('email'), t('emails')]} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Emails, newest first')}
        rows={list.items}
        keyOf={({ mail_id }) => mail_id}
        loadMore={list.more}
        empty={
          <p class="soft">
            {kind || status || query.get('q') ? t('No email matches these filters.') : t('No emails yet.')}
          </p>
        }
        columns={[
          { name: t('When'), cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: t('Email'),
            class: 'short-text',
            cell: ({ mail_id, kind: emailKind }) => (
              <Link to={`/operator/mails/${mail_id}`}>{emailKindName(emailKind)}</Link>
            ),
          },
          {
            name: t('To##recipient'),
            cell: ({ to_name, to_address }) => (
              <>
                {to_name && <div>{to_name}</div>}
                <span class={to_name ? 'soft small' : ''}>{to_address}</span>
              </>
            ),
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          { name: t('Attempts'), right: true, cell: ({ attempts }) => attempts },
          { name: t('Reason or last error'), cell: (email) => emailReasonText(email) ?? email.last_error ?? '–' },
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
  nameOf: (choice: string) => string
}

function Choice({ label, allLabel, name, value, choices = [], nameOf }: ChoiceProps) {
  const options = value && !choices.includes(value) ? [value, ...choices] : choices
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{allLabel}</option>
        {options.map((each) => (
          <option key={each} value={each}>
            {nameOf(each)}
          </option>
        ))}
      </select>
    </label>
  )
}
