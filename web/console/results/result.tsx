import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { campaignName } from '../campaigns/campaign-names.ts'
import { Fact, Facts } from '../shared/description-list.tsx'
import type { Campaign, Candidate, Result } from '../shared/records.ts'
import { useData } from '../shell/loading.ts'
import { useJob } from './asked-questions.ts'
import { Call } from './call.tsx'
import { Outcome, ResultOutput } from './result-output.tsx'
import './results.css'
import { channelName, languageName } from '../shared/labels.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export default function ResultPage({ params }: { params: Params }) {
  const place = usePlace()
  const [open, setOpen] = useState(true)
  const { data, refusal } = useData<Result>(place.at(`/results/${params.result_id}`), {
    every: open ? 2000 : undefined,
  })
  useEffect(() => setOpen(data === undefined || data.status === 'pending'), [data?.status])
  const person = useData<Candidate>(data && place.at(`/candidates/${data.candidate.candidate_id}`))
  const campaign = useData<Campaign>(data && place.at(`/campaigns/${data.campaign_id}`))
  const { mandate, questions, ready } = useJob(data)
  const up = <Link to={place.go('/results')}>Results</Link>
  if (refusal) {
    return (
      <>
        <p>{up}</p>
        <Notice kind="bad">{refusal.message}</Notice>
      </>
    )
  }
  if (!data || !ready) return <h1 class="waiting">Somebody's result</h1>
  const { candidate, output } = data
  return (
    <>
      <p>{up}</p>
      <div class="page-head">
        <h1>
          {candidate.name} <Outcome result={data} />
        </h1>
        <Link class="button" to={place.go(`/candidates/${candidate.candidate_id}`)}>
          Read the conversation
        </Link>
      </div>
      <div class="two-columns">
        <section class="card" aria-label="Answers and verdicts">
          <ResultOutput result={data} questions={questions} />
        </section>
        <Facts>
          <Fact name="Call">
            {person.data ? (
              <Call phone={person.data.phone} email={person.data.email} />
            ) : (
              <span class="waiting">+910000000000</span>
            )}
          </Fact>
          <Fact name="Your id">{candidate.external_candidate_id}</Fact>
          {data.job_id && <Fact name="Your job id">{data.job_id}</Fact>}
          <Fact name="Campaign">
            <Link to={place.go(`/campaigns/${data.campaign_id}`)}>
              {campaign.data ? campaignName(campaign.data, mandate) : 'Campaign'}
            </Link>{' '}
            <code class="soft small">{data.campaign_id}</code>
          </Fact>
          <Fact name="Mandate">
            <Link to={place.go(`/mandates/${data.mandate_id}`)}>
              {mandate ? `${mandate.title}, ${mandate.company_name}` : 'Mandate'}
            </Link>{' '}
            <code class="soft small">{data.mandate_id}</code>
          </Fact>
          <Fact name="Language">{languageName(output.language)}</Fact>
          <Fact name="Channel">{channelName(output.channel)}</Fact>
          <Fact name="Contacted">
            <Time at={data.started_at} />
          </Fact>
          <Fact name="Ended">
            <Time at={data.completed_at} />
          </Fact>
          {Object.entries(candidate.metadata).map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
          <Fact name="Id">
            <code>{data.result_id}</code>
          </Fact>
        </Facts>
      </div>
      <details class="card">
        <summary>As the API answers it</summary>
        <pre class="json">{JSON.stringify(data, null, 2)}</pre>
      </details>
    </>
  )
}
