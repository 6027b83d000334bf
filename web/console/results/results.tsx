import { useEffect, useState } from 'preact/hooks'
import type { RecruiterResult, RecruiterResultCountedList } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import {
  JobIdFilter,
  ListCount,
  listQueryString,
  MoreFilters,
  SearchFilter,
  SelectFilter,
} from '../shared/list-filters.tsx'
import { RecordPicker } from '../shared/record-picker.tsx'
import { BuiltInView, SavedViews } from '../shared/saved-views.tsx'
import { useData, useList } from '../shell/loading.ts'
import { useAssignees } from './assignment.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { ContactLinks } from './call.tsx'
import { ColumnChoice, useHiddenColumns } from './column-choice.tsx'
import { DECISION_NAMES, DecisionCell } from './decision.tsx'
import { OPEN_ASSIGNMENTS_QUERY } from './open-assignments.ts'
import { interestText, Outcome } from './result-output.tsx'
import { NotInterested, Qualified, VerdictSummary } from './verdict.tsx'
import './results.css'
import './result-rows.css'
import { CANDIDATE_STATUS_NAMES } from '../campaigns/status-names.ts'
import { channelName, languageName } from '../shared/labels.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { type OrgContext, useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 4000
const OPEN_POLL_INTERVAL_MS = 15_000
const PAGE_SIZE = 50
const CHANGED_WITHIN_HOURS = [
  ['1', t('In the last hour')],
  ['24', t('In the last day')],
  ['168', t('In the last week')],
] as const
const VERDICTS = [
  ['to_call', t('To call')],
  ['qualified', t('Qualified')],
  ['not_qualified', t('Not qualified')],
  ['undecided', t('Undecided')],
] as const
const DECISIONS = [['none', t('No decision yet')], ...Object.entries(DECISION_NAMES)] as const
const SORTS = [
  ['updated_first', t('Updated, oldest first')],
  ['enrolled', t('Enrolled, newest first')],
  ['enrolled_first', t('Enrolled, oldest first')],
  ['completed', t('Ended, newest first')],
  ['completed_first', t('Ended, oldest first')],
] as const
const FILTER_NAMES = [
  'q',
  'campaign_id',
  'mandate_id',
  'job_id',
  'status',
  'verdict',
  'decision',
  'assigned_to',
  'changed_within_hours',
] as const

export default function Results() {
  const context = useOrgContext()
  const { query } = useAddress()
  const filter = listQueryString(query, [...FILTER_NAMES, 'sort'], PAGE_SIZE)
  const isFiltered = FILTER_NAMES.some((name) => query.get(name))
  const list = useList<RecruiterResult>(context.apiPath(`/recruiter-results?${filter}`), { pollMs: POLL_INTERVAL_MS })
  const exportQuery = listQueryString(query, FILTER_NAMES, PAGE_SIZE).replace(/limit=\d+&?/, '')
  const exportUrl = `/console/api${context.apiPath(`/export/results.csv?${exportQuery}`)}`
  const [selectedKeys, setSelectedKeys] = useState<ReadonlySet<string>>(new Set())
  const [hiddenColumns, setHiddenColumns] = useHiddenColumns()
  useEffect(() => setSelectedKeys(new Set()), [filter])
  const selectedRows = (list.items ?? []).filter(({ result_id }) => selectedKeys.has(result_id))
  const columns = candidateColumns(context)
  const isRecruiter = context.can('recruiter')
  const assignees = useAssignees()
  const isAssignable = isRecruiter && context.org.role !== 'operator'
  const open = useData<RecruiterResultCountedList>(
    isAssignable ? context.apiPath(`/recruiter-results?${OPEN_ASSIGNMENTS_QUERY}&limit=1`) : undefined,
    { pollMs: OPEN_POLL_INTERVAL_MS },
  )
  return (
    <>
      <div class="page-head">
        <h1>{t('Results')}</h1>
        {(list.total ?? 0) > 0 && (
          <a class="button" href={exportUrl} download={`results-${context.mode}.csv`}>
            {t('Export CSV')}
          </a>
        )}
      </div>
      <p class="soft">
        {t(
          'Candidates “to call” are qualified and have not turned the job down. “Undecided” candidates finished, but their answers are not sufficient for a verdict on at least one skill.',
        )}
      </p>
      <SavedViews page="results">
        <BuiltInView page="results" query="verdict=to_call">
          {t('To call')}
        </BuiltInView>
        <BuiltInView page="results" query="verdict=undecided">
          {t('Undecided')}
        </BuiltInView>
        {isAssignable && (
          <BuiltInView page="results" query={OPEN_ASSIGNMENTS_QUERY}>
            {t('Assigned to me ({count})', { count: (open.data?.total ?? 0).toLocaleString(displayLocale()) })}
          </BuiltInView>
        )}
      </SavedViews>
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Name, phone, email or ID')} />
        <MoreFilters names={FILTER_NAMES.slice(1)}>
          <SelectFilter name="verdict" label={t('Verdict')} allLabel={t('All verdicts')} options={VERDICTS} />
          <SelectFilter name="decision" label={t('Decision')} allLabel={t('All decisions')} options={DECISIONS} />
          <SelectFilter
            name="assigned_to"
            label={t('Assigned to')}
            allLabel={t('Everyone')}
            options={[
              ...(isAssignable ? [['me', t('Me')] as const] : []),
              ['none', t('Nobody')] as const,
              ...(assignees ?? []),
            ]}
          />
          <SelectFilter
            name="status"
            label={t('Status')}
            allLabel={t('All statuses')}
            options={Object.entries(CANDIDATE_STATUS_NAMES)}
          />
          <RecordPicker
            id="campaign-filter"
            kind="campaign"
            label={t('Campaign')}
            placeholder={t('All campaigns')}
            value={query.get('campaign_id') ?? undefined}
            onChoose={(id) => setQuery({ campaign_id: id })}
          />
          <RecordPicker
            id="mandate-filter"
            kind="mandate"
            label={t('Job')}
            placeholder={t('All jobs')}
            value={query.get('mandate_id') ?? undefined}
            onChoose={(id) => setQuery({ mandate_id: id })}
          />
          <SelectFilter
            name="changed_within_hours"
            label={t('Updated')}
            allLabel={t('Any time')}
            options={CHANGED_WITHIN_HOURS}
          />
          <JobIdFilter />
          <SelectFilter name="sort" label={t('Sort')} allLabel={t('Updated, newest first')} options={SORTS} />
        </MoreFilters>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <div class="row between">
        <ListCount list={list} nouns={[t('candidate'), t('candidates')]} />
        <ColumnChoice columns={columns.slice(1)} hidden={hiddenColumns} onChange={setHiddenColumns} />
      </div>
      {isRecruiter && selectedRows.length > 0 && (
        <BulkActions
          candidates={selectedRows}
          onDone={() => {
            setSelectedKeys(new Set())
            void list.reload()
            void open.reload()
          }}
          onClear={() => setSelectedKeys(new Set())}
        />
      )}
      <Table
        class="result-rows"
        caption={t('Candidates')}
        rows={list.items}
        keyOf={({ result_id }) => result_id}
        loadMore={list.more}
        loading={list.loading && list.items === undefined}
        selection={
          isRecruiter
            ? { keys: selectedKeys, onChange: setSelectedKeys, nameOf: ({ candidate }) => candidate.name }
            : undefined
        }
        empty={
          isFiltered ? (
            <>
              <p class="soft">{t('No candidates match these filters.')}</p>
              <button
                type="button"
                onClick={() => setQuery(Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])))}
              >
                {t('Remove all filters')}
              </button>
            </>
          ) : (
            <>
              <h2>{t('No results yet')}</h2>
              <p class="soft">{t('Results appear when candidates are enrolled in a campaign.')}</p>
              {isRecruiter && (
                <Link to={context.pagePath(context.mode === 'test' ? '/first-campaign' : '/campaigns/new')}>
                  {context.mode === 'test' ? t('Run a first campaign') : t('Start a campaign')}
                </Link>
              )}
            </>
          )
        }
        columns={columns.filter(({ id }) => !hiddenColumns.includes(id))}
      />
    </>
  )
}

/** A column with an ID, by which the user's choice of columns is stored. */
type CandidateColumn = Column<RecruiterResult> & { id: string }

function candidateColumns(context: OrgContext): CandidateColumn[] {
  return [
    {
      id: 'Candidate',
      name: t('Candidate'),
      class: 'candidate-column',
      cell: ({ result_id, candidate }) => (
        <>
          <div class="line row-title">
            <Link to={context.pagePath(`/results/${result_id}`)}>{candidate.name}</Link>
            <span class="soft small" title={candidate.external_candidate_id}>
              {candidate.external_candidate_id}
            </span>
          </div>
          <div class="line small contact-lines">
            {(candidate.phone || candidate.email) && <ContactLinks phone={candidate.phone} email={candidate.email} />}
          </div>
        </>
      ),
    },
    {
      id: 'Job',
      name: t('Job'),
      class: 'job-column',
      cell: ({ job_title, campaign_id, campaign_name }) => (
        <>
          <div class="line" title={job_title}>
            {job_title}
          </div>
          <div class="line small" title={campaign_name}>
            <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>
              {campaign_name === job_title ? t('Campaign') : campaign_name}
            </Link>
          </div>
        </>
      ),
    },
    {
      id: 'Outcome',
      name: t('Outcome'),
      class: 'outcome-column',
      cell: (result) =>
        result.status !== 'completed' ? (
          <Outcome result={result} />
        ) : (
          <div class="outcome-lines">
            <Qualified status={result.status} qualified={result.output.qualified} />{' '}
            <NotInterested interest={result.output.interest} />{' '}
            <VerdictSummary verdict={{ ...result.output, knocked_out_by: result.knocked_out_by }} />
          </div>
        ),
    },
    {
      id: 'Interest',
      name: t('Interest'),
      aside: true,
      class: 'interest-column',
      cell: ({ output }) => interestText(output.interest),
    },
    {
      id: 'Decision',
      name: t('Decision'),
      class: 'decision-column',
      cell: (result) => (result.decision || result.note ? <DecisionCell result={result} /> : '–'),
    },
    {
      id: 'Assigned to',
      name: t('Assigned to'),
      aside: true,
      class: 'assigned-column',
      cell: ({ assigned_to_name: name }) =>
        name === null ? (
          '–'
        ) : (
          <div class="line" title={name}>
            {name}
          </div>
        ),
    },
    {
      id: 'Channel',
      name: t('Channel'),
      aside: true,
      class: 'channel-column',
      cell: ({ output }) => (
        <>
          <span class="whole">{channelName(output.channel)}</span>
          <div class="soft small">{languageName(output.language)}</div>
        </>
      ),
    },
    {
      id: 'Updated',
      name: t('Updated'),
      aside: true,
      class: 'updated-column',
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
}
