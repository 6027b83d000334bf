import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { GrantedCredits } from '../../api-types/console.ts'
import type { CampaignEnrolment, Mandate, SkillMatches, Workflow } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, type ApiResponse, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../campaigns/campaigns.css'
import {
  CAMPAIGN_NAME,
  candidatesWith,
  mandateFor,
  SKILL_PHRASES,
  TEST_CANDIDATES,
  testNumber,
  WORKFLOW,
} from './first-campaign-setup.ts'
import { FirstResults } from './first-results.tsx'
import '../shared/forms.css'
import { lookUpSkills } from '../mandates/skill-names.ts'
import { languageName, PERSONAS } from '../shared/labels.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { channelSequence } from '../workflows/channel-sequence.ts'
import './first-campaign.css'

/** A guided tour: the three calls of every integration, step by step, with their results. */
export default function FirstCampaign() {
  const context = useOrgContext()
  const { query } = useAddress()
  const [workflowId, mandateId, campaignId] = ['workflow', 'mandate', 'campaign'].map((name) => query.get(name))
  const workflow = useData<Workflow>(workflowId ? context.apiPath(`/workflows/${workflowId}`) : undefined)
  const [preparing, setPreparing] = useState(true)
  const mandate = useData<Mandate>(mandateId ? context.apiPath(`/mandates/${mandateId}`) : undefined, {
    pollMs: preparing ? MANDATE_POLL_MS : undefined,
  })
  useEffect(() => setPreparing(!mandate.data || mandate.data.status === 'preparing'), [mandate.data?.status])
  const [userName, setUserName] = useState(
    context.session.kind === 'operator' ? 'Sam' : context.session.email.split('@')[0]!,
  )
  const [error, setError] = useState<ApiError>()
  const [granted, setGranted] = useState<number>()
  const [busy, setBusy] = useState(false)
  const isMandateReady = mandate.data?.status === 'ready'
  // Scroll only to a campaign that was started on this page, not to one that was in the URL when the page was opened.
  const initialCampaignId = useRef(campaignId)
  useEffect(() => {
    if (initialCampaignId.current === campaignId) return
    document.querySelector('.step:last-child')?.scrollIntoView({ behavior: 'smooth' })
  }, [campaignId])

  if (context.mode === 'live') {
    return (
      <div class="card empty">
        <h1>{t('The first campaign runs in test mode')}</h1>
        <p class="soft">{t('In test mode, no real people are contacted.')}</p>
        <Link class="button primary" to={`/${context.org.org_id}/test/first-campaign`}>
          {t('Switch to test mode')}
        </Link>
      </div>
    )
  }
  return (
    <>
      <h1>{t('Your first campaign')}</h1>
      <p class="lead">
        {richText(
          'You create three things here: a <strong>workflow</strong> (how candidates are contacted), a <strong>job</strong> (its requirements and questions) and a <strong>campaign</strong> (the candidates to contact). Eleven test candidates answer automatically, and you are the twelfth candidate.',
          { strong: (words) => <strong>{words}</strong> },
        )}
      </p>
      {!context.can('recruiter') && <Notice kind="wait">{t('You need the recruiter role to run a campaign.')}</Notice>}
      <ol class="steps">
        <Step
          number={1}
          title={t('Workflow: how candidates are contacted')}
          done={workflowId !== null}
          call="POST /workflows"
          body={WORKFLOW}
        >
          {workflow.data ? (
            <p>
              {richText('{workflow} uses {channels}, in {languages}, with one follow-up after a day.', {
                workflow: (
                  <Link to={context.pagePath(`/workflows/${workflow.data.workflow_id}`)}>{workflow.data.name}</Link>
                ),
                channels: channelSequence(workflow.data.channels),
                languages: workflow.data.languages
                  .map(languageName)
                  .reduce((first, second) => t('{first} and {second}', { first, second })),
              })}
            </p>
          ) : (
            <>
              <p>
                {t(
                  'A workflow sets the channels and their order, the languages, and the follow-ups for candidates who do not answer. You can use one workflow for many jobs.',
                )}
              </p>
              {stepButton(t('Create workflow'), createWorkflow)}
            </>
          )}
        </Step>
        <Step
          number={2}
          title={t('Job: its requirements and questions')}
          done={isMandateReady}
          closed={!workflowId}
          call="POST /mandates"
          body={mandateId ? undefined : { ...mandateFor(workflowId ?? 'WF_…', []), skills: SKILL_PHRASES }}
        >
          {mandateId ? (
            <p>
              <Link to={context.pagePath(`/mandates/${mandateId}`)}>{mandate.data?.title ?? t('The job')}</Link>{' '}
              {mandate.data && <Badge state={mandate.data.status} />}{' '}
              {isMandateReady &&
                t(
                  'Candidates are asked two of your own questions, 4 to 8 about each of two skills, and one about their interest.',
                )}
              {mandate.data?.status === 'preparing' && t('Writing questions…')}
              {mandate.data?.status === 'failed' && mandate.data.failure}
            </p>
          ) : (
            <>
              <p>
                {t(
                  'An electrician in Pune. You ask whether the candidate has a licence (“no” disqualifies) and when they can start. Two skills are verified. Each candidate gets other questions about them: 4 to 8 per skill, until the verdict is certain enough.',
                )}
              </p>
              {stepButton(t('Create job'), createMandate)}
            </>
          )}
        </Step>
        <Step
          number={3}
          title={t('Campaign: the candidates')}
          done={campaignId !== null}
          closed={!isMandateReady}
          call="POST /campaigns"
          body={
            campaignId
              ? undefined
              : {
                  mandate_id: mandateId ?? 'JM_…',
                  name: CAMPAIGN_NAME,
                  candidates: candidatesWith(userName).slice(0, 2),
                }
          }
        >
          {campaignId ? (
            <p>
              {richText(
                '<link>The campaign</link> has twelve candidates. Each candidate costs one credit; the credit is refunded if a candidate cannot be reached.',
                { link: (words) => <Link to={context.pagePath(`/campaigns/${campaignId}`)}>{words}</Link> },
              )}
            </p>
          ) : (
            <>
              <p>
                {t(
                  'Eleven phone numbers are reserved for tests. Each number answers automatically in a different way, so that you see every possible outcome:',
                )}
              </p>
              <ul class="persona-list small">
                {TEST_CANDIDATES.map(({ name, part }, index) => (
                  <li key={part}>
                    <strong>{name}</strong> <span class="soft">{testNumber(index)}</span>
                    <br />
                    {PERSONAS[part]!.description}
                  </li>
                ))}
              </ul>
              <label class="your-name">
                {t('Your name, as the twelfth candidate')}
                <input type="text" value={userName} onInput={(event) => setUserName(event.currentTarget.value)} />
              </label>
              {stepButton(t('Start campaign'), createCampaign)}
            </>
          )}
        </Step>
        <Step
          number={4}
          title={t('Results')}
          done={false}
          closed={!campaignId}
          call={`GET /results?campaign_id=${campaignId ?? 'CP_…'}`}
        >
          {campaignId ? (
            <FirstResults campaignId={campaignId} />
          ) : (
            <p class="soft">{t('Results arrive here, and at your webhook endpoint, while the conversations run.')}</p>
          )}
        </Step>
      </ol>
    </>
  )

  /** The button of the current step, with the result of the last click below it. */
  function stepButton(label: string, act: () => Promise<void>) {
    return (
      <>
        <p>
          <SubmitButton
            type="button"
            class="primary"
            busy={busy}
            ready={context.can('recruiter')}
            onClick={() => void act()}
          >
            {label}
          </SubmitButton>
        </p>
        {error ? (
          <CallError error={error} onGrant={grant} />
        ) : (
          granted !== undefined && (
            <Notice kind="good">
              {t('Granted {count} test credits; the balance is {balance}. Continue with “{label}”.', {
                count: TEST_CREDIT_GRANT,
                balance: granted.toLocaleString(displayLocale()),
                label,
              })}
            </Notice>
          )
        )}
      </>
    )
  }

  async function grant() {
    const path = `/operator/orgs/${context.org.org_id}/credits`
    const grantedCredits = await runCall(() =>
      api<GrantedCredits>(path, { body: { mode: 'test', amount: TEST_CREDIT_GRANT } }),
    )
    setGranted(grantedCredits?.balance)
  }

  /** Runs one call at a time, and shows its error. */
  async function runCall<T>(call: () => Promise<ApiResponse<T>>): Promise<T | undefined> {
    setBusy(true)
    const response = await call()
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    return response.ok ? response.data : undefined
  }

  async function createWorkflow() {
    const createdWorkflow = await runCall(() => api<Workflow>(context.apiPath('/workflows'), { body: WORKFLOW }))
    if (createdWorkflow) setQuery({ workflow: createdWorkflow.workflow_id })
  }

  async function createMandate() {
    const createdMandate = await runCall(async () => {
      const matchedSkills = await api<SkillMatches>(context.apiPath('/skills/match'), {
        body: { phrases: SKILL_PHRASES, limit: 1 },
      })
      if (!matchedSkills.ok) return matchedSkills
      const skillIds = matchedSkills.data.matches.flatMap(({ candidates }) =>
        candidates.slice(0, 1).map((each) => each.skill_id),
      )
      const skills = await lookUpSkills(context, [...new Set(skillIds)])
      return api<Mandate>(context.apiPath('/mandates'), { body: mandateFor(workflowId!, skills) })
    })
    if (createdMandate) setQuery({ mandate: createdMandate.mandate_id })
  }

  async function createCampaign() {
    const body = { mandate_id: mandateId, name: CAMPAIGN_NAME, candidates: candidatesWith(userName) }
    const enrolment = await runCall(() =>
      api<CampaignEnrolment>(context.apiPath('/campaigns'), { body, idempotencyKey: crypto.randomUUID() }),
    )
    if (enrolment) setQuery({ campaign: enrolment.campaign.campaign_id })
  }
}

interface StepProps {
  number: number
  title: string
  done: boolean
  /** True until the previous step is complete. */
  closed?: boolean
  call: string
  body?: object | undefined
  children: ComponentChildren
}

function Step({ number, title, done, closed = false, call, body, children }: StepProps) {
  return (
    <li class={`card step ${done ? 'done' : ''} ${closed ? 'closed' : ''}`}>
      <span class="step-number" aria-hidden="true">
        {done ? <CheckMark /> : number}
      </span>
      <div class="stack-tight step-body">
        <h2>{title}</h2>
        {closed ? <p class="soft small">{t('Complete the previous step first.')}</p> : children}
        {!closed && (
          <details class="small call">
            <summary>
              <code>{call}</code>
            </summary>
            {body && <pre class="json">{JSON.stringify(body, null, 2)}</pre>}
            <p class="soft">
              {richText('The same call works in the partner API below {code}, signed with a key.', {
                code: <code>/api/v1/partner</code>,
              })}
            </p>
          </details>
        )}
      </div>
    </li>
  )
}

function CheckMark() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2.5 8.5l3.5 4 7.5-9" fill="none" stroke="currentColor" stroke-width="2.2" />
    </svg>
  )
}

const TEST_CREDIT_GRANT = 100
const MANDATE_POLL_MS = 500

/** The error of a call, scrolled into view. If credits are missing, an operator can grant some here. */
function CallError({ error, onGrant }: { error: ApiError; onGrant: () => Promise<void> }) {
  const context = useOrgContext()
  const errorBox = useRef<HTMLDivElement>(null)
  useEffect(() => errorBox.current?.scrollIntoView({ block: 'nearest' }), [error])
  const creditsMissing = error.code === 'INSUFFICIENT_CREDITS'
  return (
    <div class="call-error" ref={errorBox}>
      <Notice kind="bad">
        <p>{error.message}</p>
        {creditsMissing && context.session.kind !== 'operator' && <p>{t('Ask the operator for test credits.')}</p>}
        {creditsMissing && context.session.kind === 'operator' && (
          <button type="button" onClick={() => void onGrant()}>
            {t('Grant {count} test credits', { count: TEST_CREDIT_GRANT })}
          </button>
        )}
      </Notice>
    </div>
  )
}
