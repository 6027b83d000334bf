import { useState } from 'preact/hooks'
import type { CandidateConversation } from '../../api-types/console.ts'
import type { ResultList } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { SimulatorPhone } from '../phone/simulator-phone.tsx'
import { LiveResult } from '../results/live-result.tsx'
import { interestText, Outcome } from '../results/result-output.tsx'
import { PERSONAS } from '../shared/labels.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { externalId, TEST_CANDIDATES, USER_CANDIDATE_ID } from './first-campaign-setup.ts'

const POLL_INTERVAL_MS = 1000
const IDLE_POLL_MS = 4000

/** The results of the test candidates, and a simulator phone on which the user answers as a candidate. */
export function FirstResults({ campaignId }: { campaignId: string }) {
  const context = useOrgContext()
  const [ended, setEnded] = useState(false)
  const { data, error } = useData<ResultList>(context.apiPath(`/results?campaign_id=${campaignId}&limit=25`), {
    pollMs: ended ? IDLE_POLL_MS : POLL_INTERVAL_MS,
  })
  const [candidate, setCandidate] = useState<CandidateConversation>()
  const resultsById = new Map(data?.items.map((result) => [result.candidate.external_candidate_id, result]))
  const userResult = resultsById.get(USER_CANDIDATE_ID)
  const finishedCount = TEST_CANDIDATES.filter((_, index) => {
    const status = resultsById.get(externalId(index))?.status
    return status !== undefined && status !== 'pending'
  }).length
  const allFinished = finishedCount === TEST_CANDIDATES.length
  if (allFinished !== ended) setEnded(allFinished)
  return (
    <div class="stack">
      {error && <Notice kind="bad">{error.message}</Notice>}
      <p role="status">
        {allFinished
          ? t('The eleven test candidates have finished.')
          : t(
              '{count} of eleven test candidates have finished. Test candidates do not wait for hours: every follow-up and deadline comes after one second.',
              { count: finishedCount },
            )}
      </p>
      <div class="table-wrap">
        <table class="table first-table">
          <caption class="hidden-text">{t('The eleven test candidates')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('Candidate')}</th>
              <th scope="col">{t('Persona')}</th>
              <th scope="col">{t('Outcome')}</th>
              <th scope="col">{t('Qualified')}</th>
              <th scope="col">{t('Interest')}</th>
            </tr>
          </thead>
          <tbody>
            {TEST_CANDIDATES.map(({ name, part }, index) => {
              const result = resultsById.get(externalId(index))
              return (
                <tr key={part}>
                  <td data-name={t('Candidate')}>
                    {result ? (
                      <Link to={context.pagePath(`/candidates/${result.candidate.candidate_id}`)}>{name}</Link>
                    ) : (
                      name
                    )}
                  </td>
                  <td data-name={t('Persona')}>{PERSONAS[part]!.name}</td>
                  <td data-name={t('Outcome')}>{result ? <Outcome result={result} /> : '…'}</td>
                  <ResultCell
                    name={t('Qualified')}
                    text={result?.status === 'completed' ? yesNo(result.output.qualified) : '–'}
                  />
                  <ResultCell name={t('Interest')} text={interestText(result?.output.interest)} />
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {userResult && (
        <div class="stack-tight">
          <h3>{t('Your turn: answer on your simulator phone')}</h3>
          <p class="soft">
            {t('This is what a candidate sees. Choose an answer or type one; the result updates with every reply.')}
          </p>
          <div class="your-phone">
            <SimulatorPhone candidateId={userResult.candidate.candidate_id} onCandidate={setCandidate} />
            <LiveResult resultId={userResult.result_id} messageCount={candidate?.messages.length ?? 0} />
          </div>
        </div>
      )}
      <div class="row">
        <Link class="button" to={context.pagePath(`/phone?campaign_id=${campaignId}`)}>
          {t('Open all simulator phones')}
        </Link>
        <Link class="button" to={context.pagePath(`/results?campaign_id=${campaignId}`)}>
          {t('View results')}
        </Link>
        <Link class="button" to={context.pagePath(`/analytics?campaign_id=${campaignId}`)}>
          {t('View analytics')}
        </Link>
      </div>
    </div>
  )
}

/** A cell that is hidden on narrow screens if it is empty. */
function ResultCell({ name, text }: { name: string; text: string }) {
  return (
    <td data-name={name} class={text === '–' ? 'nothing' : ''}>
      {text}
    </td>
  )
}

function yesNo(qualified: boolean | null): string {
  return qualified === null ? t('undecided') : qualified ? t('yes') : t('no')
}
