import { useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { Page } from '../shared/records.ts'
import { SearchBox } from '../shared/search-box.tsx'
import { api, type Refusal } from '../shell/api.ts'

export interface SkillRequest {
  request_id: string
  org_id: string
  org_name: string
  mode: string
  name: string
  context: string | null
  status: 'pending' | 'approved' | 'rejected' | 'duplicate'
  skill_id: string | null
  created_at: string
}

interface SubSkill {
  sub_skill_id: string
  name: string
  master_skill: { master_skill_id: string; name: string }
}

interface Props {
  request: SkillRequest
  onClose: () => void
  onApproved: (text: string) => void
}

/** Gives a wanted skill its place in the catalogue. */
export function ApproveSkill({ request, onClose, onApproved }: Props) {
  const [sub, setSub] = useState<SubSkill>()
  const [verifiable, setVerifiable] = useState(false)
  const [description, setDescription] = useState('')
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  const fault = (path: string) => refusal?.details.find((detail) => detail.path === path)?.message
  return (
    <Dialog title={`Approve “${request.name}”`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void approve(event)}>
        {refusal && (
          <Notice kind="bad">{fault('sub_skill_id') ? `Sub-skill ${fault('sub_skill_id')}.` : refusal.message}</Notice>
        )}
        {request.context && <p class="soft">Wanted for: {request.context}</p>}
        <SearchBox<SubSkill>
          id="sub-skill"
          label="Where it belongs"
          hint="Search for a sub-skill or its field."
          placeholder="for instance: masonry"
          find={find}
          keyOf={({ sub_skill_id }) => sub_skill_id}
          show={({ name, master_skill }) => (
            <>
              {name} <span class="soft small">{master_skill.name}</span>
            </>
          )}
          onChoose={setSub}
        />
        {sub && (
          <p>
            <span class="tag">
              {sub.master_skill.name} › {sub.name}
            </span>
          </p>
        )}
        <Field id="skill-description" label="What it is (optional)" fault={fault('description')}>
          {(attributes) => (
            <textarea
              {...attributes}
              maxLength={1000}
              value={description}
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          )}
        </Field>
        <label class="check">
          <input type="checkbox" checked={verifiable} onChange={() => setVerifiable(!verifiable)} />
          It can be verified with questions
        </label>
        <Action class="primary" busy={busy} ready={Boolean(sub)}>
          Approve
        </Action>
      </form>
    </Dialog>
  )

  async function find(query: string): Promise<SubSkill[]> {
    const answer = await api<Page<SubSkill>>(`/operator/catalogue/sub-skills?limit=20&q=${encodeURIComponent(query)}`)
    return answer.ok ? answer.data.items : []
  }

  async function approve(event: Event) {
    event.preventDefault()
    setBusy(true)
    const answer = await api<{ skill_id: string; name: string; resolved: string[] }>(
      `/operator/skill-requests/${request.request_id}/approve`,
      {
        body: {
          sub_skill_id: sub!.sub_skill_id,
          verifiable,
          ...(description.trim() ? { description: description.trim() } : {}),
        },
      },
    )
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    const { skill_id, name, resolved } = answer.data
    const others = resolved.length > 1 ? `; ${resolved.length} requests are resolved` : ''
    onClose()
    onApproved(`“${name}” is in the catalogue as ${skill_id}${others}.`)
  }
}
