import { useEffect, useState } from 'preact/hooks'
import type { Channel, Method, Workflow } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { formErrorText } from '../shared/explain-error.ts'
import { FieldError } from '../shared/field-error.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../shared/forms.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { DraftNotice, useFormDraft } from '../shared/form-draft.tsx'
import { CHANNEL_NAMES, channelOrder, LANGUAGE_NAMES, methodOrder } from '../shared/labels.ts'
import { Link, navigate, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { MethodChoice, toggled } from './method-choice.tsx'

interface Draft {
  name: string
  description: string
  default_methods: Method[]
  channels: Channel[]
  languages: string[]
  follow_ups: { after_hours: number; channel: Channel }[]
}

const EMPTY_DRAFT: Draft = {
  name: '',
  description: '',
  default_methods: methodOrder,
  channels: ['whatsapp'],
  languages: ['en'],
  follow_ups: [],
}

const MAX_FOLLOW_UPS = 5

export default function WorkflowEdit({ params }: { params: Params }) {
  const context = useOrgContext()
  const id = params.workflow_id
  const { data, error } = useData<Workflow>(id && context.apiPath(`/workflows/${id}`))
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (id && !data) return <h1 class="waiting">Loading workflow</h1>
  if (data?.created_via === 'api') {
    return (
      <>
        <p>
          <Link to={context.pagePath(`/workflows/${data.workflow_id}`)}>{data.name}</Link>
        </p>
        <h1>{t('Edit workflow')}</h1>
        <ReadOnly noun={t('workflow')} />
      </>
    )
  }
  return <Form existing={data} />
}

function draftFrom({ name, description, default_methods, channels, languages, follow_ups }: Workflow): Draft {
  return { name, description: description ?? '', default_methods, channels, languages, follow_ups }
}

function Form({ existing }: { existing: Workflow | undefined }) {
  const context = useOrgContext()
  const formDraft = useFormDraft<Draft>(
    `${context.apiPath('/workflows')} ${existing ? `${existing.workflow_id} ${existing.updated_at}` : 'new'}`,
    existing ? draftFrom(existing) : EMPTY_DRAFT,
  )
  const { value: draft, setValue: setDraft } = formDraft
  const [touched, setTouched] = useState<Set<string>>(new Set())
  const [submitError, setSubmitError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const path = context.apiPath(existing ? `/workflows/${existing.workflow_id}` : '/workflows')
  const method = existing ? ('PUT' as const) : ('POST' as const)
  const { description, ...rest } = draft
  const body = description.trim() ? draft : rest
  const dryRun = useDryRun<Workflow>(touched.size > 0 ? { path, method, body } : undefined, submitError)
  const errorAt = (name: string) =>
    submitError || touched.has(name.split('[')[0]!) ? dryRun.errorUnder(name) : undefined
  useEffect(() => {
    if (submitError) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [submitError])

  return (
    <>
      <p>
        <Link to={context.pagePath(existing ? `/workflows/${existing.workflow_id}` : '/workflows')}>
          {existing ? existing.name : t('Workflows')}
        </Link>
      </p>
      <h1>{existing ? t('Edit workflow') : t('New workflow')}</h1>
      <DraftNotice draft={formDraft} />
      <form class="stack narrow" noValidate onSubmit={(event) => void save(event)}>
        {submitError && <Notice kind="bad">{formErrorText(submitError)}</Notice>}
        <section class="card stack">
          <Field id="name" label={t('Name')} hint={t('The name that your colleagues see.')} error={errorAt('name')}>
            {(attributes) => (
              <input
                type="text"
                {...attributes}
                value={draft.name}
                onInput={(event) => change({ name: event.currentTarget.value })}
              />
            )}
          </Field>
          <Field id="description" label={t('Description (optional)')} error={errorAt('description')}>
            {(attributes) => (
              <textarea
                {...attributes}
                value={description}
                onInput={(event) => change({ description: event.currentTarget.value })}
              />
            )}
          </Field>
        </section>

        <MethodChoice
          selected={draft.default_methods}
          hint={t('Each job can override this selection.')}
          error={errorAt('default_methods')}
          onChange={(default_methods) => change({ default_methods })}
        />

        <fieldset class="card stack-tight">
          <legend class="card-legend">{t('Channels, in order of use')}</legend>
          <ol class="ordered">
            {draft.channels.map((channel, index) => (
              <li key={channel} class="row between">
                <span>
                  {index + 1}. {CHANNEL_NAMES[channel]}
                </span>
                <span class="row">
                  <button
                    type="button"
                    class="plain flush"
                    disabled={index === 0}
                    aria-label={t('Move up: {channel}', { channel: CHANNEL_NAMES[channel] })}
                    onClick={() => change({ channels: movedUp(draft.channels, index) })}
                  >
                    {t('Move up')}
                  </button>
                  <button
                    type="button"
                    class="plain flush"
                    disabled={draft.channels.length === 1}
                    aria-label={t('Remove {channel}', { channel: CHANNEL_NAMES[channel] })}
                    onClick={() => removeChannel(channel)}
                  >
                    {t('Remove')}
                  </button>
                </span>
              </li>
            ))}
          </ol>
          <div class="row">
            {channelOrder
              .filter((channel) => !draft.channels.includes(channel))
              .map((channel) => (
                <button
                  type="button"
                  key={channel}
                  class="small-button"
                  onClick={() => change({ channels: [...draft.channels, channel] })}
                >
                  {t('Add {channel}', { channel: CHANNEL_NAMES[channel] })}
                </button>
              ))}
          </div>
          <p class="soft small">{t('If a message cannot be delivered, the next channel is used.')}</p>
          <FieldError text={errorAt('channels')} />
        </fieldset>

        <fieldset class="card stack-tight">
          <legend class="card-legend">{t('Languages')}</legend>
          <div class="checks">
            {Object.entries(LANGUAGE_NAMES).map(([code, name]) => (
              <label class="check" key={code}>
                <input
                  type="checkbox"
                  checked={draft.languages.includes(code)}
                  onChange={() => change({ languages: toggled(draft.languages, code) })}
                />
                {name}
              </label>
            ))}
          </div>
          {draft.languages.length > 1 && (
            <label>
              {t('First language')}
              <select
                value={draft.languages[0]}
                onChange={(event) => {
                  const firstLanguage = event.currentTarget.value
                  change({ languages: [firstLanguage, ...draft.languages.filter((code) => code !== firstLanguage)] })
                }}
              >
                {draft.languages.map((code) => (
                  <option key={code} value={code}>
                    {LANGUAGE_NAMES[code]}
                  </option>
                ))}
              </select>
            </label>
          )}
          <p class="soft small">{t('If you select several languages, candidates choose theirs first.')}</p>
          <FieldError text={errorAt('languages')} />
        </fieldset>

        <fieldset class="card stack-tight">
          <legend class="card-legend">{t('Follow-ups for candidates who do not answer')}</legend>
          {draft.follow_ups.map((followUp, index) => (
            <div class="row follow-up" key={index}>
              <label>
                {t('Hours without an answer')}
                <input
                  type="number"
                  min={1}
                  max={168}
                  value={followUp.after_hours}
                  onInput={(event) => changeFollowUp(index, { after_hours: Number(event.currentTarget.value) })}
                />
              </label>
              <label>
                {t('Channel')}
                <select
                  value={followUp.channel}
                  onChange={(event) => changeFollowUp(index, { channel: event.currentTarget.value as Channel })}
                >
                  {draft.channels.map((channel) => (
                    <option key={channel} value={channel}>
                      {CHANNEL_NAMES[channel]}
                    </option>
                  ))}
                </select>
              </label>
              <button
                type="button"
                class="plain flush"
                aria-label={t('Remove follow-up {number}', { number: index + 1 })}
                onClick={() => change({ follow_ups: draft.follow_ups.filter((_, at) => at !== index) })}
              >
                {t('Remove')}
              </button>
              <FieldError text={errorAt(`follow_ups[${index}]`)} />
            </div>
          ))}
          {draft.follow_ups.length < MAX_FOLLOW_UPS && (
            <p>
              <button
                type="button"
                class="small-button"
                onClick={() =>
                  change({ follow_ups: [...draft.follow_ups, { after_hours: 24, channel: draft.channels[0]! }] })
                }
              >
                {t('Add follow-up')}
              </button>
            </p>
          )}
          <p class="soft small">
            {t('Follow-ups stop at the first reply and are sent between 09:00 and 20:00 Indian time.')}
          </p>
        </fieldset>

        <div class="row">
          <SubmitButton class="primary" busy={busy}>
            {existing ? t('Save') : t('Create workflow')}
          </SubmitButton>
          <span class="soft small" aria-live="polite">
            {dryRun.checking ? t('Checking…') : dryRun.response?.ok ? t('No errors found.') : ''}
          </span>
        </div>
      </form>
    </>
  )

  function change(part: Partial<Draft>) {
    setSubmitError(undefined)
    setDraft({ ...draft, ...part })
    setTouched(new Set([...touched, ...Object.keys(part)]))
  }

  function changeFollowUp(index: number, part: Partial<Draft['follow_ups'][number]>) {
    change({ follow_ups: draft.follow_ups.map((each, at) => (at === index ? { ...each, ...part } : each)) })
  }

  function removeChannel(channel: Channel) {
    change({
      channels: draft.channels.filter((each) => each !== channel),
      follow_ups: draft.follow_ups.filter((each) => each.channel !== channel),
    })
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<Workflow>(path, { method, body })
    setBusy(false)
    if (!response.ok) return setSubmitError(response.error)
    formDraft.complete()
    navigate(context.pagePath(`/workflows/${response.data.workflow_id}`))
  }
}

/** Returns the list with the item at an index swapped with the item before it. */
function movedUp<T>(list: T[], index: number): T[] {
  const movedList = [...list]
  ;[movedList[index - 1], movedList[index]] = [movedList[index]!, movedList[index - 1]!]
  return movedList
}
