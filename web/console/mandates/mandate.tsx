import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import '../shared/forms.css'
import { ReadOnly } from '../shared/created-via.tsx'
import { methodNames } from '../shared/labels.ts'
import type { Mandate, Workflow } from '../shared/records.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { PreparedQuestions } from './prepared-questions.tsx'
import { namesOf } from './skill-names.ts'

/** How often it is looked whether the questions are there. */
const SOON = 700

export default function MandatePage({ params }: { params: Params }) {
  const place = usePlace()
  const path = place.at(`/mandates/${params.mandate_id}`)
  const [preparing, setPreparing] = useState(true)
  const { data, refusal, reload } = useData<Mandate>(path, { every: preparing ? SOON : undefined })
  const workflow = useData<Workflow>(data && place.at(`/workflows/${data.workflow_id}`))
  const names = useNames(data?.skills)
  const [archiving, setArchiving] = useState(false)
  const [refused, setRefused] = useState<Refusal>()
  useEffect(() => setPreparing(data === undefined || data.status === 'preparing'), [data?.status])

  const up = <Link to={place.go('/mandates')}>Mandates</Link>
  if (refusal) {
    return (
      <>
        <p>{up}</p>
        <Notice kind="bad">{refusal.message}</Notice>
      </>
    )
  }
  if (!data || !names) return <h1 class="waiting">A job's title</h1>
  const changeable = data.created_via === 'playground' && data.status !== 'archived' && place.may('recruiter')
  return (
    <>
      <p>{up}</p>
      <div class="page-head">
        <h1>
          {data.title} <Badge state={data.status} />
        </h1>
        <div class="row">
          {data.status === 'ready' && place.may('recruiter') && (
            <Link class="button primary" to={place.go(`/campaigns/new?mandate_id=${data.mandate_id}`)}>
              New campaign
            </Link>
          )}
          {changeable && (
            <>
              {data.status !== 'preparing' && (
                <Link class="button" to={place.go(`/mandates/${data.mandate_id}/edit`)}>
                  Edit
                </Link>
              )}
              {data.status === 'failed' && (
                <button type="button" onClick={() => void retry()}>
                  Prepare again
                </button>
              )}
              <button type="button" onClick={() => setArchiving(true)}>
                Archive
              </button>
            </>
          )}
        </div>
      </div>
      {refused && <Notice kind="bad">{refused.message}</Notice>}
      {data.created_via === 'api' && <ReadOnly what="mandate" />}
      {data.status === 'failed' && (
        <Notice kind="bad">The questions could not be written: {data.failure ?? 'no reason was given'}</Notice>
      )}
      {data.status === 'preparing' && <Notice kind="wait">Questions are being written. This takes a moment…</Notice>}
      {data.warnings.map((warning) => (
        <p class="aside-note small" key={warning}>
          {warning}
        </p>
      ))}
      <Facts>
        <Fact name="Company">{data.company_name}</Fact>
        <Fact name="Place">{placeOf(data)}</Fact>
        <Fact name="Skills">
          <Skills skills={data.skills} names={names} />
        </Fact>
        <Fact name="Asks for">{methodNames(data.methods)}</Fact>
        <Fact name="Workflow">
          <Link to={place.go(`/workflows/${data.workflow_id}`)}>{workflow.data?.name ?? data.workflow_id}</Link>
        </Fact>
        {data.experience && (
          <Fact name="Experience">
            {data.experience.min_years} to {data.experience.max_years} years
          </Fact>
        )}
        {data.salary && (
          <Fact name="Salary">
            ₹{data.salary.min?.toLocaleString('en-IN')} to ₹{data.salary.max?.toLocaleString('en-IN')} a month
          </Fact>
        )}
        {data.openings && <Fact name="Openings">{data.openings.toLocaleString()}</Fact>}
        {(data.shift || data.employment_type) && (
          <Fact name="Work">{[data.employment_type, data.shift].filter(Boolean).join(', ').replaceAll('_', ' ')}</Fact>
        )}
        {data.description && <Fact name="Description">{data.description}</Fact>}
        <Fact name="Id">
          <code>{data.mandate_id}</code>
          {data.job_id && (
            <>
              {' '}
              · yours: <code>{data.job_id}</code>
            </>
          )}
        </Fact>
        <Fact name="Version">{data.flow_version}</Fact>
        <Fact name="Changed">
          <Time at={data.updated_at} />
        </Fact>
        <Fact name="Results">
          <Link to={place.go(`/results?mandate_id=${data.mandate_id}`)}>Results for this job</Link>
        </Fact>
      </Facts>
      {data.questions && (
        <PreparedQuestions
          questions={data.questions}
          languages={workflow.data?.languages ?? ['en']}
          knockouts={new Map(data.enrichment_questions?.map(({ key, knockout }) => [key, knockout]))}
        />
      )}
      {archiving && (
        <Confirm
          title={`Archive “${data.title}”?`}
          action="Archive the mandate"
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>No new campaign can be made for it. Results stay; nothing is erased.</p>
        </Confirm>
      )}
    </>
  )

  async function retry() {
    const answer = await api(`${path}/retry`, { method: 'POST' })
    setRefused(answer.ok ? undefined : answer.refusal)
    await reload()
  }
}

function placeOf({ location_type, location, countries }: Mandate): string {
  if (location_type === 'abroad') {
    const names = new Intl.DisplayNames('en', { type: 'region' })
    return (countries ?? []).map((code) => names.of(code)).join(', ')
  }
  return location ? [location.city, location.state, location.pincode].filter(Boolean).join(', ') : 'India'
}

function Skills({ skills, names }: { skills: Mandate['skills']; names: Map<string, string> }) {
  return (
    <ul class="chips">
      {skills.map((skill) => {
        const id = 'skill_id' in skill ? skill.skill_id : skill.name
        return (
          <li key={id} class="tag">
            {names.get(id) ?? id}
            {'pending' in skill ? ' (asked for)' : skill.verify ? ': verify' : ''}
          </li>
        )
      })}
    </ul>
  )
}

/** The names of a mandate's skills, once they are known. */
function useNames(skills: Mandate['skills'] | undefined): Map<string, string> | undefined {
  const place = usePlace()
  const [names, setNames] = useState<Map<string, string>>()
  const ids = skills?.flatMap((skill) => ('skill_id' in skill ? [skill.skill_id] : []))
  useEffect(() => {
    if (ids) void namesOf(place, ids).then(setNames)
  }, [ids?.join()])
  return names
}
