import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { campaignName } from './campaign-names.ts'
import './campaigns.css'
import { interestText, Outcome, Qualified, verdictOn } from '../results/result-output.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { useTold } from '../shared/flash-message.ts'
import type { Campaign, Mandate, Person } from '../shared/records.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { Progress } from './progress.tsx'

const SOON = 1500

export default function CampaignPage({ params }: { params: Params }) {
  const place = usePlace()
  const path = place.at(`/campaigns/${params.campaign_id}`)
  const [moving, setMoving] = useState(true)
  const { data, refusal, reload, set } = useData<Campaign>(path, { every: moving ? SOON : undefined })
  const candidates = useList<Person>(place.at(`/people?campaign_id=${params.campaign_id}&limit=50`), {
    every: moving ? 2 * SOON : undefined,
  })
  const mandate = useData<Mandate>(data && place.at(`/mandates/${data.mandate_id}`))
  const [archiving, setArchiving] = useState(false)
  const [refused, setRefused] = useState<Refusal>()
  const told = useTold()
  useEffect(() => {
    setMoving(data === undefined || (data.status !== 'archived' && data.counts.pending > 0))
  }, [data?.status, data?.counts.pending])
  useEffect(() => {
    if (!moving) void candidates.reload() // as it stands at the end
  }, [moving])

  const up = <Link to={place.go('/campaigns')}>Campaigns</Link>
  if (refusal) {
    return (
      <>
        <p>{up}</p>
        <Notice kind="bad">{refusal.message}</Notice>
      </>
    )
  }
  if (!data) return <h1 class="waiting">A campaign's name</h1>
  const recruiter = place.may('recruiter')
  const own = data.created_via === 'playground'
  return (
    <>
      <p>{up}</p>
      <div class="page-head">
        <h1>
          {campaignName(data, mandate.data)} <Badge state={data.status} />
        </h1>
        <div class="row">
          {data.counts.completed > 0 && (
            <Link class="button primary" to={place.go(`/results?campaign_id=${data.campaign_id}&verdict=to_call`)}>
              Who to call
            </Link>
          )}
          {recruiter && (
            <>
              {(data.status === 'running' || data.status === 'scheduled') && (
                <button type="button" onClick={() => void act('/pause')}>
                  Pause
                </button>
              )}
              {data.status === 'paused' && (
                <button type="button" class="primary" onClick={() => void act('/resume')}>
                  Resume
                </button>
              )}
              {own && data.status !== 'archived' && (
                <Link class="button" to={place.go(`/campaigns/new?campaign_id=${data.campaign_id}`)}>
                  More candidates
                </Link>
              )}
              {data.status !== 'archived' && (
                <button type="button" onClick={() => setArchiving(true)}>
                  Archive
                </button>
              )}
            </>
          )}
        </div>
      </div>
      {refused && <Notice kind="bad">{refused.message}</Notice>}
      {told && <Notice kind="good">{told}</Notice>}
      {data.status === 'paused' && (
        <Notice kind="wait">Paused: nobody is approached until it is resumed. Who answers is still heard.</Notice>
      )}
      {data.status === 'scheduled' && (
        <Notice kind="wait">
          Contact begins <Time at={data.starts_at} />.
        </Notice>
      )}
      <section class="card stack" aria-label="Progress">
        <Progress counts={data.counts} />
        <ul class="counts">
          {(['completed', 'declined', 'failed', 'pending'] as const).map((status) => (
            <li key={status}>
              <Link class="figure" to={place.go(`/results?campaign_id=${data.campaign_id}&status=${status}`)}>
                <span class="soft small">
                  <span class={`swatch ${status}`} />
                  {status}
                </span>
                <strong>{data.counts[status].toLocaleString()}</strong>
              </Link>
            </li>
          ))}
          <li>
            <Link class="figure" to={place.go(`/results?campaign_id=${data.campaign_id}`)}>
              <span class="soft small">all candidates</span>
              <strong>{data.counts.candidates.toLocaleString()}</strong>
            </Link>
          </li>
        </ul>
      </section>
      <Facts>
        <Fact name="Job">
          <Link to={place.go(`/mandates/${data.mandate_id}`)}>
            {mandate.data ? `${mandate.data.title}, ${mandate.data.company_name}` : data.mandate_id}
          </Link>
        </Fact>
        <Fact name="Started">
          <Time at={data.starts_at} />
        </Fact>
        {data.completed_at && (
          <Fact name="Completed">
            <Time at={data.completed_at} />
          </Fact>
        )}
        <Fact name="Made by">{own ? 'the console' : 'the API: candidates are enrolled there'}</Fact>
        <Fact name="Id">
          <code>{data.campaign_id}</code>
        </Fact>
        <Fact name="More">
          <span class="row">
            <Link to={place.go(`/analytics?campaign_id=${data.campaign_id}`)}>Analytics</Link>
            {place.mode === 'test' && <Link to={place.go(`/phone?campaign_id=${data.campaign_id}`)}>Their phones</Link>}
            <a
              href={`/console/api${place.at(`/export/results.csv?campaign_id=${data.campaign_id}`)}`}
              download={`results-${data.campaign_id}.csv`}
            >
              Export as CSV
            </a>
          </span>
        </Fact>
      </Facts>
      <h2>Candidates</h2>
      {candidates.refusal && <Notice kind="bad">{candidates.refusal.message}</Notice>}
      <Table
        caption="Candidates, the newest change first"
        rows={candidates.items}
        keyOf={({ result_id }) => result_id}
        more={candidates.more}
        empty={
          <>
            <p class="soft">Nobody is enrolled yet.</p>
            {own && recruiter && (
              <Link to={place.go(`/campaigns/new?campaign_id=${data.campaign_id}`)}>Enrol candidates</Link>
            )}
          </>
        }
        columns={[
          {
            name: 'Name',
            cell: ({ candidate: { candidate_id, name } }) => (
              <Link to={place.go(`/candidates/${candidate_id}`)}>{name}</Link>
            ),
          },
          { name: 'Your id', cell: ({ candidate }) => candidate.external_candidate_id },
          { name: 'Status', cell: (person) => <Outcome result={person} /> },
          {
            name: 'Verdict',
            cell: (person) =>
              person.status === 'completed' ? (
                <Link to={place.go(`/results/${person.result_id}`)}>
                  <Qualified qualified={verdictOn(person)} />
                </Link>
              ) : (
                '–'
              ),
          },
          { name: 'This job', cell: ({ output }) => interestText(output.interest) },
        ]}
      />
      {archiving && (
        <Confirm
          title="Archive this campaign?"
          action="Archive the campaign"
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>
            Nobody is contacted any more, and {data.counts.pending.toLocaleString()} who have not finished become{' '}
            <strong>failed</strong>. Nothing is erased, but this cannot be taken back.
          </p>
        </Confirm>
      )}
    </>
  )

  async function act(step: '/pause' | '/resume') {
    const answer = await api<Campaign>(path + step, { method: 'POST' })
    setRefused(answer.ok ? undefined : answer.refusal)
    if (answer.ok) set(answer.data)
  }
}
