import { useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { useList } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'

interface Member {
  member_id: string
  email: string
  role: 'owner' | 'recruiter' | 'viewer'
  created_at: string
  last_sign_in_at: string | null
}

const ROLES: [Member['role'], string][] = [
  ['viewer', 'Viewer: reads everything'],
  ['recruiter', 'Recruiter: runs mandates and campaigns'],
  ['owner', 'Owner: also keys, webhooks and people'],
]

export default function Members() {
  const { org, may } = usePlace()
  const path = `/orgs/${org.org_id}/members`
  const list = useList<Member>(path)
  const [adding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Member>()
  const [refusal, setRefusal] = useState<Refusal>()
  const owner = may('owner')

  return (
    <>
      <div class="page-head">
        <h1>People</h1>
        {owner && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add a person
          </button>
        )}
      </div>
      {(refusal ?? list.refusal) && <Notice kind="bad">{(refusal ?? list.refusal)!.message}</Notice>}
      <Table
        caption="People of the organisation"
        rows={list.items}
        keyOf={({ member_id }) => member_id}
        more={list.more}
        loading={list.loading}
        empty={
          <>
            <h2>Nobody but the operator yet</h2>
            <p class="soft">Add colleagues by their mail address: they sign in with a link, without a password.</p>
          </>
        }
        columns={[
          { name: 'Mail', cell: ({ email }) => email },
          {
            name: 'Role',
            cell: (member) =>
              owner ? (
                <select
                  aria-label={`Role of ${member.email}`}
                  value={member.role}
                  onChange={(event) => void change(member, event.currentTarget.value)}
                >
                  {ROLES.map(([role]) => (
                    <option key={role} value={role}>
                      {role}
                    </option>
                  ))}
                </select>
              ) : (
                member.role
              ),
          },
          { name: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Last signed in', cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
          ...(owner
            ? [
                {
                  name: 'Do',
                  cell: (member: Member) => (
                    <button type="button" class="plain flush" onClick={() => setLeaving(member)}>
                      Remove
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {adding && <AddMember path={path} onClose={() => setAdding(false)} onAdded={() => void list.reload()} />}
      {leaving && (
        <Dialog title={`Remove ${leaving.email}?`} onClose={() => setLeaving(undefined)}>
          <p>They are signed out at once and can no longer see this organisation.</p>
          <button type="button" class="danger" onClick={() => void remove(leaving)}>
            Remove
          </button>
        </Dialog>
      )}
    </>
  )

  async function change({ member_id }: Member, role: string) {
    const answer = await api(`${path}/${member_id}`, { method: 'PUT', body: { role } })
    setRefusal(answer.ok ? undefined : answer.refusal)
    await list.reload()
  }

  async function remove({ member_id }: Member) {
    const answer = await api(`${path}/${member_id}`, { method: 'DELETE' })
    setRefusal(answer.ok ? undefined : answer.refusal)
    setLeaving(undefined)
    await list.reload()
  }
}

function AddMember({ path, onClose, onAdded }: { path: string; onClose: () => void; onAdded: () => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<string>('recruiter')
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const fault = refusal?.details.find((detail) => detail.path === 'email')?.message
  return (
    <Dialog title="Add a person" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void add(event)}>
        {refusal && !fault && <Notice kind="bad">{refusal.message}</Notice>}
        <Field id="member-email" label="Mail address" hint="They get a link to sign in with." fault={fault}>
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
        <Field id="member-role" label="Role">
          {(attributes) => (
            <select {...attributes} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
              {ROLES.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Action class="primary" busy={busy} ready={email.trim() !== ''}>
          Add
        </Action>
      </form>
    </Dialog>
  )

  async function add(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api(path, { body: { email: email.trim(), role } })
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onAdded()
    onClose()
  }
}
