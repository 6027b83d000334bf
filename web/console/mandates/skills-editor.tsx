import { useEffect, useState } from 'preact/hooks'
import type {
  MandateSkill,
  Skill,
  SkillExtraction,
  SkillRequest,
  SkillSearchResultList,
} from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { PublicBankNotice } from '../question-bank/public-bank-notice.tsx'
import { FieldError } from '../shared/field-error.tsx'
import { SearchBox } from '../shared/search-box.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'
import { lookUpSkills } from './skill-names.ts'

interface Props {
  skills: MandateSkill[]
  /** The job description, which may mention skills. */
  description: string
  errorAt: (path: string) => string | undefined
  onChange: (skills: MandateSkill[]) => void
}

const MAX_VERIFIED_SKILLS = 3

function idOf(skill: MandateSkill): string {
  return 'skill_id' in skill ? skill.skill_id : skill.name
}

/** Editor of the skills that a job needs; up to three are verified with questions. */
export function SkillsEditor({ skills, description, errorAt, onChange }: Props) {
  const context = useOrgContext()
  const [loaded, setLoaded] = useState<Map<string, Skill>>(new Map())
  const [suggested, setSuggested] = useState<Skill[]>()
  const [error, setError] = useState<ApiError>()
  const ids = skills.flatMap((skill) => ('skill_id' in skill ? [skill.skill_id] : []))
  const missingIds = ids.filter((id) => !loaded.has(id))
  useEffect(() => {
    if (missingIds.length > 0) void lookUpSkills(context, missingIds).then(rememberSkills)
  }, [missingIds.join()])
  const selectedIds = new Set(skills.map(idOf))
  const verifiedIds = skills.flatMap((skill) => ('skill_id' in skill && skill.verify ? [skill.skill_id] : []))
  const verifiedCount = verifiedIds.length

  return (
    <fieldset class="card stack">
      <legend class="card-legend">{t('Skills')}</legend>
      <SearchBox<Skill>
        id="skill-search"
        label={t('Add skill')}
        placeholder={t('For example: wiring')}
        minLength={3}
        find={searchSkills}
        keyOf={({ skill_id }) => skill_id}
        show={({ skill_id, name, master_skill, verifiable }) => (
          <>
            {name}{' '}
            <span class="soft small">
              {master_skill?.name}
              {verifiable ? '' : ` · ${t('cannot be verified')}`}
              {selectedIds.has(skill_id) && ` · ✓ ${t('already added')}`}
            </span>
          </>
        )}
        onChoose={addSkill}
        footer={(query, found, clear) =>
          found.some(({ name }) => name.toLowerCase() === query.toLowerCase()) ? null : (
            <p>
              {found.length === 0 ? t('No skill matches “{query}”.', { query }) : t('“{query}” not listed?', { query })}{' '}
              <button type="button" class="plain flush" onClick={() => void requestSkill(query, clear)}>
                {t('Request this skill')}
              </button>
            </p>
          )
        }
      />
      {error && <Notice kind="bad">{error.message}</Notice>}
      {description.trim() && (
        <p>
          <button type="button" class="small-button" onClick={() => void suggestSkills()}>
            {t('Suggest skills from the description')}
          </button>
        </p>
      )}
      {suggested && (
        <div class="stack-tight">
          <p class="soft small">
            {suggested.length === 0
              ? t('The description mentions no skill of the catalogue.')
              : t('Mentioned in the description:')}
          </p>
          <ul class="chips">
            {suggested
              .filter(({ skill_id }) => !selectedIds.has(skill_id))
              .map((skill) => (
                <li key={skill.skill_id}>
                  <button type="button" class="small-button" onClick={() => addSkill(skill)}>
                    {t('Add {name}', { name: skill.name })}
                  </button>
                </li>
              ))}
          </ul>
        </div>
      )}
      {skills.length === 0 ? (
        <p class="soft small">
          {t('Add five to ten skills. Candidates are asked about them in the order in which you add them.')}
        </p>
      ) : (
        <ul class="selected-items">
          {skills.map((skill, index) => {
            const id = idOf(skill)
            const name = loaded.get(id)?.name ?? id
            const verifiable = loaded.get(id)?.verifiable ?? false
            const isVerified = 'skill_id' in skill && skill.verify === true
            return (
              <li key={id}>
                <div class="row between">
                  <span>
                    {name} {'pending' in skill && <span class="tag">{t('requested')}</span>}
                  </span>
                  <span class="row">
                    {'skill_id' in skill && (
                      <label class="check">
                        <input
                          type="checkbox"
                          checked={isVerified}
                          disabled={!isVerified && (!verifiable || verifiedCount >= MAX_VERIFIED_SKILLS)}
                          aria-label={
                            verifiable ? t('Verify {name}', { name }) : t('Cannot be verified: {name}', { name })
                          }
                          onChange={() => setVerified(index, !isVerified)}
                        />
                        {verifiable ? t('Verify') : t('Cannot be verified')}
                      </label>
                    )}
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={t('Remove {name}', { name })}
                      onClick={() => onChange(skills.filter((_, at) => at !== index))}
                    >
                      {t('Remove')}
                    </button>
                  </span>
                </div>
                <FieldError text={errorAt(`skills[${index}]`)} />
              </li>
            )
          })}
        </ul>
      )}
      <p class="soft small">
        {t(
          '{count} of at most {max} skills selected for verification. Candidates answer 4 to 8 questions about each selected skill. A skill cannot be verified if there are fewer than 12 questions about it.',
          { count: verifiedCount, max: MAX_VERIFIED_SKILLS },
        )}
      </p>
      <PublicBankNotice skillIds={verifiedIds} names={new Map([...loaded].map(([id, skill]) => [id, skill.name]))} />
      {skills.every((_, index) => !errorAt(`skills[${index}]`)) && <FieldError text={errorAt('skills')} />}
    </fieldset>
  )

  function rememberSkills(found: Skill[]) {
    setLoaded((previous) => new Map([...previous, ...found.map((skill) => [skill.skill_id, skill] as const)]))
  }

  async function searchSkills(query: string): Promise<Skill[]> {
    const response = await api<SkillSearchResultList>(
      context.apiPath(`/skills/search?limit=12&q=${encodeURIComponent(query)}`),
    )
    return response.ok ? response.data.items : []
  }

  function addSkill(skill: Skill) {
    if (selectedIds.has(skill.skill_id)) return
    rememberSkills([skill])
    const verify = skill.verifiable && verifiedCount < MAX_VERIFIED_SKILLS
    onChange([...skills, { skill_id: skill.skill_id, verify }])
  }

  function setVerified(index: number, on: boolean) {
    onChange(skills.map((skill, at) => (at === index && 'skill_id' in skill ? { ...skill, verify: on } : skill)))
  }

  async function suggestSkills() {
    const response = await api<SkillExtraction>(context.apiPath('/skills/extract'), {
      body: { text: description, limit: 12 },
    })
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    const mentionedSkills = await lookUpSkills(
      context,
      response.data.skills.map(({ skill_id }) => skill_id),
    )
    rememberSkills(mentionedSkills)
    setSuggested(mentionedSkills)
  }

  async function requestSkill(name: string, clear: () => void) {
    const response = await api<SkillRequest>(context.apiPath('/skill-requests'), {
      body: { name },
    })
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    const { skill_id } = response.data
    onChange([...skills, skill_id ? { skill_id } : { name: response.data.name, pending: true }])
    clear()
  }
}
