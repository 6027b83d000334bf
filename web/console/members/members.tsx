import { useState } from 'preact/hooks'
import type { Member } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { MemberSessions } from './member-sessions.tsx'

const ROLES: [role: Member['role'], name: string, description: string][] = [
  ['viewer', t('viewer'), t('Viewer: can view everything')],
  ['recruiter', t('recruiter'), t('Recruiter: can also run jobs and campaigns')],
  ['owner', t('owner'), t('Owner: can also manage keys, webhooks and the team')],
]

export default function Members() {
  const { org, can, pagePath } = useOrgContext()
  const path = `/orgs/${org.org_id}/members`
  const list = useList<Member>(path)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Member>()
  const [showingSessions, setShowingSessions] = useState<Member>()
  const [error, setError] = useState<ApiError>()
  const [invited, setInvited] = useState('')
  const isOwner = can('owner')

  return (
    <>
      <div class="page-head">
        <h1>{t('Team')}</h1>
        {isOwner && (
          <span class="row">
            <Link to={pagePath('/identity-provider')}>{t('Identity provider')}</Link>
            <button type="button" class="primary" onClick={() => setAdding(true)}>
              {t('Add member')}
            </button>
          </span>
        )}
      </div>
      {invited && <Notice kind="good">{t('Invitation sent to {email}.', { email: invited })}</Notice>}
      {(error ?? list.error) && <Notice kind="bad">{(error ?? list.error)!.message}</Notice>}
      <Table
        caption={t('Members of the organisation')}
        rows={list.items}
        keyOf={({ member_id }) => member_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          <>
            <h2>{t('No members yet')}</h2>
            <p class="soft">
              {t('Add your colleagues by email address. They sign in with an emailed link and need no password.')}
            </p>
          </>
        }
        columns={[
          { name: t('Email'), cell: ({ email, name }) => (name ? `${name} (${email})` : email) },
          {
            name: t('Role'),
            cell: (member) =>
              isOwner ? (
                <select
                  aria-label={t('Role of {email}', { email: member.email })}
                  value={member.role}
                  onChange={(event) => void changeRole(member, event.currentTarget.value)}
                >
                  {ROLES.map(([role, name]) => (
                    <option key={role} value={role}>
                      {name}
                    </option>
                  ))}
                </select>
              ) : (
                ROLES.find(([role]) => role === member.role)![1]
              ),
          },
          { name: t('Added'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Last signed in'), cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
          ...(isOwner
            ? [
                {
                  name: t('Actions'),
                  cell: (member: Member) => (
                    <span class="row">
                      <button
                        type="button"
                        class="plain flush"
                        aria-label={t('Sessions of {email}', { email: member.email })}
                        onClick={() => setShowingSessions(member)}
                      >
                        {t('Sessions')}
                      </button>
                      {member.last_sign_in_at === null && (
                        <button
                          type="button"
                          class="plain flush"
                          aria-label={t('Resend invitation: {email}', { email: member.email })}
                          onClick={() => void invite(member)}
                        >
                          {t('Resend invitation')}
                        </button>
                      )}
                      <button type="button" class="plain flush bad-text" onClick={() => setRemoving(member)}>
                        {t('Remove')}
                      </button>
                    </span>
                  ),
                },
              ]
            : []),
        ]}
      />
      {adding && (
        <AddMember
          path={path}
          onClose={() => setAdding(false)}
          onAdded={(email) => {
            setInvited(email)
            void list.reload()
          }}
        />
      )}
      {showingSessions && (
        <MemberSessions path={path} member={showingSessions} onClose={() => setShowingSessions(undefined)} />
      )}
      {removing && (
        <Dialog title={t('Remove {email}?', { email: removing.email })} onClose={() => setRemoving(undefined)}>
          <p>{t('This member is signed out immediately and loses access to this organisation.')}</p>
          <button type="button" class="danger" onClick={() => void removeMember(removing)}>
            {t('Remove')}
          </button>
        </Dialog>
      )}
    </>
  )

  async function changeRole({ member_id }: Member, role: string) {
    const response = await api(`${path}/${member_id}`, { method: 'PUT', body: { role } })
    setError(response.ok ? undefined : response.error)
    await list.reload()
  }

  async function invite({ member_id, email }: Member) {
    const response = await api(`${path}/${member_id}/invite`, { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    setInvited(response.ok ? email : '')
  }

  async function removeMember({ member_id }: Member) {
    const response = await api(`${path}/${member_id}`, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    setRemoving(undefined)
    await list.reload()
  }
}

function AddMember({
  path,
  onClose,
  onAdded,
}: {
  path: string
  onClose: () => void
  onAdded: (email: string) => void
}) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<string>('recruiter')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldErrorOf = (path: string) => error?.details.find((detail) => detail.path === path)?.message
  return (
    <Dialog title={t('Add member')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void addMember(event)}>
        {error && !fieldErrorOf('email') && !fieldErrorOf('name') && <Notice kind="bad">{error.message}</Notice>}
        <Field
          id="member-email"
          label={t('Email address')}
          hint={t('We email them a link that signs them in. It works once and expires after 7 days.')}
          error={fieldErrorOf('email')}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="email"
              required
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field id="member-name" label={t('Name (optional)')} error={fieldErrorOf('name')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={80}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field id="member-role" label={t('Role')}>
          {(attributes) => (
            <select {...attributes} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
              {ROLES.map(([value, , description]) => (
                <option key={value} value={value}>
                  {description}
                </option>
              ))}
            </select>
          )}
        </Field>
        <SubmitButton class="primary" busy={busy} ready={email.trim() !== ''}>
          {t('Add member')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function addMember(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api(path, { body: { email: email.trim(), ...(name.trim() ? { name } : {}), role } })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onAdded(email.trim())
    onClose()
  }
}
