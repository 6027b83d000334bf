import type { AuditEntry } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ListCount, MoreFilters, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import type { List } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { auditSentence, shownDetails } from './audit-sentences.ts'
import './audit.css'

/** The query parameters of the filters. */
export const AUDIT_FILTERS = ['actor', 'who', 'action', 'subject', 'from', 'to'] as const
export const AUDIT_PAGE_SIZE = 50

const ACTIONS = [
  ['sign_in', t('Sign-ins')],
  ['team', t('Team')],
  ['keys', t('Keys')],
  ['candidates', t('Campaigns and candidates')],
  ['jobs', t('Workflows and jobs')],
  ['webhooks', t('Webhooks and events')],
  ['exports', t('Exports')],
  ['reads', t('Reads by operators')],
] as const

/** Filters of the audit log: person, action, record and days. */
export function AuditFilters() {
  return (
    <div class="row filters audit-filters">
      <SearchFilter label={t('Person')} name="who" placeholder={t('Email address')} />
      <MoreFilters names={AUDIT_FILTERS.filter((name) => name !== 'who')}>
        <SelectFilter name="action" label={t('Action')} allLabel={t('All actions')} options={ACTIONS} />
        <SearchFilter label={t('Object ID')} name="subject" placeholder={t('CP_…')} />
        <SelectFilter
          name="actor"
          label={t('By')}
          allLabel={t('Everyone')}
          options={[['operator', t('Access by operators')] as const]}
        />
        <DayFilter name="from" label={t('From')} />
        <DayFilter name="to" label={t('To')} />
      </MoreFilters>
    </div>
  )
}

function DayFilter({ name, label }: { name: string; label: string }) {
  const { query } = useAddress()
  return (
    <label>
      {label}
      <input
        type="date"
        value={query.get(name) ?? ''}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      />
    </label>
  )
}

interface Props {
  list: List<AuditEntry>
  withOrganisation: boolean
  /** Returns the name of an organisation. */
  organisationName?: (orgId: string) => string
}

/** Audit entries as sentences, newest first. */
export function AuditTable({ list, withOrganisation, organisationName = (orgId) => orgId }: Props) {
  const { query } = useAddress()
  const isFiltered = AUDIT_FILTERS.some((name) => query.get(name))
  return (
    <>
      <ListCount list={list} nouns={[t('entry'), t('entries')]} />
      <Table
        caption={t('Audit log, newest first')}
        rows={list.items}
        keyOf={({ audit_id }) => audit_id}
        loadMore={list.more}
        empty={<p class="soft">{isFiltered ? t('No entries match these filters.') : t('No entries yet.')}</p>}
        columns={[
          { name: t('When'), cell: ({ at }) => <Time at={at} seconds /> },
          {
            name: t('Person'),
            class: 'audit-person',
            cell: ({ who, who_name, actor }) => (
              <>
                {who_name && <div>{who_name}</div>}
                <span class={who_name ? 'soft small' : 'small'}>{who}</span>{' '}
                {actor === 'operator' && <span class="badge">{t('operator')}</span>}
              </>
            ),
          },
          {
            name: t('Action'),
            cell: (entry) => (
              <>
                {auditSentence(entry)}
                <Details entry={entry} />
              </>
            ),
          },
          ...(withOrganisation
            ? [
                {
                  name: t('Organisation'),
                  cell: ({ org_id, mode }: AuditEntry) =>
                    org_id ? `${organisationName(org_id)}${mode ? `, ${MODE_NAMES[mode]}` : ''}` : '–',
                },
              ]
            : [
                {
                  name: t('Mode'),
                  cell: ({ mode }: AuditEntry) => (mode ? <span class="capital">{MODE_NAMES[mode]}</span> : '–'),
                },
              ]),
          {
            name: t('IP address'),
            aside: true,
            cell: ({ address, user_agent }) => (address ? <code title={user_agent ?? undefined}>{address}</code> : '–'),
          },
        ]}
      />
    </>
  )
}

/** The object and the details of an entry on one line. */
function Details({ entry }: { entry: AuditEntry }) {
  const details = shownDetails(entry).map(([name, value]) => `${name}: ${value}`)
  const subject = entry.subject !== entry.org_id && entry.subject
  if (!subject && details.length === 0) return null
  return (
    <div class="soft small">
      {subject && <code>{subject}</code>}
      {subject && details.length > 0 && ' · '}
      {details.join(' · ')}
    </div>
  )
}
