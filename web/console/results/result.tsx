import { useEffect, useState } from 'preact/hooks'
import type { CandidateConversation } from '../../api-types/console.ts'
import type { Campaign, Result } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { campaignName } from '../campaigns/campaign-names.ts'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { useData } from '../shell/loading.ts'
import { ContactLinks } from './call.tsx'
import { CandidateWork, useCandidateWork } from './candidate-work.tsx'
import { useResultMandate } from './result-mandate.ts'
import { Outcome, ResultOutput } from './result-output.tsx'
import { reportPdfUrl, ShareReport } from './share-report.tsx'
import { Qualified } from './verdict.tsx'
import './results.css'
import { channelName, languageName } from '../shared/labels.ts'
import { Link, type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 2000

export default function ResultPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const [isPending, setIsPending] = useState(true)
  const { data, error } = useData<Result>(context.apiPath(`/results/${params.result_id}`), {
    pollMs: isPending ? POLL_INTERVAL_MS : undefined,
  })
  useEffect(() => setIsPending(data === undefined || data.status === 'pending'), [data?.status])
  const conversation = useData<CandidateConversation>(
    data && context.apiPath(`/candidates/${data.candidate.candidate_id}`),
  )
  const campaign = useData<Campaign>(data && context.apiPath(`/campaigns/${data.campaign_id}`))
  const { mandate, questions, ready } = useResultMandate(data)
  const work = useCandidateWork(data?.candidate.candidate_id)
  const parentLink = <ParentLink to={context.pagePath('/results')}>{t('Results')}</ParentLink>
  if (error) {
    return (
      <>
        <p>{parentLink}</p>
        <Notice kind="bad">{error.message}</Notice>
      </>
    )
  }
  if (!data || !ready || !(work.data || work.error)) return <h1 class="waiting">Candidate's result</h1>
  const { candidate, output } = data
  return (
    <>
      <p>{parentLink}</p>
      <div class="page-head">
        <h1>
          {candidate.name}{' '}
          {data.status === 'completed' ? (
            <Qualified status={data.status} qualified={output.qualified} />
          ) : (
            <Outcome result={data} />
          )}
        </h1>
        <div class="row">
          <Link class="button" to={context.pagePath(`/candidates/${candidate.candidate_id}`)}>
            {t('View conversation')}
          </Link>
          <ShareReport candidateId={candidate.candidate_id} name={candidate.name} />
          <a class="button" href={reportPdfUrl(context, candidate.candidate_id)} target="_blank" rel="noreferrer">
            {t('Report as PDF')}
          </a>
        </div>
      </div>
      <div class="two-columns">
        <section class="card" aria-labelledby="answers-title">
          <h2 id="answers-title" class="hidden-text">
            {t('Answers and verdicts')}
          </h2>
          <ResultOutput result={data} questions={questions} />
        </section>
        <div class="stack">
          <CandidateWork work={work} />
          <DescriptionList>
            <DescriptionItem name={t('Contact')}>
              {conversation.data ? (
                <ContactLinks phone={conversation.data.phone} email={conversation.data.email} />
              ) : (
                <span class="waiting">+910000000000</span>
              )}
            </DescriptionItem>
            <DescriptionItem name={t('Your ID')}>{candidate.external_candidate_id}</DescriptionItem>
            {data.job_id && <DescriptionItem name={t('Your job ID')}>{data.job_id}</DescriptionItem>}
            <DescriptionItem name={t('Campaign')}>
              <Link to={context.pagePath(`/campaigns/${data.campaign_id}`)}>
                {campaign.data ? campaignName(campaign.data, mandate) : t('Campaign')}
              </Link>
            </DescriptionItem>
            <DescriptionItem name={t('Job')}>
              <Link to={context.pagePath(`/mandates/${data.mandate_id}`)}>
                {mandate ? `${mandate.title}, ${mandate.company_name}` : t('Job')}
              </Link>
            </DescriptionItem>
            <DescriptionItem name={t('Language')}>{languageName(output.language)}</DescriptionItem>
            <DescriptionItem name={t('Channel')}>{channelName(output.channel)}</DescriptionItem>
            <DescriptionItem name={t('Contacted')}>
              <Time at={data.started_at} />
            </DescriptionItem>
            <DescriptionItem name={t('Ended')}>
              <Time at={data.completed_at} />
            </DescriptionItem>
            {Object.entries(candidate.metadata).map(([name, value]) => (
              <DescriptionItem key={name} name={name}>
                {value}
              </DescriptionItem>
            ))}
            <DescriptionItem name="ID">
              <code>{data.result_id}</code>
            </DescriptionItem>
          </DescriptionList>
        </div>
      </div>
      <details class="card">
        <summary>{t('API response')}</summary>
        <pre class="json">{JSON.stringify(data, null, 2)}</pre>
      </details>
    </>
  )
}
