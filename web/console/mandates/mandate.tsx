import { useEffect, useState } from 'preact/hooks'
import type { Mandate, Workflow } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { DescriptionItem, DescriptionList } from '../shared/description-list.tsx'
import { explainWarning } from '../shared/explain-error.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../shared/forms.css'
import { PublicBankNotice } from '../question-bank/public-bank-notice.tsx'
import { ReadOnly } from '../shared/created-via.tsx'
import { methodNames } from '../shared/labels.ts'
import { Link, type Params, ParentLink } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { PreparedQuestions } from './prepared-questions.tsx'
import { skillNames } from './skill-names.ts'

/** Poll interval while the mandate's questions are being prepared. */
const POLL_INTERVAL_MS = 700

export default function MandatePage({ params }: { params: Params }) {
  const context = useOrgContext()
  const path = context.apiPath(`/mandates/${params.mandate_id}`)
  const [preparing, setPreparing] = useState(true)
  const { data, error, reload } = useData<Mandate>(path, { pollMs: preparing ? POLL_INTERVAL_MS : undefined })
  const workflow = useData<Workflow>(data && context.apiPath(`/workflows/${data.workflow_id}`))
  const namesById = useSkillNames(data?.skills)
  const [archiving, setArchiving] = useState(false)
  const [submitError, setSubmitError] = useState<ApiError>()
  useEffect(() => setPreparing(data === undefined || data.status === 'preparing'), [data?.status])

  const parentLink = <ParentLink to={context.pagePath('/mandates')}>{t('Jobs')}</ParentLink>
  if (error) {
    return (
      <>
        <p>{parentLink}</p>
        <Notice kind="bad">{error.message}</Notice>
      </>
    )
  }
  if (!data || !namesById) return <h1 class="waiting">Job</h1>
  const editable = data.created_via === 'playground' && data.status !== 'archived' && context.can('recruiter')
  return (
    <>
      <p>{parentLink}</p>
      <div class="page-head">
        <h1>
          {data.title} <Badge state={data.status} />
        </h1>
        <div class="row">
          {data.status === 'ready' && context.can('recruiter') && (
            <Link class="button primary" to={context.pagePath(`/campaigns/new?mandate_id=${data.mandate_id}`)}>
              {t('New campaign')}
            </Link>
          )}
          {editable && (
            <>
              {data.status !== 'preparing' && (
                <Link class="button" to={context.pagePath(`/mandates/${data.mandate_id}/edit`)}>
                  {t('Edit')}
                </Link>
              )}
              {data.status === 'failed' && (
                <button type="button" onClick={() => void retry()}>
                  {t('Retry preparation')}
                </button>
              )}
              <button type="button" onClick={() => setArchiving(true)}>
                {t('Archive')}
              </button>
            </>
          )}
        </div>
      </div>
      {submitError && <Notice kind="bad">{submitError.message}</Notice>}
      {data.created_via === 'api' && <ReadOnly noun={t('job')} />}
      {data.status === 'failed' && (
        <Notice kind="bad">{data.failure ?? t('The questions could not be written.')}</Notice>
      )}
      {data.status === 'preparing' && <Notice kind="wait">{t('Writing questions. This takes a moment…')}</Notice>}
      {data.warnings.map((warning) => (
        <p class="aside-note small" key={warning}>
          {explainWarning(warning)}
        </p>
      ))}
      {data.status !== 'archived' && <PublicBankNotice skillIds={verifiedIds(data.skills)} names={namesById} />}
      <DescriptionList>
        <DescriptionItem name={t('Company')}>{data.company_name}</DescriptionItem>
        <DescriptionItem name={t('Location')}>{locationText(data)}</DescriptionItem>
        <DescriptionItem name={t('Skills')}>
          <Skills skills={data.skills} names={namesById} />
        </DescriptionItem>
        <DescriptionItem name={t('Questions')}>{methodNames(data.methods)}</DescriptionItem>
        <DescriptionItem name={t('Workflow')}>
          <Link to={context.pagePath(`/workflows/${data.workflow_id}`)}>{workflow.data?.name ?? data.workflow_id}</Link>
        </DescriptionItem>
        {data.experience && (
          <DescriptionItem name={t('Experience')}>
            {t('{minYears} to {maxYears} years', {
              minYears: data.experience.min_years,
              maxYears: data.experience.max_years,
            })}
          </DescriptionItem>
        )}
        {data.salary && (
          <DescriptionItem name={t('Salary')}>
            {t('₹{min} to ₹{max} per month', {
              min: data.salary.min?.toLocaleString('en-IN'),
              max: data.salary.max?.toLocaleString('en-IN'),
            })}
          </DescriptionItem>
        )}
        {data.openings && (
          <DescriptionItem name={t('Openings')}>{data.openings.toLocaleString(displayLocale())}</DescriptionItem>
        )}
        {(data.shift || data.employment_type) && (
          <DescriptionItem name={t('Employment')}>
            {[data.employment_type, data.shift].filter(Boolean).join(', ').replaceAll('_', ' ')}
          </DescriptionItem>
        )}
        {data.description && <DescriptionItem name={t('Description')}>{data.description}</DescriptionItem>}
        <DescriptionItem name="ID">
          <code>{data.mandate_id}</code>
          {data.job_id && <> · {richText('your ID: {id}', { id: <code>{data.job_id}</code> })}</>}
        </DescriptionItem>
        <DescriptionItem name={t('Version of the questions')}>{data.flow_version}</DescriptionItem>
        <DescriptionItem name={t('Updated')}>
          <Time at={data.updated_at} />
        </DescriptionItem>
        <DescriptionItem name={t('Results')}>
          <Link to={context.pagePath(`/results?mandate_id=${data.mandate_id}`)}>{t('Results for this job')}</Link>
        </DescriptionItem>
      </DescriptionList>
      {data.questions && (
        <PreparedQuestions
          mandate={data}
          questions={data.questions}
          languages={workflow.data?.languages ?? ['en']}
          editPath={editable ? context.pagePath(`/mandates/${data.mandate_id}/edit`) : undefined}
        />
      )}
      {archiving && (
        <Confirm
          title={t('Archive “{title}”?', { title: data.title })}
          action={t('Archive job')}
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>{t('No new campaign can be started for this job. Results and all other data remain available.')}</p>
        </Confirm>
      )}
    </>
  )

  async function retry() {
    const response = await api(`${path}/retry`, { method: 'POST' })
    setSubmitError(response.ok ? undefined : response.error)
    await reload()
  }
}

function locationText({ location_type, location, countries }: Mandate): string {
  if (location_type === 'abroad') {
    const countryNames = new Intl.DisplayNames(displayLocale() ?? 'en', { type: 'region' })
    return (countries ?? []).map((code) => countryNames.of(code)).join(', ')
  }
  return location ? [location.city, location.state, location.pincode].filter(Boolean).join(', ') : t('India')
}

function Skills({ skills, names }: { skills: Mandate['skills']; names: Map<string, string> }) {
  return (
    <ul class="chips">
      {skills.map((skill) => {
        const id = 'skill_id' in skill ? skill.skill_id : skill.name
        return (
          <li key={id} class="tag">
            {names.get(id) ?? id}
            {'pending' in skill ? ` ${t('(requested)')}` : skill.verify ? t(': verify') : ''}
          </li>
        )
      })}
    </ul>
  )
}

function verifiedIds(skills: Mandate['skills']): string[] {
  return skills.flatMap((skill) => ('skill_id' in skill && skill.verify ? [skill.skill_id] : []))
}

/** Returns the names of a mandate's skills; undefined until they are loaded. */
function useSkillNames(skills: Mandate['skills'] | undefined): Map<string, string> | undefined {
  const context = useOrgContext()
  const [names, setNames] = useState<Map<string, string>>()
  const ids = skills?.flatMap((skill) => ('skill_id' in skill ? [skill.skill_id] : []))
  useEffect(() => {
    if (ids) void skillNames(context, ids).then(setNames)
  }, [ids?.join()])
  return names
}
