import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { ReadOnly } from '../shared/created-via.tsx'
import { Fact, Facts } from '../shared/description-list.tsx'
import { CHANNELS, LANGUAGES, METHODS } from '../shared/labels.ts'
import type { Workflow } from '../shared/records.ts'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export default function WorkflowPage({ params }: { params: Params }) {
  const place = usePlace()
  const path = place.at(`/workflows/${params.workflow_id}`)
  const { data, refusal, reload } = useData<Workflow>(path)
  const [archiving, setArchiving] = useState(false)
  const up = <Link to={place.go('/workflows')}>Workflows</Link>
  if (refusal) {
    return (
      <>
        <p>{up}</p>
        <Notice kind="bad">{refusal.message}</Notice>
      </>
    )
  }
  const changeable = data?.created_via === 'playground' && data.status === 'active' && place.may('recruiter')
  return (
    <>
      <p>{up}</p>
      <div class="page-head">
        <h1>
          {data ? data.name : <span class="waiting">A workflow's name</span>} {data && <Badge state={data.status} />}
        </h1>
        {data && place.may('recruiter') && (
          <div class="row">
            {data.status === 'active' && (
              <Link class="button primary" to={place.go(`/mandates/new?workflow_id=${data.workflow_id}`)}>
                New mandate
              </Link>
            )}
            {changeable && (
              <>
                <Link class="button" to={place.go(`/workflows/${data.workflow_id}/edit`)}>
                  Edit
                </Link>
                <button type="button" onClick={() => setArchiving(true)}>
                  Archive
                </button>
              </>
            )}
          </div>
        )}
      </div>
      {data?.created_via === 'api' && <ReadOnly what="workflow" />}
      {data && (
        <>
          {data.description && <p>{data.description}</p>}
          <Facts>
            <Fact name="Asks for">
              {data.default_methods.map((method) => `${METHODS[method].name}: ${METHODS[method].about}`).join('; ')}
            </Fact>
            <Fact name="Channels">{data.channels.map((channel) => CHANNELS[channel]).join(', then ')}</Fact>
            <Fact name="Languages">{data.languages.map((language) => LANGUAGES[language]).join(', ')}</Fact>
            <Fact name="Follow-ups">
              {data.follow_ups.length === 0
                ? 'none: who does not answer the first message is not asked again'
                : data.follow_ups
                    .map(({ after_hours, channel }) => `after ${after_hours} h by ${CHANNELS[channel]}`)
                    .join(', ')}
            </Fact>
            <Fact name="Mandates">
              <Link to={place.go(`/mandates?workflow_id=${data.workflow_id}`)}>{data.mandates}</Link>
            </Fact>
            <Fact name="Id">
              <code>{data.workflow_id}</code>
            </Fact>
            <Fact name="Made">
              <Time at={data.created_at} />
            </Fact>
            <Fact name="Changed">
              <Time at={data.updated_at} />
            </Fact>
          </Facts>
        </>
      )}
      {archiving && data && (
        <Confirm
          title={`Archive “${data.name}”?`}
          action="Archive the workflow"
          onClose={() => setArchiving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void reload()}
        >
          <p>No new mandate can use it. Nothing is erased, but it cannot be made active again.</p>
        </Confirm>
      )}
    </>
  )
}
