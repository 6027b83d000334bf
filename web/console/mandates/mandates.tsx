import { useEffect, useState } from 'preact/hooks'
import type { ListedMandate } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CreatedVia } from '../shared/created-via.tsx'
import { methodNames } from '../shared/labels.ts'
import {
  JobIdFilter,
  ListCount,
  listQueryString,
  MoreFilters,
  SearchFilter,
  SelectFilter,
} from '../shared/list-filters.tsx'
import { RecordPicker } from '../shared/record-picker.tsx'
import { SavedViews } from '../shared/saved-views.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 2000
const PAGE_SIZE = 50
const STATUSES = [
  ['preparing', t('preparing')],
  ['ready', t('ready')],
  ['failed', t('failed')],
  ['archived', t('archived')],
] as const
const SORTS = [
  ['updated', t('Updated last')],
  ['name', t('Title')],
] as const
const FILTER_NAMES = ['q', 'status', 'workflow_id', 'job_id'] as const

export default function Mandates() {
  const context = useOrgContext()
  const { query } = useAddress()
  const isFiltered = FILTER_NAMES.some((name) => query.get(name))
  const [preparing, setPreparing] = useState(false)
  const path = `/lists/mandates?${listQueryString(query, [...FILTER_NAMES, 'sort'], PAGE_SIZE)}`
  const list = useList<ListedMandate>(context.apiPath(path), { pollMs: preparing ? POLL_INTERVAL_MS : undefined })
  const hasPreparing = list.items?.some(({ status }) => status === 'preparing') ?? false
  useEffect(() => setPreparing(hasPreparing), [hasPreparing])
  return (
    <>
      <div class="page-head">
        <h1>{t('Jobs')}</h1>
        {context.can('recruiter') && (
          <Link class="button primary" to={context.pagePath('/mandates/new')}>
            {t('New job')}
          </Link>
        )}
      </div>
      <p class="soft">
        {t('A job has requirements, and questions for its candidates. In the API, jobs are called mandates.')}
      </p>
      <SavedViews page="mandates" />
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Title, company or ID')} />
        <MoreFilters names={FILTER_NAMES.slice(1)}>
          <SelectFilter name="status" label={t('Status')} allLabel={t('All statuses')} options={STATUSES} />
          <RecordPicker
            id="workflow-filter"
            kind="workflow"
            label={t('Workflow')}
            placeholder={t('All workflows')}
            value={query.get('workflow_id') ?? undefined}
            onChoose={(id) => setQuery({ workflow_id: id })}
          />
          <JobIdFilter />
          <SelectFilter name="sort" label={t('Sort')} allLabel={t('Newest first')} options={SORTS} />
        </MoreFilters>
      </div>
      <ListCount list={list} nouns={[t('job'), t('jobs')]} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Jobs')}
        rows={list.items}
        keyOf={({ mandate_id }) => mandate_id}
        loadMore={list.more}
        empty={
          isFiltered ? (
            <p class="soft">{t('No jobs match these filters.')}</p>
          ) : (
            <>
              <h2>{t('No jobs yet')}</h2>
              <p class="soft">
                {t(
                  'Describe a job and its skills. We write the questions, and you can review them before any candidate is contacted.',
                )}
              </p>
              {context.can('recruiter') && <Link to={context.pagePath('/mandates/new')}>{t('Create a job')}</Link>}
            </>
          )
        }
        columns={[
          {
            name: t('Job'),
            cell: ({ mandate_id, title, company_name }) => (
              <>
                <Link to={context.pagePath(`/mandates/${mandate_id}`)}>{title}</Link>
                <br />
                <span class="soft small">{company_name}</span>
              </>
            ),
          },
          { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
          { name: t('Your job ID'), cell: ({ job_id }) => job_id ?? '–' },
          { name: t('Questions'), cell: ({ methods }) => methodNames(methods) },
          { name: t('Skills'), right: true, aside: true, cell: ({ skills }) => skills },
          { name: t('Source'), aside: true, cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: t('Updated'), cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
