import { useState } from 'preact/hooks'
import type {
  ApprovedSkill,
  SimilarSkillList,
  SkillRequestForOperator,
  SubSkillChoice,
  SubSkillChoiceList,
} from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { SearchBox } from '../shared/search-box.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'

interface Props {
  request: SkillRequestForOperator
  onClose: () => void
  onApproved: (text: string) => void
}

/** Approves a requested skill: as an existing skill, or as a new one below a chosen sub-skill. */
export function ApproveSkill({ request, onClose, onApproved }: Props) {
  const similar = useData<SimilarSkillList>(`/operator/skill-requests/${request.request_id}/similar-skills`)
  const [subSkill, setSubSkill] = useState<SubSkillChoice>()
  const [verifiable, setVerifiable] = useState(false)
  const [description, setDescription] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = (path: string) => error?.details.find((detail) => detail.path === path)?.message
  return (
    <Dialog title={t('Approve “{name}”', { name: request.name })} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void approve(event)}>
        {error && (
          <Notice kind="bad">
            {fieldError('sub_skill_id')
              ? t('Sub-skill {problem}.', { problem: fieldError('sub_skill_id') })
              : error.message}
          </Notice>
        )}
        {request.context && <p class="soft">{t('Requested for: {context}', { context: request.context })}</p>}
        {similar.data && similar.data.items.length > 0 && (
          <>
            <section class="stack-tight" aria-label={t('Similar skills')}>
              <h3>{t('Similar skills')}</h3>
              <p class="soft small">{t('If the request means one of these, approve it as the same skill.')}</p>
              <ul class="similar-skills">
                {similar.data.items.map(({ skill_id, name, sub_skill }) => (
                  <li key={skill_id} class="row">
                    <button
                      type="button"
                      class="small-button"
                      disabled={busy}
                      onClick={() => void send({ same_as: skill_id })}
                    >
                      {t('Same as {name}', { name })}
                    </button>
                    <span class="soft small">
                      {skill_id} · {sub_skill.name}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
            <h3>{t('New skill')}</h3>
          </>
        )}
        <SearchBox<SubSkillChoice>
          id="sub-skill"
          label={t('Sub-skill')}
          hint={t('The group of the catalogue to which the skill belongs.')}
          placeholder={t('For example: masonry')}
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
        <Field id="skill-description" label={t('Description (optional)')} error={fieldError('description')}>
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
          {t('Often required: rank it higher in searches')}
        </label>
        <SubmitButton class="primary" busy={busy} ready={Boolean(subSkill)}>
          {t('Approve')}
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
    await send({
      sub_skill_id: subSkill!.sub_skill_id,
      verifiable,
      ...(description.trim() ? { description: description.trim() } : {}),
    })
  }

  async function send(body: { same_as: string } | { sub_skill_id: string; verifiable: boolean; description?: string }) {
    setBusy(true)
    const response = await api<ApprovedSkill>(`/operator/skill-requests/${request.request_id}/approve`, { body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    const { skill_id, name, resolved } = response.data
    const values = { requested: request.name, name, skillId: skill_id, count: resolved.length }
    const resolvesMore = resolved.length > 1
    onClose()
    onApproved(
      'same_as' in body
        ? t(
            resolvesMore
              ? 'Approved: “{requested}” means {name} ({skillId}); {count} requests resolved.'
              : 'Approved: “{requested}” means {name} ({skillId}).',
            values,
          )
        : t(
            resolvesMore
              ? 'Approved: added “{name}” as {skillId}; {count} requests resolved.'
              : 'Approved: added “{name}” as {skillId}.',
            values,
          ),
    )
  }
}
