import type { CatalogueSummary, SkillRequestForOperator } from '../../api-types/console.ts'
import './skills.css'
import '../shared/forms.css'
import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { api } from '../shell/api.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { ApproveSkill } from './approve-skill.tsx'
import { Imports } from './imports.tsx'

type OpenDialog = { kind: 'approve' | 'reject'; request: SkillRequestForOperator }

/** Skill requests, catalogue totals and imports. */
export default function OperatorSkills() {
  const catalogue = useData<CatalogueSummary>('/operator/catalogue')
  const [listed, setListed] = useState(false)
  return (
    <>
      <h1>Skills</h1>
      <CatalogueFigures data={catalogue.data} />
      <p>
        <Link class="button" to="/operator/skills/catalogue">
          Browse and edit the catalogue
        </Link>
      </p>
      <Requests onListed={() => setListed(true)} onDecided={() => void catalogue.reload()} />
      {/* Shown after the list above has loaded, so that it does not move. */}
      {listed && <Imports onEnded={() => void catalogue.reload()} />}
    </>
  )
}

function CatalogueFigures({ data }: { data: CatalogueSummary | undefined }) {
  const figures: [string, number | undefined, string][] = [
    ['Master skills', data?.master_skills, 'broad fields'],
    ['Sub-skills', data?.sub_skills, 'groups within a master skill'],
    ['Skills', data?.skills, 'used in mandates and verifications'],
    ['Verifiable skills', data?.verifiable, 'can be verified with questions'],
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
          ? `Version ${data.version}. Sources: ${data.sources.map(({ source, skills }) => `${source} (${skills.toLocaleString()} skills)`).join(', ') || 'none recorded'}.`
          : '\u00a0'}
      </p>
    </section>
  )
}

function Requests({ onListed, onDecided }: { onListed: () => void; onDecided: () => void }) {
  const { query } = useAddress()
  const status = query.get('status') ?? 'pending'
  const list = useList<SkillRequestForOperator>(`/operator/skill-requests?status=${status}`)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [notice, setNotice] = useState('')
  const isListed = list.items !== undefined || list.error !== undefined
  useEffect(() => {
    if (isListed) onListed()
  }, [isListed])
  const close = () => setDialog(undefined)
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
      {notice && <Notice kind="good">{notice}</Notice>}
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Skill requests, oldest first"
        rows={list.items}
        keyOf={({ request_id }) => request_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{status === 'pending' ? 'No skill requests.' : 'No request has this status.'}</p>}
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
            name: 'Requested by',
            cell: ({ org_id, org_name, mode }) => <Link to={`/${org_id}/${mode}`}>{org_name}</Link>,
          },
          { name: 'Mode', cell: ({ mode }) => mode },
          { name: 'Requested', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Actions',
            cell: (request) =>
              request.status === 'pending' ? (
                <span class="row">
                  <button
                    type="button"
                    class="small-button"
                    aria-label={`Approve ${request.name}`}
                    onClick={() => setDialog({ kind: 'approve', request })}
                  >
                    Approve
                  </button>
                  <button
                    type="button"
                    class="small-button"
                    aria-label={`Reject ${request.name}`}
                    onClick={() => setDialog({ kind: 'reject', request })}
                  >
                    Reject
                  </button>
                </span>
              ) : request.skill_id ? (
                <Link to={`/operator/skills/catalogue/${request.skill_id}`}>{request.skill_id}</Link>
              ) : (
                (request.rejection_reason ?? '–')
              ),
          },
        ]}
      />
      {dialog?.kind === 'approve' && (
        <ApproveSkill request={dialog.request} onClose={close} onApproved={(text) => onRequestDecided(text)} />
      )}
      {dialog?.kind === 'reject' && (
        <RejectSkill
          request={dialog.request}
          onClose={close}
          onRejected={() => onRequestDecided(`“${dialog.request.name}” was rejected; the partner receives an event.`)}
        />
      )}
    </section>
  )

  function onRequestDecided(text: string) {
    setNotice(text)
    onDecided()
    void list.reload()
  }
}

interface RejectProps {
  request: SkillRequestForOperator
  onClose: () => void
  onRejected: () => void
}

/** Rejects a request, with a reason that the partner sees. */
function RejectSkill({ request, onClose, onRejected }: RejectProps) {
  const [reason, setReason] = useState('')
  return (
    <Confirm
      title={`Reject “${request.name}”?`}
      action="Reject"
      onClose={onClose}
      act={() =>
        api(`/operator/skill-requests/${request.request_id}/reject`, {
          body: reason.trim() ? { reason: reason.trim() } : {},
        })
      }
      onDone={onRejected}
    >
      <p>
        Mandates that are waiting for this skill continue without it. The partner receives the event{' '}
        <code>skill_request.resolved</code>.
      </p>
      <Field
        id="rejection-reason"
        label="Reason (optional)"
        hint="The partner sees it in the request and in the event."
      >
        {(attributes) => (
          <textarea
            {...attributes}
            maxLength={500}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}
