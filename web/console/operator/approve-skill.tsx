import { useState } from 'preact/hooks'
import type {
  ApprovedSkill,
  SkillRequestForOperator,
  SubSkillChoice,
  SubSkillChoiceList,
} from '../../api-types/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { SearchBox } from '../shared/search-box.tsx'
import { type ApiError, api } from '../shell/api.ts'

interface Props {
  request: SkillRequestForOperator
  onClose: () => void
  onApproved: (text: string) => void
}

/** Adds a requested skill to the catalogue, below a chosen sub-skill. */
export function ApproveSkill({ request, onClose, onApproved }: Props) {
  const [subSkill, setSubSkill] = useState<SubSkillChoice>()
  const [verifiable, setVerifiable] = useState(false)
  const [description, setDescription] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = (path: string) => error?.details.find((detail) => detail.path === path)?.message
  return (
    <Dialog title={`Approve “${request.name}”`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void approve(event)}>
        {error && (
          <Notice kind="bad">
            {fieldError('sub_skill_id') ? `Sub-skill ${fieldError('sub_skill_id')}.` : error.message}
          </Notice>
        )}
        {request.context && <p class="soft">Requested for: {request.context}</p>}
        <SearchBox<SubSkillChoice>
          id="sub-skill"
          label="Sub-skill"
          hint="The group of the catalogue to which the skill belongs."
          placeholder="For example: masonry"
          find={findSubSkills}
          keyOf={({ sub_skill_id }) => sub_skill_id}
          show={({ name, master_skill }) => (
            <>
              {name} <span class="soft small">{master_skill.name}</span>
            </>
          )}
          onChoose={setSubSkill}
        />
        {subSkill && (
          <p>
            <span class="tag">
              {subSkill.master_skill.name} › {subSkill.name}
            </span>
          </p>
        )}
        <Field id="skill-description" label="Description (optional)" error={fieldError('description')}>
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
          Often required: rank it higher in searches
        </label>
        <SubmitButton class="primary" busy={busy} ready={Boolean(subSkill)}>
          Approve
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function findSubSkills(query: string): Promise<SubSkillChoice[]> {
    const response = await api<SubSkillChoiceList>(
      `/operator/catalogue/sub-skills?limit=20&q=${encodeURIComponent(query)}`,
    )
    return response.ok ? response.data.items : []
  }

  async function approve(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<ApprovedSkill>(`/operator/skill-requests/${request.request_id}/approve`, {
      body: {
        sub_skill_id: subSkill!.sub_skill_id,
        verifiable,
        ...(description.trim() ? { description: description.trim() } : {}),
      },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    const { skill_id, name, resolved } = response.data
    const resolvedText = resolved.length > 1 ? `; ${resolved.length} requests resolved` : ''
    onClose()
    onApproved(`Approved: added “${name}” as ${skill_id}${resolvedText}.`)
  }
}
