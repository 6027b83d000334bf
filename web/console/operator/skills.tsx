import './skills.css'
import '../shared/forms.css'
import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { ApproveSkill, type SkillRequest } from './approve-skill.tsx'
import { Imports } from './imports.tsx'

interface Catalogue {
  version: number | string
  master_skills: number
  sub_skills: number
  skills: number
  verifiable: number
  sources: { source: string; skills: number }[]
}

type Asking = { what: 'approve' | 'reject'; request: SkillRequest }

/** Skills that partners miss, what the catalogue holds, and more for it. */
export default function OperatorSkills() {
  const catalogue = useData<Catalogue>('/operator/catalogue')
  const [listed, setListed] = useState(false)
  return (
    <>
      <h1>Skills</h1>
      <CatalogueFigures data={catalogue.data} />
      <Requests onListed={() => setListed(true)} onDecided={() => void catalogue.reload()} />
      {/* Below a list of any length: it comes when the list is there, and does not jump. */}
      {listed && <Imports onEnded={() => void catalogue.reload()} />}
    </>
  )
}

function CatalogueFigures({ data }: { data: Catalogue | undefined }) {
  const figures: [string, number | undefined, string][] = [
    ['Master skills', data?.master_skills, 'the broad fields'],
    ['Sub-skills', data?.sub_skills, 'groups within them'],
    ['Skills', data?.skills, 'what mandates and students choose from'],
    ['Verifiable', data?.verifiable, 'can be asked about'],
  ]
  return (
    <section class="stack-tight" aria-label="Catalogue">
      <ul class="figures">
        {figures.map(([name, value, hint]) => (
          <li key={name} class="card figure">
            <span class="soft small">{name}</span>
            <strong>{value === undefined ? <span class="waiting">0000</span> : value.toLocaleString()}</strong>
            <span class="soft small">{hint}</span>
          </li>
        ))}
      </ul>
      <p class="soft small">
        {data
          ? `Version ${data.version}. Sources: ${data.sources.map(({ source, skills }) => `${source} ${skills.toLocaleString()}`).join(', ') || 'none recorded'}.`
          : '\u00a0'}
      </p>
    </section>
  )
}

function Requests({ onListed, onDecided }: { onListed: () => void; onDecided: () => void }) {
  const { query } = useAddress()
  const status = query.get('status') ?? 'pending'
  const list = useList<SkillRequest>(`/operator/skill-requests?status=${status}`)
  const [asking, setAsking] = useState<Asking>()
  const [said, setSaid] = useState('')
  const listed = list.items !== undefined || list.refusal !== undefined
  useEffect(() => {
    if (listed) onListed()
  }, [listed])
  const close = () => setAsking(undefined)
  return (
    <section class="stack" aria-label="Requests">
      <h2>Requests</h2>
      <div class="row filters">
        <label>
          Status
          <select
            value={status}
            onChange={(event) => {
              const { value } = event.currentTarget
              setQuery({ status: value === 'pending' ? undefined : value })
            }}
          >
            {['pending', 'approved', 'rejected', 'duplicate', 'all'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {said && <Notice kind="good">{said}</Notice>}
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Skill requests, oldest first"
        rows={list.items}
        keyOf={({ request_id }) => request_id}
        more={list.more}
        loading={list.loading}
        empty={
          <p class="soft">
            {status === 'pending' ? 'Nobody misses a skill: there is nothing to decide.' : 'No such request.'}
          </p>
        }
        columns={[
          {
            name: 'Skill',
            cell: ({ name, context }) => (
              <>
                <strong>{name}</strong>
                {context && <div class="soft small">{context}</div>}
              </>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          {
            name: 'Asked by',
            cell: ({ org_id, org_name, mode }) => <Link to={`/${org_id}/${mode}`}>{org_name}</Link>,
          },
          { name: 'Mode', cell: ({ mode }) => mode },
          { name: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Decide',
            cell: (request) =>
              request.status === 'pending' ? (
                <span class="row">
                  <button
                    type="button"
                    class="small-button"
                    aria-label={`Approve ${request.name}`}
                    onClick={() => setAsking({ what: 'approve', request })}
                  >
                    Approve
                  </button>
                  <button
                    type="button"
                    class="small-button"
                    aria-label={`Reject ${request.name}`}
                    onClick={() => setAsking({ what: 'reject', request })}
                  >
                    Reject
                  </button>
                </span>
              ) : (
                (request.skill_id ?? '–')
              ),
          },
        ]}
      />
      {asking?.what === 'approve' && (
        <ApproveSkill request={asking.request} onClose={close} onApproved={(text) => decided(text)} />
      )}
      {asking?.what === 'reject' && (
        <Confirm
          title={`Reject “${asking.request.name}”?`}
          action="Reject"
          onClose={close}
          act={() => api(`/operator/skill-requests/${asking.request.request_id}/reject`, { method: 'POST' })}
          onDone={() => decided(`“${asking.request.name}” is rejected; the partner is told by an event.`)}
        >
          <p>
            Mandates that wait for it go on without it. The partner gets <code>skill_request.resolved</code>.
          </p>
        </Confirm>
      )}
    </section>
  )

  function decided(text: string) {
    setSaid(text)
    onDecided()
    void list.reload()
  }
}
