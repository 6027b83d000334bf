import { useMemo, useState } from 'preact/hooks'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { indianTime } from '../../ui/time.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import type { Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { chunksOf, patiently, send, type Target, useRosterCheck } from './enrolling.ts'
import './campaigns.css'
import '../shared/forms.css'
import './roster.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { tellNext } from '../shared/flash-message.ts'
import type { Campaign, Mandate, Page } from '../shared/records.ts'
import { Link, navigate, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { candidateOf, EMPTY, type Roster, repeatsIn } from './roster.ts'
import { RosterInput } from './roster-input.tsx'
import { RosterPreview, repeatedRows } from './roster-preview.tsx'

/** A new campaign, or more candidates for one that is there (?campaign_id=). */
export default function CampaignNew() {
  const place = usePlace()
  const { query } = useAddress()
  const campaignId = query.get('campaign_id') ?? undefined
  const campaign = useData<Campaign>(campaignId && place.at(`/campaigns/${campaignId}`))
  const mandates = useData<Page<Mandate>>(campaignId ? undefined : place.at('/mandates?status=ready&limit=50'))
  const refusal = campaign.refusal ?? mandates.refusal
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (campaignId ? !campaign.data : !mandates.data) return <h1 class="waiting">A campaign to be made</h1>
  if (campaign.data?.created_via === 'api') return <ReadOnly what="campaign" />
  if (mandates.data?.items.length === 0) {
    return (
      <div class="card empty">
        <h1>A campaign needs a mandate that is ready</h1>
        <p class="soft">Describe the job first; its questions are written in a moment.</p>
        <Link class="button primary" to={place.go('/mandates/new')}>
          Describe a job
        </Link>
      </div>
    )
  }
  return <Form campaign={campaign.data} mandates={mandates.data?.items ?? []} first={query.get('mandate_id')} />
}

interface FormProps {
  campaign: Campaign | undefined
  mandates: Mandate[]
  first: string | null
}

interface Sending {
  done: number
  of: number
  refusal?: Refusal
}

function Form({ campaign, mandates, first }: FormProps) {
  const place = usePlace()
  const [mandateId, setMandateId] = useState(first ?? mandates[0]?.mandate_id ?? '')
  const [name, setName] = useState('')
  const [later, setLater] = useState('')
  const [roster, setRoster] = useState<Roster>()
  const [sending, setSending] = useState<Sending>()
  const [asking, setAsking] = useState(false)
  // What was sent already, and the key of the call under way: a retry never enrols anybody twice.
  const [sent, setSent] = useState<{ campaignId: string | undefined; chunks: number; key: string }>({
    campaignId: campaign?.campaign_id,
    chunks: 0,
    key: crypto.randomUUID(),
  })
  const credits = useData<{ balance: number }>(place.at('/credits'))
  const candidates = useMemo(() => (roster?.rows ?? []).map((row) => candidateOf(roster!, row)), [roster])
  const target: Target = {
    at: place.at,
    mode: place.mode,
    campaignId: campaign?.campaign_id,
    about: {
      mandate_id: mandateId,
      ...(name.trim() ? { name: name.trim() } : {}),
      ...(later ? { starts_at: new Date(later).toISOString() } : {}),
    },
  }
  const check = useRosterCheck(target, candidates)
  const repeats = useMemo(
    () => (roster ? repeatsIn(roster, candidates, check.faults) : new Map<number, string>()),
    [roster, candidates, check.faults],
  )
  /** Each person once, without rows that are wrong. */
  const people = candidates.filter((_, row) => !check.faults.has(row) && !repeats.has(row))
  const touched = name !== '' || later !== ''
  const plan = useDryRun(
    touched && !campaign ? { path: place.at('/campaigns'), method: 'POST', body: target.about } : undefined,
    sending?.refusal,
  )
  const fault = plan.at
  const balance = credits.data?.balance
  const tooFew = balance !== undefined && people.length > balance
  const ready = people.length > 0 && check.faults.size === 0 && !check.refusal && !check.checking
  const live = place.mode === 'live'
  const startsIn = later ? indianTime(new Date(later)) : ''

  return (
    <>
      <p>
        <Link to={place.go(campaign ? `/campaigns/${campaign.campaign_id}` : '/campaigns')}>
          {campaign ? (campaign.name ?? 'The campaign') : 'Campaigns'}
        </Link>
      </p>
      <h1>{campaign ? 'More candidates' : 'New campaign'}</h1>
      {!campaign && (
        <fieldset class="card stack narrow" aria-label="The campaign" disabled={sent.campaignId !== undefined}>
          <Field id="mandate_id" label="For which job" fault={fault('mandate_id')}>
            {(attributes) => (
              <select {...attributes} value={mandateId} onChange={(event) => setMandateId(event.currentTarget.value)}>
                {mandates.map(({ mandate_id, title, company_name }) => (
                  <option key={mandate_id} value={mandate_id}>
                    {title}, {company_name}
                  </option>
                ))}
                {!mandates.some(({ mandate_id }) => mandate_id === mandateId) && (
                  <option value={mandateId}>{mandateId}</option>
                )}
              </select>
            )}
          </Field>
          <div class="pair">
            <Field id="campaign_name" label="Name (optional)" fault={fault('name')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  maxLength={120}
                  value={name}
                  onInput={(event) => setName(event.currentTarget.value)}
                />
              )}
            </Field>
            <Field
              id="starts_at"
              label="Start (empty: at once)"
              hint={`${startsIn && `That is ${startsIn}. `}People are contacted between 09:00 and 20:00 Indian time.`}
              fault={fault('starts_at')}
            >
              {(attributes) => (
                <input
                  type="datetime-local"
                  class="datetime"
                  {...attributes}
                  value={later}
                  onInput={(event) => setLater(event.currentTarget.value)}
                />
              )}
            </Field>
          </div>
        </fieldset>
      )}
      {roster === undefined ? (
        <div class="narrow">
          <RosterInput onRoster={setRoster} onType={() => setRoster(typedRoster())} />
        </div>
      ) : (
        <>
          <RosterPreview
            roster={roster}
            candidates={candidates}
            check={check}
            repeats={repeats}
            onChange={changeRoster}
          />
          {check.refusal && <Notice kind="bad">{check.refusal.message}</Notice>}
          {sending?.refusal && (
            <Notice kind="bad">
              {sending.refusal.message} {sent.chunks > 0 && `${sending.done} were enrolled before; nobody twice.`}
            </Notice>
          )}
          <div class="card row between">
            <span>
              <strong>{people.length.toLocaleString()}</strong> {people.length === 1 ? 'candidate' : 'candidates'},{' '}
              <strong>{people.length.toLocaleString()}</strong> {people.length === 1 ? 'credit' : 'credits'}
              {balance !== undefined && (
                <span class={tooFew ? 'bad-text' : 'soft'}> of {balance.toLocaleString()} that are left</span>
              )}
            </span>
            <span class="row">
              <button
                type="button"
                class="plain"
                disabled={sending && !sending.refusal}
                onClick={() => changeRoster(undefined)}
              >
                Start over
              </button>
              <button
                type="button"
                class={live ? 'danger' : 'primary'}
                disabled={!ready || tooFew || (sending !== undefined && !sending.refusal)}
                onClick={() => (live ? setAsking(true) : void start())}
              >
                {sending && !sending.refusal
                  ? `Enrolling ${sending.done.toLocaleString()} of ${sending.of.toLocaleString()}…`
                  : live
                    ? `Contact ${people.length.toLocaleString()} real people`
                    : campaign
                      ? 'Enrol them'
                      : 'Start the campaign'}
              </button>
            </span>
          </div>
        </>
      )}
      {asking && (
        <Dialog title={`Contact ${people.length.toLocaleString()} real people?`} onClose={() => setAsking(false)}>
          <p>This is LIVE: they are contacted on their own phones, and each costs a credit.</p>
          <div class="row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setAsking(false)
                void start()
              }}
            >
              Contact them
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Not yet
            </button>
          </div>
        </Dialog>
      )}
    </>
  )

  /** Other rows are sent from the first one on: whoever is in the campaign already is not enrolled again. */
  function changeRoster(next: Roster | undefined) {
    setSending(undefined)
    setSent(({ campaignId }) => ({ campaignId, chunks: 0, key: crypto.randomUUID() }))
    setRoster(next)
  }

  async function start() {
    const chunks = chunksOf(people, place.mode)
    let { campaignId, chunks: done, key } = sent
    let [accepted, duplicates] = [0, 0]
    for (; done < chunks.length; done++) {
      const { from, candidates: rows } = chunks[done]!
      setSending({ done: from, of: people.length })
      const answer = await patiently(() => send({ ...target, campaignId }, rows, { idempotencyKey: key }))
      if (!answer.ok) {
        setSent({ campaignId, chunks: done, key })
        setSending({ done: from, of: people.length, refusal: answer.refusal })
        return
      }
      campaignId = answer.data.campaign.campaign_id
      accepted += answer.data.enrolment?.accepted ?? 0
      duplicates += answer.data.enrolment?.duplicates ?? 0
      key = crypto.randomUUID()
    }
    const were = duplicates === 1 ? 'was' : 'were'
    const known = duplicates > 0 ? ` ${duplicates.toLocaleString()} ${were} in it already; nobody is asked twice.` : ''
    const repeated = repeats.size > 0 ? ` ${repeatedRows(repeats.size)}.` : ''
    tellNext(`${accepted.toLocaleString()} ${accepted === 1 ? 'candidate' : 'candidates'} enrolled.${known}${repeated}`)
    navigate(place.go(`/campaigns/${campaignId}`))
  }
}

function typedRoster(): Roster {
  return { ...EMPTY, rows: [{ number: 1, cells: ['', ''], typed: true }] }
}
