import { useEffect, useState } from 'preact/hooks'
import type { WorkflowCountedList } from '../../api-types/console.ts'
import type { Choice, ChoiceList, Mandate, Workflow } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { useDryRun } from '../shared/dry-run.ts'
import { explainWarning, formErrorText } from '../shared/explain-error.ts'
import { FieldError } from '../shared/field-error.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../shared/forms.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { DraftNotice, useFormDraft } from '../shared/form-draft.tsx'
import { RecordPicker } from '../shared/record-picker.tsx'
import { Link, navigate, type Params, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { MethodChoice } from '../workflows/method-choice.tsx'
import { LocationEditor } from './location-editor.tsx'
import { draftFrom, emptyDraft, inputFrom, isTouched, type MandateDraft } from './mandate-draft.ts'
import { QuestionsEditor } from './questions-editor.tsx'
import { SkillsEditor } from './skills-editor.tsx'

export default function MandateEdit({ params }: { params: Params }) {
  const context = useOrgContext()
  const { query } = useAddress()
  const id = params.mandate_id
  const mandate = useData<Mandate>(id && context.apiPath(`/mandates/${id}`))
  const workflows = useData<WorkflowCountedList>(
    id ? undefined : context.apiPath('/lists/workflows?status=active&limit=1'),
  )
  const error = mandate.error ?? workflows.error
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (id ? !mandate.data : !workflows.data) return <h1 class="waiting">Loading job</h1>
  if (mandate.data?.created_via === 'api') {
    return (
      <>
        <p>
          <Link to={context.pagePath(`/mandates/${mandate.data.mandate_id}`)}>{mandate.data.title}</Link>
        </p>
        <h1>{t('Edit job')}</h1>
        <ReadOnly noun={t('job')} />
      </>
    )
  }
  if (workflows.data?.items.length === 0) {
    return (
      <div class="card empty">
        <h1>{t('Create a workflow first')}</h1>
        <p class="soft">{t('A workflow sets how the candidates for a job are contacted, and in which languages.')}</p>
        <Link class="button primary" to={context.pagePath('/workflows/new')}>
          {t('Create workflow')}
        </Link>
      </div>
    )
  }
  const defaultWorkflowId = query.get('workflow_id') ?? workflows.data?.items[0]?.workflow_id ?? ''
  return <Form existing={mandate.data} defaultWorkflowId={defaultWorkflowId} />
}

interface FormProps {
  existing: Mandate | undefined
  defaultWorkflowId: string
}

type TextField = 'title' | 'company_name' | 'job_id' | 'shift' | 'employment_type' | 'other_roles'
type NumberField = 'min_years' | 'max_years' | 'openings' | 'salary_min' | 'salary_max'

function Form({ existing, defaultWorkflowId }: FormProps) {
  const context = useOrgContext()
  const formDraft = useFormDraft<MandateDraft>(
    `${context.apiPath('/mandates')} ${existing ? `${existing.mandate_id} ${existing.version}` : 'new'}`,
    existing ? draftFrom(existing) : emptyDraft(defaultWorkflowId),
  )
  const { value: draft, setValue: setDraft } = formDraft
  const [touched, setTouched] = useState<Set<string>>(new Set())
  const [submitError, setSubmitError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const shifts = useData<ChoiceList>(context.apiPath('/shifts'))
  const employmentTypes = useData<ChoiceList>(context.apiPath('/employment-types'))
  const path = context.apiPath(existing ? `/mandates/${existing.mandate_id}` : '/mandates')
  const method = existing ? ('PUT' as const) : ('POST' as const)
  const body = inputFrom(draft, existing)
  const dryRun = useDryRun<Mandate>(touched.size > 0 ? { path, method, body } : undefined, submitError)
  const errorAt = (name: string) => (submitError || isTouched(touched, name) ? dryRun.errorUnder(name) : undefined)
  const warnings = dryRun.response?.ok ? dryRun.response.data.warnings : []
  const workflow = useData<Workflow>(
    draft.workflow_id ? context.apiPath(`/workflows/${draft.workflow_id}`) : undefined,
  ).data
  const methods = draft.methods ?? workflow?.default_methods ?? []
  useEffect(() => {
    if (submitError) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [submitError])

  const textField = (name: TextField, label: string, options: { hint?: string; list?: string } = {}) => (
    <Field id={name} label={label} {...(options.hint ? { hint: options.hint } : {})} error={errorAt(name)}>
      {(attributes) => (
        <input
          type="text"
          {...attributes}
          list={options.list}
          value={draft[name]}
          onInput={(event) => change({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  )
  const numberField = (name: NumberField, label: string, errorPath: string) => (
    <Field id={name} label={label} error={errorAt(errorPath)}>
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
        <Link to={context.pagePath(existing ? `/mandates/${existing.mandate_id}` : '/mandates')}>
          {existing ? existing.title : t('Jobs')}
        </Link>
      </p>
      <h1>{existing ? t('Edit job') : t('New job')}</h1>
      <DraftNotice draft={formDraft} />
      <form class="stack narrow" noValidate onSubmit={(event) => void save(event)}>
        {submitError && <Notice kind="bad">{formErrorText(submitError)}</Notice>}
        <section class="card stack">
          <div class="pair">
            {textField('title', t('Job title'))}
            {textField('company_name', t('Company'))}
          </div>
          <div class="pair">
            {existing ? (
              <div class="field">
                <span class="picker-label">{t('Workflow')}</span>
                <p>{workflow?.name ?? '…'}</p>
                <p class="soft small">{t('The workflow of a job cannot be changed.')}</p>
              </div>
            ) : (
              <div class="field">
                <RecordPicker
                  id="workflow_id"
                  kind="workflow"
                  label={t('Workflow')}
                  placeholder={t('Search for a workflow')}
                  value={draft.workflow_id || undefined}
                  filter={{ status: 'active' }}
                  optional={false}
                  onChoose={(id) => change({ workflow_id: id ?? '' })}
                />
                <p class="soft small">{t('Sets how candidates are contacted.')}</p>
                <FieldError text={errorAt('workflow_id')} />
              </div>
            )}
            {!existing && textField('job_id', t('Your job ID (optional)'), { hint: t('Results include this ID.') })}
          </div>
          <Field id="description" label={t('Description (optional)')} error={errorAt('description')}>
            {(attributes) => (
              <textarea
                {...attributes}
                value={draft.description}
                onInput={(event) => change({ description: event.currentTarget.value })}
              />
            )}
          </Field>
        </section>
        <LocationEditor draft={draft} errorAt={errorAt} onChange={change} />
        <SkillsEditor
          skills={draft.skills}
          description={draft.description}
          errorAt={errorAt}
          onChange={(skills) => change({ skills })}
        />
        <MethodChoice
          selected={methods}
          hint={t("The workflow's default, unless you change it here.")}
          error={errorAt('methods')}
          onChange={(next) => change({ methods: next })}
        />
        {methods.includes('data_enrichment') && (
          <QuestionsEditor
            questions={draft.questions}
            existing={existing}
            languages={workflow?.languages ?? []}
            errorAt={errorAt}
            onChange={(questions) => change({ questions })}
          />
        )}
        <details class="card">
          <summary>{t('More about the job (optional)')}</summary>
          <div class="stack details-body">
            <div class="pair">
              {numberField('min_years', t('Experience from (years)'), 'experience.min_years')}
              {numberField('max_years', t('to (years)'), 'experience.max_years')}
            </div>
            <div class="pair">
              {numberField('salary_min', t('Salary from (₹ per month)'), 'salary.min')}
              {numberField('salary_max', t('to (₹ per month)'), 'salary.max')}
            </div>
            <div class="pair">
              {numberField('openings', t('Openings'), 'openings')}
              {textField('shift', t('Shift'), { list: 'shifts' })}
              {textField('employment_type', t('Employment type'), { list: 'employment-types' })}
            </div>
            {textField('other_roles', t('Other roles (separated by commas)'), {
              hint: t('Results include these roles; candidates are not asked about them.'),
            })}
            <FieldError text={errorAt('interest_collection')} />
            <Options id="shifts" choices={shifts.data?.items} />
            <Options id="employment-types" choices={employmentTypes.data?.items} />
          </div>
        </details>
        {warnings.length > 0 && (
          <div class="notice" role="status">
            <strong>{t('You can save this job. Suggestions:')}</strong>
            <ul>
              {warnings.map((warning) => (
                <li key={warning}>{explainWarning(warning)}</li>
              ))}
            </ul>
          </div>
        )}
        <div class="row">
          <SubmitButton class="primary" busy={busy}>
            {existing ? t('Save and rewrite questions') : t('Create job')}
          </SubmitButton>
          <span class="soft small" aria-live="polite">
            {dryRun.checking
              ? t('Checking…')
              : dryRun.response?.ok
                ? warnings.length > 0
                  ? ''
                  : t('No errors found.')
                : dryRun.response && dryRun.response.error.status !== 400
                  ? dryRun.response.error.message
                  : ''}
          </span>
        </div>
      </form>
    </>
  )

  function change(part: Partial<MandateDraft>) {
    setSubmitError(undefined)
    setDraft((previous) => ({ ...previous, ...part }))
    setTouched((previous) => new Set([...previous, ...Object.keys(part)]))
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<Mandate>(path, { method, body })
    setBusy(false)
    if (!response.ok) return setSubmitError(response.error)
    formDraft.complete()
    navigate(context.pagePath(`/mandates/${response.data.mandate_id}`))
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
