import { useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { Handset } from '../phone/handset.tsx'
import { LiveResult } from '../results/live-result.tsx'
import { interestText, Outcome, verdictOn } from '../results/result-output.tsx'
import { PARTS } from '../shared/labels.ts'
import type { Candidate, Page, Result } from '../shared/records.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { externalId, PEOPLE, YOU } from './first-campaign-setup.ts'

/** The ten results as they appear, and the reader's own phone. */
export function FirstResults({ campaignId }: { campaignId: string }) {
  const place = usePlace()
  const [ended, setEnded] = useState(false)
  const { data, refusal } = useData<Page<Result>>(place.at(`/results?campaign_id=${campaignId}&limit=25`), {
    every: ended ? 4000 : 1000,
  })
  const [candidate, setCandidate] = useState<Candidate>()
  const byId = new Map(data?.items.map((result) => [result.candidate.external_candidate_id, result]))
  const yours = byId.get(YOU)
  const over = PEOPLE.filter((_, index) => {
    const status = byId.get(externalId(index))?.status
    return status !== undefined && status !== 'pending'
  }).length
  const all = over === PEOPLE.length
  if (all !== ended) setEnded(all)
  return (
    <div class="stack">
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
      <p role="status">
        {all
          ? 'All ten have reached their end.'
          : `${over} of ten have reached their end. For test numbers a wait of hours takes a second.`}
      </p>
      <div class="table-wrap">
        <table class="table first-table">
          <caption class="hidden-text">The ten test candidates</caption>
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col">Part</th>
              <th scope="col">What came of it</th>
              <th scope="col">Qualified</th>
              <th scope="col">This job</th>
            </tr>
          </thead>
          <tbody>
            {PEOPLE.map(({ name, part }, index) => {
              const result = byId.get(externalId(index))
              return (
                <tr key={part}>
                  <td data-name="Candidate">
                    {result ? <Link to={place.go(`/candidates/${result.candidate.candidate_id}`)}>{name}</Link> : name}
                  </td>
                  <td data-name="Part">{PARTS[part]!.name}</td>
                  <td data-name="What came of it">{result ? <Outcome result={result} /> : '…'}</td>
                  <Told name="Qualified" text={yesNo(result && verdictOn(result))} />
                  <Told name="This job" text={interestText(result?.output.interest)} />
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {yours && (
        <div class="stack-tight">
          <h3>Now you: answer on your phone</h3>
          <p class="soft">
            This is what a candidate sees. Tap an answer, or write one; the result beside it changes with every reply.
          </p>
          <div class="your-phone">
            <Handset candidateId={yours.candidate.candidate_id} onCandidate={setCandidate} />
            <LiveResult resultId={yours.result_id} turn={candidate?.messages.length ?? 0} />
          </div>
        </div>
      )}
      <div class="row">
        <Link class="button" to={place.go(`/phone?campaign_id=${campaignId}`)}>
          All eleven phones
        </Link>
        <Link class="button" to={place.go(`/results?campaign_id=${campaignId}`)}>
          Results
        </Link>
        <Link class="button" to={place.go(`/analytics?campaign_id=${campaignId}`)}>
          Analytics
        </Link>
      </div>
    </div>
  )
}

/** Where there is little room, a cell that says nothing is left out. */
function Told({ name, text }: { name: string; text: string }) {
  return (
    <td data-name={name} class={text === '–' ? 'nothing' : ''}>
      {text}
    </td>
  )
}

function yesNo(qualified: boolean | null | undefined): string {
  return qualified === null || qualified === undefined ? '–' : qualified ? 'yes' : 'no'
}
