import type {
  ConsoleRole,
  ListedCampaign,
  ListedCampaignCountedList,
  OrganisationSummary,
  RecruiterResultCountedList,
} from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ContactLinks } from '../results/call.tsx'
import { OPEN_ASSIGNMENTS_QUERY } from '../results/open-assignments.ts'
import { describeVerifiedSkills } from '../results/verdict-texts.ts'
import { useData } from '../shell/loading.ts'
import '../campaigns/campaigns.css'
import { Progress, ProgressLegend } from '../campaigns/progress.tsx'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 15_000

type Figure = [name: string, value: number | undefined, path: string]

/** The start page: current numbers and next steps. */
export default function Start() {
  const context = useOrgContext()
  const { data, error } = useData<OrganisationSummary>(context.apiPath('/summary'), { pollMs: POLL_INTERVAL_MS })
  if (error) return <Notice kind="bad">{error.message}</Notice>
  const figures: Figure[] = [
    [t('Jobs ready'), data?.mandates.ready, '/mandates'],
    [t('Campaigns running'), data?.campaigns.running, '/campaigns'],
    [t('Candidates in progress'), data?.candidates.pending, '/results?status=pending'],
    [t('Candidates completed'), data?.candidates.completed, '/results?status=completed'],
    ...(context.can('recruiter') && context.org.role !== 'operator'
      ? [[t('Assigned to you'), data?.assigned_to_me, `/results?${OPEN_ASSIGNMENTS_QUERY}`] satisfies Figure]
      : []),
    [t('Credits'), data?.credits, '/campaigns'],
  ]
  return (
    <>
      <div class="page-head">
        <h1>{context.org.name}</h1>
        {context.can('recruiter') && (
          <span class="row">
            {context.mode === 'test' && (
              <Link to={context.pagePath('/first-campaign')}>{t('Run a first campaign')}</Link>
            )}
            <Link class="button primary" to={context.pagePath('/campaigns/new')}>
              {t('New campaign')}
            </Link>
          </span>
        )}
      </div>
      {data && data.mandates.failed > 0 && (
        <Notice kind="bad">
          {t(data.mandates.failed === 1 ? '1 job could not be prepared.' : '{count} jobs could not be prepared.', {
            count: data.mandates.failed,
          })}{' '}
          <Link to={context.pagePath('/mandates?status=failed')}>{t('See why')}</Link>
        </Notice>
      )}
      {data && data.webhooks.failing > 0 && (
        <Notice kind="bad">
          {t(
            data.webhooks.failing === 1
              ? '1 webhook endpoint is failing; events are queued.'
              : '{count} webhook endpoints are failing; events are queued.',
            { count: data.webhooks.failing },
          )}{' '}
          <Link to={context.pagePath('/webhooks')}>{t('View delivery attempts')}</Link>
        </Notice>
      )}
      {data && data.expiring_keys > 0 && context.can('owner') && (
        <Notice kind="wait">
          {t(data.expiring_keys === 1 ? '1 key expires within 30 days.' : '{count} keys expire within 30 days.', {
            count: data.expiring_keys,
          })}{' '}
          <Link to={context.pagePath('/keys')}>{t('View keys')}</Link>
        </Notice>
      )}
      <ul class="figure-strip card">
        {figures.map(([name, value, to]) => (
          <li key={name}>
            <Link class="figure" to={context.pagePath(to)}>
              <span class="soft small">{name}</span>
              <strong>
                {value === undefined ? <span class="waiting">00</span> : value.toLocaleString(displayLocale())}
              </strong>
            </Link>
          </li>
        ))}
      </ul>
      {data && (data.candidates.total === 0 ? <FirstSteps /> : <CurrentWork />)}
    </>
  )
}

/** The candidates to call, and the progress of the latest campaigns. */
function CurrentWork() {
  const context = useOrgContext()
  const candidatesToCall = useData<RecruiterResultCountedList>(
    context.apiPath('/recruiter-results?verdict=to_call&limit=5'),
    {
      pollMs: 2 * POLL_INTERVAL_MS,
    },
  )
  const campaigns = useData<ListedCampaignCountedList>(context.apiPath('/lists/campaigns?limit=5'), {
    pollMs: POLL_INTERVAL_MS,
  })
  return (
    <>
      <section class="stack-tight" aria-label={t('To call')}>
        <div class="row between">
          <h2>{t('To call')}</h2>
          <Link to={context.pagePath('/results?verdict=to_call')}>{t('View all candidates to call')}</Link>
        </div>
        <Table
          caption={t('Latest qualified candidates who have not turned the job down')}
          rows={candidatesToCall.data?.items}
          keyOf={({ result_id }) => result_id}
          empty={
            <p class="soft">
              {t(
                'No candidates to call yet. Qualified candidates who have not turned the job down appear here, with their phone number.',
              )}
            </p>
          }
          columns={[
            {
              name: t('Candidate'),
              cell: ({ result_id, candidate }) => (
                <Link to={context.pagePath(`/results/${result_id}`)}>{candidate.name}</Link>
              ),
            },
            {
              name: t('Contact'),
              cell: ({ candidate: { phone, email } }) => <ContactLinks phone={phone} email={email} />,
            },
            {
              name: t('Campaign'),
              cell: ({ campaign_id, campaign_name }) => (
                <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{campaign_name}</Link>
              ),
            },
            {
              name: t('Evidence'),
              aside: true,
              cell: ({ output: { skills = [] } }) => (skills.length > 0 ? describeVerifiedSkills(skills) : '–'),
            },
            { name: t('Completed'), cell: ({ completed_at }) => <Time at={completed_at} /> },
          ]}
        />
      </section>
      {/* Shown after the list above has loaded, so that it does not move. */}
      {(candidatesToCall.data || candidatesToCall.error) && <LatestCampaigns campaigns={campaigns.data?.items} />}
    </>
  )
}

function LatestCampaigns({ campaigns }: { campaigns: ListedCampaign[] | undefined }) {
  const context = useOrgContext()
  return (
    <section class="stack-tight" aria-label={t('Latest campaigns')}>
      <div class="row between">
        <h2>{t('Latest campaigns')}</h2>
        <Link to={context.pagePath('/campaigns')}>{t('View all campaigns')}</Link>
      </div>
      <Table
        caption={t('The latest campaigns')}
        rows={campaigns}
        keyOf={({ campaign_id }) => campaign_id}
        empty={<p class="soft">{t('No campaigns yet.')}</p>}
        columns={[
          {
            name: t('Campaign'),
            cell: ({ campaign_id, display_name }) => (
              <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{display_name}</Link>
            ),
          },
          { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
          {
            name: t('Progress'),
            cell: ({ counts }) => (
              <span class="progress-cell">
                <Progress counts={counts} />
                <span class="soft small">
                  {t('{done} of {total}', {
                    done: (counts.candidates - counts.pending).toLocaleString(displayLocale()),
                    total: counts.candidates.toLocaleString(displayLocale()),
                  })}
                </span>
              </span>
            ),
          },
          { name: t('Starts'), cell: ({ starts_at }) => <Time at={starts_at} /> },
        ]}
      />
      {campaigns && campaigns.length > 0 && <ProgressLegend />}
    </section>
  )
}

function FirstSteps() {
  const context = useOrgContext()
  const steps: [ConsoleRole, string, string, string, string][] = [
    [
      'viewer',
      t('See a campaign work'),
      t('Eleven test candidates answer automatically, from consent to result. This takes two minutes in test mode.'),
      `/${context.org.org_id}/test/first-campaign`,
      t('Run a first campaign'),
    ],
    [
      'recruiter',
      t('Set up your own campaign'),
      t('Choose channels, languages and follow-ups, then describe a job.'),
      context.pagePath('/workflows/new'),
      t('Create workflow'),
    ],
    [
      'owner',
      t('Connect your system'),
      t('Create a key, send a job, and receive results as webhooks.'),
      context.pagePath('/keys'),
      t('Create key'),
    ],
  ]
  return (
    <section class="stack-tight" aria-label={t('First steps')}>
      <h2>{t('Get started')}</h2>
      <ol class="figures first-steps">
        {steps
          .filter(([role]) => context.can(role))
          .map(([, title, text, to, action]) => (
            <li key={title} class="card stack-tight">
              <h3>{title}</h3>
              <p class="soft">{text}</p>
              <Link class="button" to={to}>
                {action}
              </Link>
            </li>
          ))}
      </ol>
    </section>
  )
}
