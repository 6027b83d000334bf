import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useCampaignNames } from '../campaigns/campaign-names.ts'
import { JobIdFilter } from '../shared/list-filters.tsx'
import type { Campaign, Mandate, Page, Person, Result } from '../shared/records.ts'
import { useData, useList } from '../shell/loading.ts'
import { Call } from './call.tsx'
import { interestText, Outcome, Qualified } from './result-output.tsx'
import './results.css'
import { channelName, languageName } from '../shared/labels.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

const STATUSES = ['pending', 'completed', 'declined', 'failed']
const SINCE: Record<string, { name: string; hours: number }> = {
  hour: { name: 'In the last hour', hours: 1 },
  day: { name: 'In the last day', hours: 24 },
  week: { name: 'In the last week', hours: 168 },
}
const VERDICTS: [string, string][] = [
  ['to_call', 'To call'],
  ['qualified', 'Qualified'],
  ['not_qualified', 'Not qualified'],
]

export default function Results() {
  const place = usePlace()
  const { query } = useAddress()
  const filter = new URLSearchParams()
  for (const name of ['campaign_id', 'mandate_id', 'job_id', 'status', 'verdict']) {
    const value = query.get(name)
    if (value) filter.set(name, value)
  }
  const exported = `/console/api${place.at(`/export/results.csv?${filter}`)}`
  const since = query.get('since') ?? ''
  if (SINCE[since]) filter.set('changed_within_hours', String(SINCE[since].hours))
  const filtered = filter.toString() !== ''
  const list = useList<Person>(place.at(`/people?limit=50&${filter}`), { every: 4000 })
  const campaigns = useData<Page<Campaign>>(place.at('/campaigns?limit=100'))
  const mandates = useData<Page<Mandate>>(place.at('/mandates?limit=25'))
  const chosen = query.get('campaign_id')
  const nameOf = useCampaignNames(campaigns.data?.items, chosen ? [chosen] : [])
  const campaignIds = [
    ...new Set([...(campaigns.data?.items.map(({ campaign_id }) => campaign_id) ?? []), ...(chosen ? [chosen] : [])]),
  ]
  return (
    <>
      <div class="page-head">
        <h1>Results</h1>
        <a class="button" href={exported} download={`results-${place.mode}.csv`}>
          Export as CSV
        </a>
      </div>
      <p class="soft">
        What each candidate answered, the verdicts, and the number to call; the newest first. To call is who qualified
        and did not turn the job down. The export holds all that the filters show, whenever it changed.
      </p>
      <div class="row filters">
        <Choice
          name="campaign_id"
          label="Campaign"
          every="Every campaign"
          choices={campaigns.data && campaignIds.map((id) => [id, nameOf(id)])}
        />
        <Choice
          name="mandate_id"
          label="Mandate"
          every="Every mandate"
          choices={mandates.data?.items.map((each) => [each.mandate_id, `${each.title}, ${each.company_name}`])}
        />
        <Choice
          name="status"
          label="Status"
          every="Every status"
          choices={STATUSES.map((status) => [status, status])}
        />
        <Choice name="verdict" label="Verdict" every="Every verdict" choices={VERDICTS} />
        <Choice
          name="since"
          label="Changed"
          every="At any time"
          choices={Object.entries(SINCE).map(([value, { name }]) => [value, name])}
        />
        <JobIdFilter />
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Results, the newest change first"
        rows={list.items}
        keyOf={({ result_id }) => result_id}
        more={list.more}
        empty={
          filtered ? (
            <p class="soft">No result fits this filter.</p>
          ) : (
            <>
              <h2>No result yet</h2>
              <p class="soft">Results appear as soon as candidates are enrolled in a campaign.</p>
              {place.may('recruiter') && (
                <Link to={place.go(place.mode === 'test' ? '/first-campaign' : '/campaigns/new')}>
                  {place.mode === 'test' ? 'Run a first campaign' : 'Start a campaign'}
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
                <Link to={place.go(`/results/${result_id}`)}>{candidate.name}</Link>
                <br />
                <span class="soft small">{candidate.external_candidate_id}</span>
              </>
            ),
          },
          { name: 'Call', cell: ({ candidate: { phone, email } }) => <Call phone={phone} email={email} /> },
          { name: 'Status', cell: (result) => <Outcome result={result} /> },
          {
            name: 'Verdict',
            cell: ({ status, output }) =>
              status !== 'completed' ? (
                '–'
              ) : (
                <>
                  <Qualified qualified={output.qualified} />
                  <div class="soft small">{whyText(output)}</div>
                </>
              ),
          },
          { name: 'This job', cell: ({ output }) => interestText(output.interest) },
          {
            name: 'Reached',
            aside: true,
            cell: ({ output }) => (
              <>
                <span class="whole">{channelName(output.channel)}</span>
                <div class="soft small">{languageName(output.language)}</div>
              </>
            ),
          },
          { name: 'Changed', aside: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}

/** What the verdict rests on. */
function whyText({ enrichment = {}, skills }: Result['output']): string {
  const knockout = Object.keys(enrichment).find((key) => enrichment[key]!.knocked_out)
  return knockout === undefined ? skillsText(skills) : `Knockout: ${knockout}`
}

function skillsText(skills: Result['output']['skills']): string {
  if (!skills || skills.every(({ verdict }) => verdict === 'not_asked')) return ''
  return `${skills.filter(({ verdict }) => verdict === 'verified').length} of ${skills.length} skills`
}

interface ChoiceProps {
  name: string
  label: string
  every: string
  choices: [string, string][] | undefined
}

function Choice({ name, label, every, choices = [] }: ChoiceProps) {
  const { query } = useAddress()
  const value = query.get(name) ?? ''
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{every}</option>
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
