import { useMemo, useState } from 'preact/hooks'
import type { ListedMandateCountedList } from '../../api-types/console.ts'
import type { Campaign, CreditBalance } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { indianTimeHint } from '../../ui/time.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { FieldError } from '../shared/field-error.tsx'
import { DraftNotice, useFormDraft } from '../shared/form-draft.tsx'
import { RecordPicker } from '../shared/record-picker.tsx'
import type { ApiError } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { type EnrolmentTarget, enrolCandidates, splitIntoChunks, useRosterCheck, withRetries } from './enrolling.ts'
import './campaigns.css'
import '../shared/forms.css'
import './roster.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { setFlashMessage } from '../shared/flash-message.ts'
import { Link, navigate, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { CostEstimateText } from './cost-estimate.tsx'
import { candidateFrom, EMPTY_ROSTER, findRepeats, type Roster } from './roster.ts'
import { RosterInput } from './roster-input.tsx'
import { RosterPreview } from './roster-preview.tsx'

/** Form to create a campaign, or to add candidates to the campaign in the query (?campaign_id=). */
export default function CampaignNew() {
  const context = useOrgContext()
  const { query } = useAddress()
  const campaignId = query.get('campaign_id') ?? undefined
  const campaign = useData<Campaign>(campaignId && context.apiPath(`/campaigns/${campaignId}`))
  const mandates = useData<ListedMandateCountedList>(
    campaignId ? undefined : context.apiPath('/lists/mandates?status=ready&limit=1'),
  )
  const error = campaign.error ?? mandates.error
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (campaignId ? !campaign.data : !mandates.data) return <h1 class="waiting">Loading campaign</h1>
  if (campaign.data?.created_via === 'api') return <ReadOnly noun={t('campaign')} />
  if (mandates.data?.items.length === 0) {
    return (
      <div class="card empty">
        <h1>{t('Create a job first')}</h1>
        <p class="soft">
          {t(
            'A campaign contacts candidates for a job and asks its questions. The questions are written within moments after you create the job.',
          )}
        </p>
        <Link class="button primary" to={context.pagePath('/mandates/new')}>
          {t('Create job')}
        </Link>
      </div>
    )
  }
  return (
    <Form
      campaign={campaign.data}
      defaultMandateId={query.get('mandate_id') ?? mandates.data?.items[0]?.mandate_id ?? ''}
    />
  )
}

interface FormProps {
  campaign: Campaign | undefined
  defaultMandateId: string
}

/** The input of the form. It contains personal data, so that it is kept in the tab only. */
interface CampaignDraft {
  mandateId: string
  name: string
  startTime: string
  roster?: Roster | undefined
}

interface SendingState {
  done: number
  total: number
  error?: ApiError
}

function Form({ campaign, defaultMandateId }: FormProps) {
  const context = useOrgContext()
  const formDraft = useFormDraft<CampaignDraft>(
    `${context.apiPath('/campaigns')} ${campaign?.campaign_id ?? 'new'}`,
    { mandateId: defaultMandateId, name: '', startTime: '' },
    'tab',
  )
  const { mandateId, name, startTime, roster } = formDraft.value
  const change = (part: Partial<CampaignDraft>) => formDraft.setValue((previous) => ({ ...previous, ...part }))
  const [sending, setSending] = useState<SendingState>()
  const [confirming, setConfirming] = useState(false)
  // The chunks already sent, and the idempotency key of the current call, so that a retry enrols no candidate twice.
  const [progress, setProgress] = useState<{ campaignId: string | undefined; chunks: number; key: string }>({
    campaignId: campaign?.campaign_id,
    chunks: 0,
    key: crypto.randomUUID(),
  })
  const credits = useData<CreditBalance>(context.apiPath('/credits'))
  const candidates = useMemo(() => (roster?.rows ?? []).map((row) => candidateFrom(roster!, row)), [roster])
  const target: EnrolmentTarget = {
    apiPath: context.apiPath,
    mode: context.mode,
    campaignId: campaign?.campaign_id,
    newCampaign: {
      mandate_id: mandateId,
      ...(name.trim() ? { name: name.trim() } : {}),
      ...(startTime ? { starts_at: new Date(startTime).toISOString() } : {}),
    },
  }
  const rosterCheck = useRosterCheck(target, candidates)
  const repeatMessages = useMemo(
    () => (roster ? findRepeats(roster, candidates, rosterCheck.rowErrors) : new Map<number, string>()),
    [roster, candidates, rosterCheck.rowErrors],
  )
  /** The candidates of rows without errors, each person once. */
  const validCandidates = candidates.filter((_, row) => !rosterCheck.rowErrors.has(row) && !repeatMessages.has(row))
  const touched = name !== '' || startTime !== ''
  const dryRun = useDryRun(
    touched && !campaign
      ? { path: context.apiPath('/campaigns'), method: 'POST', body: target.newCampaign }
      : undefined,
    sending?.error,
  )
  const errorAt = dryRun.errorAt
  const balance = credits.data?.balance
  const creditsMissing = balance !== undefined && validCandidates.length > balance
  const canEnrol =
    validCandidates.length > 0 && rosterCheck.rowErrors.size === 0 && !rosterCheck.error && !rosterCheck.checking
  const isLive = context.mode === 'live'
  const isSingle = validCandidates.length === 1
  const countText = validCandidates.length.toLocaleString(displayLocale())
  const indianStartTime = startTime ? indianTimeHint(new Date(startTime)) : ''

  return (
    <>
      <p>
        <Link to={context.pagePath(campaign ? `/campaigns/${campaign.campaign_id}` : '/campaigns')}>
          {campaign ? (campaign.name ?? t('Campaign')) : t('Campaigns')}
        </Link>
      </p>
      <h1>{campaign ? t('Add candidates') : t('New campaign')}</h1>
      <DraftNotice draft={formDraft} />
      {!campaign && (
        <fieldset class="card stack narrow" aria-label={t('Campaign')} disabled={progress.campaignId !== undefined}>
          <RecordPicker
            id="mandate_id"
            kind="mandate"
            label={t('Job')}
            placeholder={t('Search for a job')}
            value={mandateId || undefined}
            filter={{ status: 'ready' }}
            optional={false}
            onChoose={(id) => change({ mandateId: id ?? '' })}
          />
          <FieldError text={errorAt('mandate_id')} />
          <div class="pair">
            <Field id="campaign_name" label={t('Name (optional)')} error={errorAt('name')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  maxLength={120}
                  value={name}
                  onInput={(event) => change({ name: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field
              id="starts_at"
              label={t('Start (leave empty to start now)')}
              hint={[
                indianStartTime && t('That is {time}.', { time: indianStartTime }),
                context.mode === 'test'
                  ? t('In TEST mode, candidates are contacted at any time.')
                  : t('Candidates are contacted between 09:00 and 20:00 Indian time.'),
              ]
                .filter(Boolean)
                .join(' ')}
              error={errorAt('starts_at')}
            >
              {(attributes) => (
                <input
                  type="datetime-local"
                  class="datetime"
                  {...attributes}
                  value={startTime}
                  onInput={(event) => change({ startTime: event.currentTarget.value })}
                />
              )}
            </Field>
          </div>
        </fieldset>
      )}
      {roster === undefined ? (
        <div class="narrow">
          <RosterInput onRoster={(next) => change({ roster: next })} onType={() => change({ roster: typedRoster() })} />
        </div>
      ) : (
        <>
          <RosterPreview
            roster={roster}
            candidates={candidates}
            check={rosterCheck}
            repeats={repeatMessages}
            onChange={changeRoster}
          />
          {rosterCheck.error && <Notice kind="bad">{rosterCheck.error.message}</Notice>}
          {sending?.error && (
            <Notice kind="bad">
              {sending.error.message}{' '}
              {progress.chunks > 0 &&
                t('{count} candidates were already enrolled and will not be enrolled again.', {
                  count: sending.done.toLocaleString(displayLocale()),
                })}
            </Notice>
          )}
          <div class="card row between">
            <span>
              {richText(
                isSingle ? '{candidates} candidate, {credits} credit' : '{candidates} candidates, {credits} credits',
                { candidates: <strong>{countText}</strong>, credits: <strong>{countText}</strong> },
              )}
              {balance !== undefined && (
                <span class={creditsMissing ? 'bad-text' : 'soft'}>
                  {t(', {balance} credits left', { balance: balance.toLocaleString(displayLocale()) })}
                </span>
              )}
            </span>
            <span class="row">
              <button
                type="button"
                class="plain"
                disabled={sending && !sending.error}
                onClick={() => changeRoster(undefined)}
              >
                {t('Start over')}
              </button>
              <button
                type="button"
                class={isLive ? 'danger' : 'primary'}
                disabled={!canEnrol || creditsMissing || (sending !== undefined && !sending.error)}
                onClick={() => (isLive ? setConfirming(true) : void enrolAll())}
              >
                {sending && !sending.error
                  ? t('Enrolled {done} of {total} candidates…', {
                      done: sending.done.toLocaleString(displayLocale()),
                      total: sending.total.toLocaleString(displayLocale()),
                    })
                  : isLive
                    ? t(isSingle ? 'Contact 1 candidate' : 'Contact {count} candidates', { count: countText })
                    : campaign
                      ? t('Enrol candidates')
                      : t('Start campaign')}
              </button>
            </span>
          </div>
        </>
      )}
      {confirming && (
        <Dialog
          title={t(isSingle ? 'Contact 1 candidate?' : 'Contact {count} candidates?', { count: countText })}
          onClose={() => setConfirming(false)}
        >
          <p>
            {t('This is live mode: candidates are contacted on their own phones, and each candidate costs 1 credit.')}
          </p>
          <CostEstimateText mandateId={campaign?.mandate_id ?? mandateId} candidates={validCandidates} />
          <div class="row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setConfirming(false)
                void enrolAll()
              }}
            >
              {t('Contact now')}
            </button>
            <button type="button" onClick={() => setConfirming(false)}>
              {t('Cancel')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )

  /** Replaces the roster. All rows are then sent again; candidates already in the campaign are not enrolled a second time. */
  function changeRoster(next: Roster | undefined) {
    setSending(undefined)
    setProgress(({ campaignId }) => ({ campaignId, chunks: 0, key: crypto.randomUUID() }))
    change({ roster: next })
  }

  async function enrolAll() {
    const chunks = splitIntoChunks(validCandidates, context.mode)
    let { campaignId, chunks: done, key } = progress
    let [enrolledCount, duplicateCount] = [0, 0]
    for (; done < chunks.length; done++) {
      const { firstRow, candidates: rows } = chunks[done]!
      setSending({ done: firstRow, total: validCandidates.length })
      const response = await withRetries(() =>
        enrolCandidates({ ...target, campaignId }, rows, { idempotencyKey: key }),
      )
      if (!response.ok) {
        setProgress({ campaignId, chunks: done, key })
        setSending({ done: firstRow, total: validCandidates.length, error: response.error })
        return
      }
      campaignId = response.data.campaign.campaign_id
      enrolledCount += response.data.enrolment?.accepted ?? 0
      duplicateCount += response.data.enrolment?.duplicates ?? 0
      key = crypto.randomUUID()
    }
    setFlashMessage(
      [
        t(enrolledCount === 1 ? '1 candidate enrolled.' : '{count} candidates enrolled.', {
          count: enrolledCount.toLocaleString(displayLocale()),
        }),
        duplicateCount > 0 &&
          t(
            duplicateCount === 1
              ? '1 candidate was already in the campaign.'
              : '{count} candidates were already in the campaign.',
            { count: duplicateCount.toLocaleString(displayLocale()) },
          ),
        repeatMessages.size > 0 &&
          t(repeatMessages.size === 1 ? '1 row repeats another row.' : '{count} rows repeat another row.', {
            count: repeatMessages.size.toLocaleString(displayLocale()),
          }),
      ]
        .filter(Boolean)
        .join(' '),
    )
    formDraft.complete()
    navigate(context.pagePath(`/campaigns/${campaignId}`))
  }
}

function typedRoster(): Roster {
  return { ...EMPTY_ROSTER, rows: [{ number: 1, cells: ['', ''], typed: true }] }
}
