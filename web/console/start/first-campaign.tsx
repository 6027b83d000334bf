import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Answer, api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../campaigns/campaigns.css'
import { candidatesWith, mandateFor, PEOPLE, SKILL_PHRASES, testNumber, WORKFLOW } from './first-campaign-setup.ts'
import { FirstResults } from './first-results.tsx'
import '../shared/forms.css'
import { lookUp } from '../mandates/skill-names.ts'
import { CHANNELS, languageName, PARTS } from '../shared/labels.ts'
import type { Campaign, Mandate, Workflow } from '../shared/records.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import './first-campaign.css'

/** The product in two minutes: the three calls of every integration, one after the other, with what comes of them. */
export default function FirstCampaign() {
  const place = usePlace()
  const { query } = useAddress()
  const [workflowId, mandateId, campaignId] = ['workflow', 'mandate', 'campaign'].map((name) => query.get(name))
  const workflow = useData<Workflow>(workflowId ? place.at(`/workflows/${workflowId}`) : undefined)
  const [preparing, setPreparing] = useState(true)
  const mandate = useData<Mandate>(mandateId ? place.at(`/mandates/${mandateId}`) : undefined, {
    every: preparing ? 500 : undefined,
  })
  useEffect(() => setPreparing(!mandate.data || mandate.data.status === 'preparing'), [mandate.data?.status])
  const [reader, setReader] = useState(place.session.email?.split('@')[0] ?? 'Sam')
  const [refusal, setRefusal] = useState<Refusal>()
  const [granted, setGranted] = useState<number>()
  const [busy, setBusy] = useState(false)
  const ready = mandate.data?.status === 'ready'
  const before = useRef(campaignId)
  useEffect(() => {
    if (before.current === campaignId) return
    document.querySelector('.step:last-child')?.scrollIntoView({ behavior: 'smooth' })
  }, [campaignId])

  if (place.mode === 'live') {
    return (
      <div class="card empty">
        <h1>The first campaign runs in TEST</h1>
        <p class="soft">There nobody real is contacted.</p>
        <Link class="button primary" to={`/${place.org.org_id}/test/first-campaign`}>
          Go to TEST
        </Link>
      </div>
    )
  }
  return (
    <>
      <h1>Your first campaign</h1>
      <p class="lead">
        Three calls make a campaign: a <strong>workflow</strong> (how people are reached), a <strong>mandate</strong> (a
        job and its questions) and the <strong>campaign</strong> itself (whom to ask). You make all three here, through
        the same API your system will use. Ten test candidates play their parts, and you are the eleventh.
      </p>
      {!place.may('recruiter') && <Notice kind="wait">To run it you need the role recruiter.</Notice>}
      <ol class="steps">
        <Step
          number={1}
          title="A workflow: how people are reached"
          done={workflowId !== null}
          call="POST /workflows"
          body={WORKFLOW}
        >
          {workflow.data ? (
            <p>
              <Link to={place.go(`/workflows/${workflow.data.workflow_id}`)}>{workflow.data.name}</Link> tries{' '}
              {workflow.data.channels.map((each) => CHANNELS[each]).join(', then ')}, speaks{' '}
              {workflow.data.languages.map(languageName).join(' and ')}, and asks once more after a day.
            </p>
          ) : (
            <>
              <p>
                It says which channels to try and in which order, in which languages, and how often to ask again those
                who do not answer. One workflow can serve many jobs.
              </p>
              {go('Make the workflow', makeWorkflow)}
            </>
          )}
        </Step>
        <Step
          number={2}
          title="A mandate: the job, and what to ask"
          done={ready}
          closed={!workflowId}
          call="POST /mandates"
          body={mandateId ? undefined : { ...mandateFor(workflowId ?? 'WF_…', []), skills: SKILL_PHRASES }}
        >
          {mandateId ? (
            <p>
              <Link to={place.go(`/mandates/${mandateId}`)}>{mandate.data?.title ?? 'The job'}</Link>{' '}
              {mandate.data && <Badge state={mandate.data.status} />}{' '}
              {ready &&
                `Two questions of yours, ${mandate.data!.questions?.skills.flatMap(({ items }) => items).length ?? 0} about skills, one about interest.`}
              {mandate.data?.status === 'preparing' && 'Questions are being written…'}
              {mandate.data?.status === 'failed' && mandate.data.failure}
            </p>
          ) : (
            <>
              <p>
                An electrician in Pune. You ask for a licence (a “no” knocks out) and a start date; two skills are
                verified with three questions each, which are written and translated at once, before anybody is asked.
              </p>
              {go('Describe the job', makeMandate)}
            </>
          )}
        </Step>
        <Step
          number={3}
          title="A campaign: whom to contact"
          done={campaignId !== null}
          closed={!ready}
          call="POST /campaigns"
          body={
            campaignId
              ? undefined
              : {
                  mandate_id: mandateId ?? 'JM_…',
                  name: 'First campaign',
                  candidates: candidatesWith(reader).slice(0, 2),
                }
          }
        >
          {campaignId ? (
            <p>
              <Link to={place.go(`/campaigns/${campaignId}`)}>The campaign</Link> has eleven candidates. Each costs one
              credit; who cannot be reached is refunded.
            </p>
          ) : (
            <>
              <p>
                Ten numbers are set aside for tests. Each plays a part by itself, so that you see every way a
                conversation can go:
              </p>
              <ul class="cast small">
                {PEOPLE.map(({ name, part }, index) => (
                  <li key={part}>
                    <strong>{name}</strong> <span class="soft">{testNumber(index)}</span>
                    <br />
                    {PARTS[part]!.about}
                  </li>
                ))}
              </ul>
              <label class="your-name">
                And you. What may they call you?
                <input type="text" value={reader} onInput={(event) => setReader(event.currentTarget.value)} />
              </label>
              {go('Contact all eleven', makeCampaign)}
            </>
          )}
        </Step>
        <Step
          number={4}
          title="Results: what comes back"
          done={false}
          closed={!campaignId}
          call={`GET /results?campaign_id=${campaignId ?? 'CP_…'}`}
        >
          {campaignId ? (
            <FirstResults campaignId={campaignId} />
          ) : (
            <p class="soft">Verdicts arrive while the conversations go on, here and at your webhook.</p>
          )}
        </Step>
      </ol>
    </>
  )

  /** The button of the step whose turn it is, and right below it what came of pressing it. */
  function go(label: string, act: () => Promise<void>) {
    return (
      <>
        <p>
          <Action type="button" class="primary" busy={busy} ready={place.may('recruiter')} onClick={() => void act()}>
            {label}
          </Action>
        </p>
        {refusal ? (
          <Refused refusal={refusal} onGrant={grant} />
        ) : (
          granted !== undefined && (
            <Notice kind="good">
              {GIFT} test credits were granted; {granted.toLocaleString()} are there now. Go on with “{label}”.
            </Notice>
          )
        )}
      </>
    )
  }

  async function grant() {
    const path = `/operator/orgs/${place.org.org_id}/credits`
    const made = await during(() => api<{ balance: number }>(path, { body: { mode: 'test', amount: GIFT } }))
    setGranted(made?.balance)
  }

  /** One call at a time; what is refused is shown. */
  async function during<T>(call: () => Promise<Answer<T>>): Promise<T | undefined> {
    setBusy(true)
    const answer = await call()
    setBusy(false)
    setRefusal(answer.ok ? undefined : answer.refusal)
    return answer.ok ? answer.data : undefined
  }

  async function makeWorkflow() {
    const made = await during(() => api<Workflow>(place.at('/workflows'), { body: WORKFLOW }))
    if (made) setQuery({ workflow: made.workflow_id })
  }

  async function makeMandate() {
    const made = await during(async () => {
      const matched = await api<{ matches: { candidates: { skill_id: string }[] }[] }>(place.at('/skills/match'), {
        body: { phrases: SKILL_PHRASES, limit: 1 },
      })
      if (!matched.ok) return matched
      const ids = matched.data.matches.flatMap(({ candidates }) => candidates.slice(0, 1).map((each) => each.skill_id))
      const skills = await lookUp(place, [...new Set(ids)])
      return api<Mandate>(place.at('/mandates'), { body: mandateFor(workflowId!, skills) })
    })
    if (made) setQuery({ mandate: made.mandate_id })
  }

  async function makeCampaign() {
    const body = { mandate_id: mandateId, name: 'First campaign', candidates: candidatesWith(reader) }
    const made = await during(() =>
      api<{ campaign: Campaign }>(place.at('/campaigns'), { body, idempotencyKey: crypto.randomUUID() }),
    )
    if (made) setQuery({ campaign: made.campaign.campaign_id })
  }
}

interface StepProps {
  number: number
  title: string
  done: boolean
  /** Its turn has not come yet. */
  closed?: boolean
  call: string
  body?: object | undefined
  children: ComponentChildren
}

function Step({ number, title, done, closed = false, call, body, children }: StepProps) {
  return (
    <li class={`card step ${done ? 'done' : ''} ${closed ? 'closed' : ''}`}>
      <span class="step-number" aria-hidden="true">
        {done ? <Tick /> : number}
      </span>
      <div class="stack-tight step-body">
        <h2>{title}</h2>
        {closed ? <p class="soft small">After the step before.</p> : children}
        {!closed && (
          <details class="small call">
            <summary>
              <code>{call}</code>
            </summary>
            {body && <pre class="json">{JSON.stringify(body, null, 2)}</pre>}
            <p class="soft">
              The partner API takes the same call, signed with a key, below <code>/api/v1/partner</code>.
            </p>
          </details>
        )}
      </div>
    </li>
  )
}

function Tick() {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2.5 8.5l3.5 4 7.5-9" fill="none" stroke="currentColor" stroke-width="2.2" />
    </svg>
  )
}

const GIFT = 100

/** Stands where it is looked for, and comes into view. Where credits are missing, an operator can grant some on the spot. */
function Refused({ refusal, onGrant }: { refusal: Refusal; onGrant: () => Promise<void> }) {
  const place = usePlace()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [refusal])
  const short = refusal.code === 'INSUFFICIENT_CREDITS'
  return (
    <div class="refused" ref={box}>
      <Notice kind="bad">
        <p>{refusal.message}</p>
        {short && place.session.kind !== 'operator' && <p>Ask the operator for test credits.</p>}
        {short && place.session.kind === 'operator' && (
          <button type="button" onClick={() => void onGrant()}>
            Grant {GIFT} test credits
          </button>
        )}
      </Notice>
    </div>
  )
}
