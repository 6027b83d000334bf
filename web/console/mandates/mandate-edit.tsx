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
import type { Mandate, Page, Workflow } from '../shared/records.ts'
import { Link, navigate, type Params, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { MethodChoice } from '../workflows/method-choice.tsx'
import { PlaceEditor } from './location-editor.tsx'
import { draftOf, freshDraft, inputOf, isTouched, type MandateDraft } from './mandate-draft.ts'
import { QuestionsEditor } from './questions-editor.tsx'
import { SkillsEditor } from './skills-editor.tsx'

export default function MandateEdit({ params }: { params: Params }) {
  const place = usePlace()
  const { query } = useAddress()
  const id = params.mandate_id
  const mandate = useData<Mandate>(id && place.at(`/mandates/${id}`))
  const workflows = useData<Page<Workflow>>(place.at('/workflows?limit=100'))
  const refusal = mandate.refusal ?? workflows.refusal
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  if (!workflows.data || (id && !mandate.data)) return <h1 class="waiting">A job to describe</h1>
  if (mandate.data?.created_via === 'api') {
    return (
      <>
        <p>
          <Link to={place.go(`/mandates/${mandate.data.mandate_id}`)}>{mandate.data.title}</Link>
        </p>
        <h1>Edit the mandate</h1>
        <ReadOnly what="mandate" />
      </>
    )
  }
  const active = workflows.data.items.filter(({ status }) => status === 'active')
  if (!id && active.length === 0) {
    return (
      <div class="card empty">
        <h1>A mandate needs a workflow</h1>
        <p class="soft">It says how the candidates of this job are contacted, and in which languages.</p>
        <Link class="button primary" to={place.go('/workflows/new')}>
          Make a workflow
        </Link>
      </div>
    )
  }
  const first = query.get('workflow_id') ?? active[0]?.workflow_id ?? ''
  return <Form known={mandate.data} workflows={workflows.data.items} first={first} />
}

interface FormProps {
  known: Mandate | undefined
  workflows: Workflow[]
  first: string
}

interface Choice {
  value: string
  label: string
}

type TextField = 'title' | 'company_name' | 'job_id' | 'shift' | 'employment_type' | 'other_roles'
type NumberField = 'min_years' | 'max_years' | 'openings' | 'salary_min' | 'salary_max'

function Form({ known, workflows, first }: FormProps) {
  const place = usePlace()
  const [draft, setDraft] = useState<MandateDraft>(known ? draftOf(known) : freshDraft(first))
  const [touched, setTouched] = useState<Set<string>>(new Set())
  const [refused, setRefused] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const shifts = useData<Page<Choice>>(place.at('/shifts'))
  const types = useData<Page<Choice>>(place.at('/employment-types'))
  const path = place.at(known ? `/mandates/${known.mandate_id}` : '/mandates')
  const method = known ? ('PUT' as const) : ('POST' as const)
  const body = inputOf(draft, known)
  const check = useDryRun<Mandate>(touched.size > 0 ? { path, method, body } : undefined, refused)
  const fault = (name: string) => (refused || isTouched(touched, name) ? check.under(name) : undefined)
  const warnings = check.answer?.ok ? check.answer.data.warnings : []
  const workflow = workflows.find(({ workflow_id }) => workflow_id === draft.workflow_id)
  const methods = draft.methods ?? workflow?.default_methods ?? []
  useEffect(() => {
    if (refused) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refused])

  const text = (name: TextField, label: string, more: { hint?: string; list?: string } = {}) => (
    <Field id={name} label={label} {...(more.hint ? { hint: more.hint } : {})} fault={fault(name)}>
      {(attributes) => (
        <input
          type="text"
          {...attributes}
          list={more.list}
          value={draft[name]}
          onInput={(event) => change({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  const number = (name: NumberField, label: string, at: string) => (
    <Field id={name} label={label} fault={fault(at)}>
      {(attributes) => (
        <input
          type="number"
          min={0}
          {...attributes}
          value={draft[name]}
          onInput={(event) => change({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )

  return (
    <>
      <p>
        <Link to={place.go(known ? `/mandates/${known.mandate_id}` : '/mandates')}>
          {known ? known.title : 'Mandates'}
        </Link>
      </p>
      <h1>{known ? 'Edit the mandate' : 'New mandate'}</h1>
      <form class="stack narrow" noValidate onSubmit={(event) => void save(event)}>
        {refused && <Notice kind="bad">{refused.message}</Notice>}
        <section class="card stack">
          <div class="pair">
            {text('title', 'Job title')}
            {text('company_name', 'Company')}
          </div>
          <div class="pair">
            <Field
              id="workflow_id"
              label="Workflow"
              hint={known ? 'It stays with the mandate.' : 'How candidates are contacted.'}
              fault={fault('workflow_id')}
            >
              {(attributes) => (
                <select
                  {...attributes}
                  disabled={known !== undefined}
                  value={draft.workflow_id}
                  onChange={(event) => change({ workflow_id: event.currentTarget.value })}
                >
                  {workflows
                    .filter(({ status, workflow_id }) => status === 'active' || workflow_id === draft.workflow_id)
                    .map(({ workflow_id, name }) => (
                      <option key={workflow_id} value={workflow_id}>
                        {name}
                      </option>
                    ))}
                </select>
              )}
            </Field>
            {!known && text('job_id', 'Your job id (optional)', { hint: 'Results come back with it.' })}
          </div>
          <Field id="description" label="Description (optional)" fault={fault('description')}>
            {(attributes) => (
              <textarea
                {...attributes}
                value={draft.description}
                onInput={(event) => change({ description: event.currentTarget.value })}
              />
            )}
          </Field>
        </section>
        <PlaceEditor draft={draft} fault={fault} onChange={change} />
        <SkillsEditor
          skills={draft.skills}
          description={draft.description}
          fault={fault}
          onChange={(skills) => change({ skills })}
        />
        <MethodChoice
          chosen={methods}
          hint="As the workflow says, unless you change it here."
          fault={fault('methods')}
          onChange={(next) => change({ methods: next })}
        />
        {methods.includes('data_enrichment') && (
          <QuestionsEditor questions={draft.questions} fault={fault} onChange={(questions) => change({ questions })} />
        )}
        <details class="card">
          <summary>More about the job (optional)</summary>
          <div class="stack details-body">
            <div class="pair">
              {number('min_years', 'Experience from, years', 'experience.min_years')}
              {number('max_years', 'to, years', 'experience.max_years')}
            </div>
            <div class="pair">
              {number('salary_min', 'Salary from, ₹ a month', 'salary.min')}
              {number('salary_max', 'to, ₹ a month', 'salary.max')}
            </div>
            <div class="pair">
              {number('openings', 'Openings', 'openings')}
              {text('shift', 'Shift', { list: 'shifts' })}
              {text('employment_type', 'Employment', { list: 'employment-types' })}
            </div>
            {text('other_roles', 'Other roles, with commas', {
              hint: 'Kept and returned; candidates are not asked about them.',
            })}
            <Fault text={fault('interest_collection')} />
            <Options id="shifts" choices={shifts.data?.items} />
            <Options id="employment-types" choices={types.data?.items} />
          </div>
        </details>
        {warnings.length > 0 && (
          <div class="notice" role="status">
            <strong>Accepted as it is, with a word of advice:</strong>
            <ul>
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </div>
        )}
        <div class="row">
          <Action class="primary" busy={busy}>
            {known ? 'Save, and write the questions anew' : 'Make the mandate'}
          </Action>
          <span class="soft small" aria-live="polite">
            {check.checking
              ? 'Checking…'
              : check.answer?.ok
                ? warnings.length > 0
                  ? ''
                  : 'Looks right.'
                : check.answer && check.answer.refusal.status !== 400
                  ? check.answer.refusal.message
                  : ''}
          </span>
        </div>
      </form>
    </>
  )

  function change(part: Partial<MandateDraft>) {
    setRefused(undefined)
    setDraft((before) => ({ ...before, ...part }))
    setTouched((before) => new Set([...before, ...Object.keys(part)]))
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<Mandate>(path, { method, body })
    setBusy(false)
    if (answer.ok) navigate(place.go(`/mandates/${answer.data.mandate_id}`))
    else setRefused(answer.refusal)
  }
}

function Options({ id, choices }: { id: string; choices: Choice[] | undefined }) {
  return (
    <datalist id={id}>
      {(choices ?? []).map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </datalist>
  )
}
