import { useEffect, useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { Fault } from '../shared/field-error.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../shared/forms.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { CHANNELS, channelOrder, LANGUAGES, methodOrder } from '../shared/labels.ts'
import type { Channel, Method, Workflow } from '../shared/records.ts'
import { Link, navigate, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { MethodChoice, toggled } from './method-choice.tsx'

interface Draft {
  name: string
  description: string
  default_methods: Method[]
  channels: Channel[]
  languages: string[]
  follow_ups: { after_hours: number; channel: Channel }[]
}

const FRESH: Draft = {
  name: '',
  description: '',
  default_methods: methodOrder,
  channels: ['whatsapp'],
  languages: ['en'],
  follow_ups: [],
}

const MOST_FOLLOW_UPS = 5

export default function WorkflowEdit({ params }: { params: Params }) {
  const place = usePlace()
  const id = params.workflow_id
  const { data, refusal } = useData<Workflow>(id && place.at(`/workflows/${id}`))
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (id && !data) return <h1 class="waiting">Edit a workflow</h1>
  if (data?.created_via === 'api') {
    return (
      <>
        <p>
          <Link to={place.go(`/workflows/${data.workflow_id}`)}>{data.name}</Link>
        </p>
        <h1>Edit the workflow</h1>
        <ReadOnly what="workflow" />
      </>
    )
  }
  return <Form known={data} />
}

function draftOf({ name, description, default_methods, channels, languages, follow_ups }: Workflow): Draft {
  return { name, description: description ?? '', default_methods, channels, languages, follow_ups }
}

function Form({ known }: { known: Workflow | undefined }) {
  const place = usePlace()
  const [draft, setDraft] = useState<Draft>(known ? draftOf(known) : FRESH)
  const [touched, setTouched] = useState<Set<string>>(new Set())
  const [refused, setRefused] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const path = place.at(known ? `/workflows/${known.workflow_id}` : '/workflows')
  const method = known ? ('PUT' as const) : ('POST' as const)
  const { description, ...rest } = draft
  const body = description.trim() ? draft : rest
  const check = useDryRun<Workflow>(touched.size > 0 ? { path, method, body } : undefined, refused)
  const fault = (name: string) => (refused || touched.has(name.split('[')[0]!) ? check.under(name) : undefined)
  useEffect(() => {
    if (refused) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refused])

  return (
    <>
      <p>
        <Link to={place.go(known ? `/workflows/${known.workflow_id}` : '/workflows')}>
          {known ? known.name : 'Workflows'}
        </Link>
      </p>
      <h1>{known ? 'Edit the workflow' : 'New workflow'}</h1>
      <form class="stack narrow" noValidate onSubmit={(event) => void save(event)}>
        {refused && <Notice kind="bad">{refused.message}</Notice>}
        <section class="card stack">
          <Field id="name" label="Name" hint="What your colleagues will look for." fault={fault('name')}>
            {(attributes) => (
              <input
                type="text"
                {...attributes}
                value={draft.name}
                onInput={(event) => change({ name: event.currentTarget.value })}
              />
            )}
          </Field>
          <Field id="description" label="Description (optional)" fault={fault('description')}>
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
          chosen={draft.default_methods}
          hint="A mandate may choose otherwise for itself."
          fault={fault('default_methods')}
          onChange={(default_methods) => change({ default_methods })}
        />

        <fieldset class="card stack-tight">
          <legend class="card-legend">Channels, in the order to try</legend>
          <ol class="ordered">
            {draft.channels.map((channel, index) => (
              <li key={channel} class="row between">
                <span>
                  {index + 1}. {CHANNELS[channel]}
                </span>
                <span class="row">
                  <button
                    type="button"
                    class="plain flush"
                    disabled={index === 0}
                    aria-label={`Earlier: ${CHANNELS[channel]}`}
                    onClick={() => change({ channels: swapped(draft.channels, index) })}
                  >
                    Earlier
                  </button>
                  <button
                    type="button"
                    class="plain flush"
                    disabled={draft.channels.length === 1}
                    aria-label={`Remove ${CHANNELS[channel]}`}
                    onClick={() => dropChannel(channel)}
                  >
                    Remove
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
                  + {CHANNELS[channel]}
                </button>
              ))}
          </div>
          <p class="soft small">The next one is tried where a message cannot be delivered.</p>
          <Fault text={fault('channels')} />
        </fieldset>

        <fieldset class="card stack-tight">
          <legend class="card-legend">Languages</legend>
          <div class="checks">
            {Object.entries(LANGUAGES).map(([code, name]) => (
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
              Begin in
              <select
                value={draft.languages[0]}
                onChange={(event) => {
                  const first = event.currentTarget.value
                  change({ languages: [first, ...draft.languages.filter((code) => code !== first)] })
                }}
              >
                {draft.languages.map((code) => (
                  <option key={code} value={code}>
                    {LANGUAGES[code]}
                  </option>
                ))}
              </select>
            </label>
          )}
          <p class="soft small">With more than one, candidates choose theirs first.</p>
          <Fault text={fault('languages')} />
        </fieldset>

        <fieldset class="card stack-tight">
          <legend class="card-legend">Follow-ups for those who do not answer</legend>
          {draft.follow_ups.map((followUp, index) => (
            <div class="row follow-up" key={index}>
              <label>
                After, hours
                <input
                  type="number"
                  min={1}
                  max={168}
                  value={followUp.after_hours}
                  onInput={(event) => changeFollowUp(index, { after_hours: Number(event.currentTarget.value) })}
                />
              </label>
              <label>
                By
                <select
                  value={followUp.channel}
                  onChange={(event) => changeFollowUp(index, { channel: event.currentTarget.value as Channel })}
                >
                  {draft.channels.map((channel) => (
                    <option key={channel} value={channel}>
                      {CHANNELS[channel]}
                    </option>
                  ))}
                </select>
              </label>
              <button
                type="button"
                class="plain flush"
                aria-label={`Remove follow-up ${index + 1}`}
                onClick={() => change({ follow_ups: draft.follow_ups.filter((_, at) => at !== index) })}
              >
                Remove
              </button>
              <Fault text={fault(`follow_ups[${index}]`)} />
            </div>
          ))}
          {draft.follow_ups.length < MOST_FOLLOW_UPS && (
            <p>
              <button
                type="button"
                class="small-button"
                onClick={() =>
                  change({ follow_ups: [...draft.follow_ups, { after_hours: 24, channel: draft.channels[0]! }] })
                }
              >
                + Follow-up
              </button>
            </p>
          )}
          <p class="soft small">They stop at the first reply, and keep to 09:00–20:00 Indian time.</p>
        </fieldset>

        <div class="row">
          <Action class="primary" busy={busy}>
            {known ? 'Save' : 'Make the workflow'}
          </Action>
          <span class="soft small" aria-live="polite">
            {check.checking ? 'Checking…' : check.answer?.ok ? 'Looks right.' : ''}
          </span>
        </div>
      </form>
    </>
  )

  function change(part: Partial<Draft>) {
    setRefused(undefined)
    setDraft({ ...draft, ...part })
    setTouched(new Set([...touched, ...Object.keys(part)]))
  }

  function changeFollowUp(index: number, part: Partial<Draft['follow_ups'][number]>) {
    change({ follow_ups: draft.follow_ups.map((each, at) => (at === index ? { ...each, ...part } : each)) })
  }

  function dropChannel(channel: Channel) {
    change({
      channels: draft.channels.filter((each) => each !== channel),
      follow_ups: draft.follow_ups.filter((each) => each.channel !== channel),
    })
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<Workflow>(path, { method, body })
    setBusy(false)
    if (answer.ok) navigate(place.go(`/workflows/${answer.data.workflow_id}`))
    else setRefused(answer.refusal)
  }
}

/** The one at this place and the one before it change places. */
function swapped<T>(list: T[], index: number): T[] {
  const next = [...list]
  ;[next[index - 1], next[index]] = [next[index]!, next[index - 1]!]
  return next
}
