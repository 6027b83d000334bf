import type { CatalogueSummary, SkillRequestForOperator } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import './skills.css'
import '../shared/forms.css'
import { useEffect, useState } from 'preact/hooks'
import { Badge, stateText } from '../../ui/badge.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { MODE_NAMES } from '../shared/labels.ts'
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
      <h1>{t('Skills')}</h1>
      <CatalogueFigures data={catalogue.data} />
      <p>
        <Link class="button" to="/operator/skills/catalogue">
          {t('Browse and edit the catalogue')}
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
    [t('Master skills'), data?.master_skills, t('broad fields')],
    [t('Sub-skills'), data?.sub_skills, t('groups within a master skill')],
    [t('Skills'), data?.skills, t('used in jobs and verifications')],
    [t('Verifiable skills'), data?.verifiable, t('can be verified with questions')],
  ]
  return (
    <section class="stack-tight" aria-label={t('Catalogue')}>
      <ul class="figures">
        {figures.map(([name, value, hint]) => (
          <li key={name} class="card figure">
            <span class="soft small">{name}</span>
            <strong>
              {value === undefined ? <span class="waiting">0000</span> : value.toLocaleString(displayLocale())}
            </strong>
            <span class="soft small">{hint}</span>
          </li>
        ))}
      </ul>
      <p class="soft small">
        {data
          ? t('Version {version}. Sources: {sources}.', {
              version: data.version,
              sources: data.sources.map(sourceText).join(', ') || t('none recorded'),
            })
          : '\u00a0'}
      </p>
    </section>
  )
}

function sourceText({ source, skills }: CatalogueSummary['sources'][number]): string {
  return t('{source} ({count} skills)', { source, count: skills.toLocaleString(displayLocale()) })
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
    <section class="stack" aria-label={t('Requests')}>
      <h2>{t('Requests')}</h2>
      <div class="row filters">
        <label>
          {t('Status')}
          <select
            value={status}
            onChange={(event) => {
              const { value } = event.currentTarget
              setQuery({ status: value === 'pending' ? undefined : value })
            }}
          >
            {['pending', 'approved', 'rejected', 'duplicate', 'all'].map((each) => (
              <option key={each} value={each}>
                {each === 'all' ? t('all') : stateText(each)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {notice && <Notice kind="good">{notice}</Notice>}
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Skill requests, oldest first')}
        rows={list.items}
        keyOf={({ request_id }) => request_id}
        loadMore={list.more}
        loading={list.loading}
        empty={<p class="soft">{status === 'pending' ? t('No skill requests.') : t('No request has this status.')}</p>}
        columns={[
          {
            name: t('Skill'),
            cell: ({ name, context }) => (
              <>
                <strong>{name}</strong>
                {context && <div class="soft small">{context}</div>}
              </>
            ),
          },
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          {
            name: t('Requested by'),
            cell: ({ org_id, org_name, mode }) => <Link to={`/${org_id}/${mode}`}>{org_name}</Link>,
          },
          { name: t('Mode'), cell: ({ mode }) => MODE_NAMES[mode] },
          { name: t('Requested'), cell: ({ created_at }) => <Time at={created_at} /> },
          {
            name: t('Actions'),
            cell: (request) =>
              request.status === 'pending' ? (
                <span class="row">
                  <button
                    type="button"
                    class="small-button"
                    aria-label={t('Approve {name}', { name: request.name })}
                    onClick={() => setDialog({ kind: 'approve', request })}
                  >
                    {t('Approve')}
                  </button>
                  <button
                    type="button"
                    class="small-button"
                    aria-label={t('Reject {name}', { name: request.name })}
                    onClick={() => setDialog({ kind: 'reject', request })}
                  >
                    {t('Reject')}
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
          onRejected={() =>
            onRequestDecided(t('“{name}” was rejected; the partner receives an event.', { name: dialog.request.name }))
          }
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
      title={t('Reject “{name}”?', { name: request.name })}
      action={t('Reject')}
      onClose={onClose}
      act={() =>
        api(`/operator/skill-requests/${request.request_id}/reject`, {
          body: reason.trim() ? { reason: reason.trim() } : {},
        })
      }
      onDone={onRejected}
    >
      <p>
        {richText('Jobs that are waiting for this skill continue without it. The partner receives the event {event}.', {
          event: <code>skill_request.resolved</code>,
        })}
      </p>
      <Field
        id="rejection-reason"
        label={t('Reason (optional)')}
        hint={t('The partner sees it in the request and in the event.')}
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
