import type { RecruiterResult } from '../../api-types/console.ts'
import type { CampaignList, MandateList } from '../../api-types/partner.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useCampaignNames } from '../campaigns/campaign-names.ts'
import { JobIdFilter } from '../shared/list-filters.tsx'
import { useData, useList } from '../shell/loading.ts'
import { ContactLinks } from './call.tsx'
import { interestText, Outcome } from './result-output.tsx'
import { Qualified, VerdictSummary } from './verdict.tsx'
import './results.css'
import { channelName, languageName } from '../shared/labels.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 4000
const STATUSES = ['pending', 'completed', 'declined', 'failed']
const CHANGED_SINCE_FILTERS: Record<string, { name: string; hours: number }> = {
  hour: { name: 'In the last hour', hours: 1 },
  day: { name: 'In the last day', hours: 24 },
  week: { name: 'In the last week', hours: 168 },
}
const VERDICT_FILTERS: [string, string][] = [
  ['to_call', 'To call'],
  ['qualified', 'Qualified'],
  ['not_qualified', 'Not qualified'],
  ['undecided', 'Undecided'],
]

export default function Results() {
  const context = useOrgContext()
  const { query } = useAddress()
  const filter = new URLSearchParams()
  for (const name of ['campaign_id', 'mandate_id', 'job_id', 'status', 'verdict']) {
    const value = query.get(name)
    if (value) filter.set(name, value)
  }
  const exportUrl = `/console/api${context.apiPath(`/export/results.csv?${filter}`)}`
  const since = query.get('since') ?? ''
  if (CHANGED_SINCE_FILTERS[since]) filter.set('changed_within_hours', String(CHANGED_SINCE_FILTERS[since].hours))
  const isFiltered = filter.toString() !== ''
  const list = useList<RecruiterResult>(context.apiPath(`/people?limit=50&${filter}`), { pollMs: POLL_INTERVAL_MS })
  const campaigns = useData<CampaignList>(context.apiPath('/campaigns?limit=100'))
  const mandates = useData<MandateList>(context.apiPath('/mandates?limit=25'))
  const selectedCampaignId = query.get('campaign_id')
  const nameOf = useCampaignNames(campaigns.data?.items, selectedCampaignId ? [selectedCampaignId] : [])
  const campaignIds = [
    ...new Set([
      ...(campaigns.data?.items.map(({ campaign_id }) => campaign_id) ?? []),
      ...(selectedCampaignId ? [selectedCampaignId] : []),
    ]),
  ]
  return (
    <>
      <div class="page-head">
        <h1>Results</h1>
        <a class="button" href={exportUrl} download={`results-${context.mode}.csv`}>
          Export CSV
        </a>
      </div>
      <p class="soft">
        Answers, verdicts and phone numbers of all candidates. Candidates “to call” are qualified and have not turned
        the job down. “Undecided” candidates finished, but their answers allow no verdict on a skill. The export applies
        all filters except “Updated”.
      </p>
      <div class="row filters">
        <Choice
          name="campaign_id"
          label="Campaign"
          allLabel="All campaigns"
          choices={campaigns.data && campaignIds.map((id) => [id, nameOf(id)])}
        />
        <Choice
          name="mandate_id"
          label="Mandate"
          allLabel="All mandates"
          choices={mandates.data?.items.map((each) => [each.mandate_id, `${each.title}, ${each.company_name}`])}
        />
        <Choice
          name="status"
          label="Status"
          allLabel="All statuses"
          choices={STATUSES.map((status) => [status, status])}
        />
        <Choice name="verdict" label="Verdict" allLabel="All verdicts" choices={VERDICT_FILTERS} />
        <Choice
          name="since"
          label="Updated"
          allLabel="Any time"
          choices={Object.entries(CHANGED_SINCE_FILTERS).map(([value, { name }]) => [value, name])}
        />
        <JobIdFilter />
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Results, most recently updated first"
        rows={list.items}
        keyOf={({ result_id }) => result_id}
        loadMore={list.more}
        empty={
          isFiltered ? (
            <p class="soft">No results match these filters.</p>
          ) : (
            <>
              <h2>No results yet</h2>
              <p class="soft">Results appear when candidates are enrolled in a campaign.</p>
              {context.can('recruiter') && (
                <Link to={context.pagePath(context.mode === 'test' ? '/first-campaign' : '/campaigns/new')}>
                  {context.mode === 'test' ? 'Run a first campaign' : 'Start a campaign'}
                </Link>
              )}
            </>
          )
        }
        columns={[
          {
            name: 'Candidate',
            cell: ({ result_id, candidate }) => (
              <>
                <Link to={context.pagePath(`/results/${result_id}`)}>{candidate.name}</Link>
                <br />
                <span class="soft small">{candidate.external_candidate_id}</span>
              </>
            ),
          },
          { name: 'Contact', cell: ({ candidate: { phone, email } }) => <ContactLinks phone={phone} email={email} /> },
          { name: 'Status', cell: (result) => <Outcome result={result} /> },
          {
            name: 'Verdict',
            cell: ({ status, output, knocked_out_by }) =>
              status !== 'completed' ? (
                '–'
              ) : (
                <>
                  <Qualified status={status} qualified={output.qualified} />
                  <VerdictSummary verdict={{ ...output, knocked_out_by }} />
                </>
              ),
          },
          { name: 'Interest', cell: ({ output }) => interestText(output.interest) },
          {
            name: 'Channel',
            aside: true,
            cell: ({ output }) => (
              <>
                <span class="whole">{channelName(output.channel)}</span>
                <div class="soft small">{languageName(output.language)}</div>
              </>
            ),
          },
          { name: 'Updated', aside: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}

interface ChoiceProps {
  name: string
  label: string
  /** Label of the option that selects everything, such as “All campaigns”. */
  allLabel: string
  choices: [string, string][] | undefined
}

function Choice({ name, label, allLabel, choices = [] }: ChoiceProps) {
  const { query } = useAddress()
  const value = query.get(name) ?? ''
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{allLabel}</option>
        {value && !choices.some(([each]) => each === value) && <option value={value}>{value}</option>}
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
