import { useEffect, useState } from 'preact/hooks'
import type { RecruiterResult } from '../../api-types/console.ts'
import type { Campaign, Mandate, TestClock } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { campaignName } from './campaign-names.ts'
import './campaigns.css'
import { interestText, Outcome } from '../results/result-output.tsx'
import { NotInterested, Qualified, VerdictSummary } from '../results/verdict.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { useFlashMessage } from '../shared/flash-message.ts'
import { Link, type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { CampaignSpending } from './campaign-spending.tsx'
import { Progress } from './progress.tsx'
import { CANDIDATE_STATUS_NAMES } from './status-names.ts'

const POLL_INTERVAL_MS = 1500

export default function CampaignPage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/campaigns/${params.campaign_id}`)
  const [inProgress, setInProgress] = useState(true)
  const { data, error, reload, set } = useData<Campaign>(path, { pollMs: inProgress ? POLL_INTERVAL_MS : undefined })
  const candidates = useList<RecruiterResult>(
    context.apiPath(`/recruiter-results?campaign_id=${params.campaign_id}&limit=50`),
    {
      pollMs: inProgress ? 2 * POLL_INTERVAL_MS : undefined,
    },
  )
  const mandate = useData<Mandate>(data && context.apiPath(`/mandates/${data.mandate_id}`))
  const [archiving, setArchiving] = useState(false)
  const [submitError, setSubmitError] = useState<ApiError>()
  const flashMessage = useFlashMessage()
  useEffect(() => {
    setInProgress(data === undefined || (data.status !== 'archived' && data.counts.pending > 0))
  }, [data?.status, data?.counts.pending])
  useEffect(() => {
    if (!inProgress) void candidates.reload() // load the final state
  }, [inProgress])

  const parentLink = <ParentLink to={context.pagePath('/campaigns')}>{t('Campaigns')}</ParentLink>
  if (error) {
    return (
      <>
        <p>{parentLink}</p>
        <Notice kind="bad">{error.message}</Notice>
      </>
    )
  }
  if (!data) return <h1 class="waiting">Campaign</h1>
  const recruiter = context.can('recruiter')
  const createdHere = data.created_via === 'playground'
  return (
    <>
      <p>{parentLink}</p>
      <div class="page-head">
        <h1>
          {campaignName(data, mandate.data)} <Badge state={data.status} />
        </h1>
        <div class="row">
          {data.counts.completed > 0 && (
            <Link
              class="button primary"
              to={context.pagePath(`/results?campaign_id=${data.campaign_id}&verdict=to_call`)}
            >
              {t('View candidates to call')}
            </Link>
          )}
          {recruiter && (
            <>
              {(data.status === 'running' || data.status === 'scheduled') && (
                <button type="button" onClick={() => void changeStatus('/pause')}>
                  {t('Pause')}
                </button>
              )}
              {data.status === 'paused' && (
                <button type="button" class="primary" onClick={() => void changeStatus('/resume')}>
                  {t('Resume')}
                </button>
              )}
              {createdHere && data.status !== 'archived' && (
                <Link class="button" to={context.pagePath(`/campaigns/new?campaign_id=${data.campaign_id}`)}>
                  {t('Add candidates')}
                </Link>
              )}
              {data.status !== 'archived' && (
                <button type="button" onClick={() => setArchiving(true)}>
                  {t('Archive')}
                </button>
              )}
            </>
          )}
        </div>
      </div>
      {submitError && <Notice kind="bad">{submitError.message}</Notice>}
      {flashMessage && <Notice kind="good">{flashMessage}</Notice>}
      {data.status === 'paused' && data.paused_by && (
        <Notice kind="wait">
          {data.paused_by === 'campaign_cap'
            ? t(
                'Paused, because the next message would exceed the spend cap of this campaign. It resumes when the cap is raised.',
              )
            : t(
                'Paused, because the next message would exceed the daily cap of the organisation. It resumes on the next day, or when the cap is raised.',
              )}
        </Notice>
      )}
      {data.status === 'paused' && !data.paused_by && (
        <Notice kind="wait">
          {t(
            'Paused: no messages are sent until you resume the campaign. Replies are processed, and the responses wait.',
          )}
        </Notice>
      )}
      {data.status === 'scheduled' && (
        <Notice kind="wait">
          {richText('Candidates are contacted from {time}.', { time: <Time at={data.starts_at} /> })}
        </Notice>
      )}
      <section class="card stack" aria-label={t('Progress')}>
        <Progress counts={data.counts} />
        <ul class="counts">
          {(['completed', 'declined', 'failed', 'pending'] as const).map((status) => (
            <li key={status}>
              <Link class="figure" to={context.pagePath(`/results?campaign_id=${data.campaign_id}&status=${status}`)}>
                <span class="soft small">
                  <span class={`swatch ${status}`} />
                  <span class="capital">{CANDIDATE_STATUS_NAMES[status]}</span>
                </span>
                <strong>{data.counts[status].toLocaleString(displayLocale())}</strong>
              </Link>
            </li>
          ))}
          <li>
            <Link class="figure" to={context.pagePath(`/results?campaign_id=${data.campaign_id}`)}>
              <span class="soft small capital">{t('all candidates')}</span>
              <strong>{data.counts.candidates.toLocaleString(displayLocale())}</strong>
            </Link>
          </li>
        </ul>
      </section>
      <DescriptionList>
        <DescriptionItem name={t('Job')}>
          <Link to={context.pagePath(`/mandates/${data.mandate_id}`)}>
            {mandate.data ? `${mandate.data.title}, ${mandate.data.company_name}` : data.mandate_id}
          </Link>
        </DescriptionItem>
        <DescriptionItem name={t('Started')}>
          <Time at={data.starts_at} />
        </DescriptionItem>
        {data.completed_at && (
          <DescriptionItem name={t('Completed')}>
            <Time at={data.completed_at} />
          </DescriptionItem>
        )}
        {context.mode === 'live' && (
          <DescriptionItem name={t('Cost of messages')}>
            <CampaignSpending path={path} campaign={data} canChange={recruiter} onChanged={() => void reload()} />
          </DescriptionItem>
        )}
        {data.test_clock_id && (
          <DescriptionItem name={t('Test clock')}>
            <TestClockTime id={data.test_clock_id} pollMs={inProgress ? 2 * POLL_INTERVAL_MS : undefined} />
          </DescriptionItem>
        )}
        <DescriptionItem name={t('Source')}>
          {createdHere ? t('Console') : t('API: candidates can only be added through the API')}
        </DescriptionItem>
        <DescriptionItem name="ID">
          <code>{data.campaign_id}</code>
        </DescriptionItem>
        <DescriptionItem name={t('More')}>
          <span class="row">
            <Link to={context.pagePath(`/analytics?campaign_id=${data.campaign_id}`)}>{t('Analytics')}</Link>
            {context.mode === 'test' && (
              <Link to={context.pagePath(`/phone?campaign_id=${data.campaign_id}`)}>{t('Simulator phones')}</Link>
            )}
            <a
              href={`/console/api${context.apiPath(`/export/results.csv?campaign_id=${data.campaign_id}`)}`}
              download={`results-${data.campaign_id}.csv`}
            >
              {t('Export CSV')}
            </a>
          </span>
        </DescriptionItem>
      </DescriptionList>
      <div class="row between">
        <h2>{t('Candidates')}</h2>
        <Link to={context.pagePath(`/results?campaign_id=${data.campaign_id}`)}>
          {t('Search and filter candidates')}
        </Link>
      </div>
      {candidates.error && <Notice kind="bad">{candidates.error.message}</Notice>}
      <Table
        caption={t('Candidates, most recently updated first')}
        rows={candidates.items}
        keyOf={({ result_id }) => result_id}
        loadMore={candidates.more}
        empty={
          <>
            <p class="soft">{t('No candidates yet.')}</p>
            {createdHere && recruiter && (
              <Link to={context.pagePath(`/campaigns/new?campaign_id=${data.campaign_id}`)}>{t('Add candidates')}</Link>
            )}
          </>
        }
        columns={[
          {
            name: t('Name'),
            cell: ({ candidate: { candidate_id, name } }) => (
              <Link class="short-name" to={context.pagePath(`/candidates/${candidate_id}`)}>
                {name}
              </Link>
            ),
          },
          {
            name: t('Your ID'),
            cell: ({ candidate }) => <span class="short-id">{candidate.external_candidate_id}</span>,
          },
          { name: t('Status'), cell: (person) => <Outcome result={person} /> },
          {
            name: t('Verdict'),
            cell: ({ result_id, status, output, knocked_out_by }) =>
              status === 'completed' ? (
                <>
                  <Link to={context.pagePath(`/results/${result_id}`)}>
                    <Qualified status={status} qualified={output.qualified} />
                  </Link>{' '}
                  <NotInterested interest={output.interest} />
                  <VerdictSummary verdict={{ ...output, knocked_out_by }} />
                </>
              ) : (
                '–'
              ),
          },
          {
            name: t('Interest'),
            aside: true,
            class: 'short-text',
            cell: ({ output }) => interestText(output.interest),
          },
        ]}
      />
      {archiving && (
        <Confirm
          title={t('Archive this campaign?')}
          action={t('Archive campaign')}
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>
            {richText(
              'No more messages are sent, and {pending} pending candidates become <strong>failed</strong>. Nothing is deleted, but this cannot be undone.',
              {
                pending: data.counts.pending.toLocaleString(displayLocale()),
                strong: (words) => <strong>{words}</strong>,
              },
            )}
          </p>
        </Confirm>
      )}
    </>
  )

  async function changeStatus(action: '/pause' | '/resume') {
    const response = await api<Campaign>(path + action, { method: 'POST' })
    setSubmitError(response.ok ? undefined : response.error)
    if (response.ok) set(response.data)
  }
}

/** The time of the test clock that the campaign runs on. All times of the campaign are times of this clock. */
function TestClockTime({ id, pollMs }: { id: string; pollMs: number | undefined }) {
  const context = useOrgContext()
  const { data } = useData<TestClock>(context.apiPath(`/test-clocks/${id}`), { pollMs })
  return (
    <>
      {data && (
        <>
          {data.name && `${data.name}: `}
          {richText(
            data.status === 'ready'
              ? '{time}, ready.'
              : data.status === 'advancing'
                ? '{time}, advancing.'
                : '{time}, archived.',
            { time: <Time at={data.now} /> },
          )}{' '}
        </>
      )}
      <code>{id}</code>
    </>
  )
}
