import { useState } from 'preact/hooks'
import type { EditableSkill, ListedSkill, SkillMergeEffects } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { SearchBox } from '../shared/search-box.tsx'
import { api } from '../shell/api.ts'

interface Props {
  skill: EditableSkill
  onClose: () => void
  onMerged: (survivor: EditableSkill) => void
}

/** Merges a skill into another one: the operator chooses the skill that survives, reads the effects, and confirms them. */
export function MergeSkill({ skill, onClose, onMerged }: Props) {
  const [effects, setEffects] = useState<SkillMergeEffects>()
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const path = `/operator/catalogue/skills/${skill.skill_id}/merge`
  return (
    <Dialog title={t('Merge “{name}” into another skill', { name: skill.name })} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void merge(event)}>
        <SearchBox<ListedSkill>
          id="merge-into"
          label={t('Skill that survives')}
          hint={t('A name, an alias or an ID. Records can be found by both IDs afterwards.')}
          find={findSkills}
          keyOf={({ skill_id }) => skill_id}
          show={({ skill_id, name, sub_skill }) => (
            <>
              {name}{' '}
              <span class="soft small">
                {skill_id} · {sub_skill.name}
              </span>
            </>
          )}
          onChoose={(choice) => void choose(choice)}
        />
        {error && <Notice kind="bad">{error}</Notice>}
        {effects && (
          <section class="stack-tight" aria-label={t('Effects of the merge')}>
            <h3>
              {effects.skill.name} ({effects.skill.skill_id}) → {effects.into.name} ({effects.into.skill_id})
            </h3>
            <ul>
              {effectTexts(effects).map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </section>
        )}
        <SubmitButton class="primary" busy={busy} ready={Boolean(effects)}>
          {t('Merge skills')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function findSkills(query: string): Promise<ListedSkill[]> {
    const response = await api<{ items: ListedSkill[] }>(
      `/operator/catalogue/skills?limit=20&q=${encodeURIComponent(query)}`,
    )
    return response.ok ? response.data.items.filter(({ skill_id }) => skill_id !== skill.skill_id) : []
  }

  async function choose({ skill_id }: ListedSkill) {
    setError(undefined)
    setEffects(undefined)
    const response = await api<SkillMergeEffects>(`${path}?into=${skill_id}`)
    if (response.ok) setEffects(response.data)
    else setError(response.error.message)
  }

  async function merge(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<EditableSkill>(path, { body: { into: effects!.into.skill_id } })
    setBusy(false)
    if (!response.ok) return setError(response.error.message)
    onMerged(response.data)
  }
}

function effectTexts(effects: SkillMergeEffects): string[] {
  const { skill, into, new_aliases: aliases, earlier_merged_skill_ids: earlier } = effects
  const names = { id: skill.skill_id, survivor: into.name }
  return [
    t('{id} stays valid and means {survivor}.', names),
    ...(earlier.length > 0
      ? [t('So do the skills that were merged into it: {ids}.', { ids: earlier.join(', ') })]
      : []),
    aliases.length > 0 ? t('New aliases: {aliases}', { aliases: aliases.join(', ') }) : t('No new aliases.'),
    t('Records that keep the ID: {mandates} jobs, {sessions} verifications, {selections} selections.', {
      mandates: formatCount(effects.mandates),
      sessions: formatCount(effects.sessions),
      selections: formatCount(effects.selected_skills),
    }),
    t('Questions of organisations that are also asked about {survivor}: {count}', {
      ...names,
      count: formatCount(effects.own_questions),
    }),
    ...(effects.built_in_questions
      ? [t('The questions of the built-in bank are also asked about {survivor}.', names)]
      : []),
    t('Attempts and endorsements of both skills count together. The merge can be undone.'),
  ]
}

function formatCount(count: number): string {
  return count.toLocaleString(displayLocale())
}
