import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { Fault } from '../shared/field-error.tsx'
import type { MandateSkill, Page } from '../shared/records.ts'
import { SearchBox } from '../shared/search-box.tsx'
import { api, type Refusal } from '../shell/api.ts'
import { usePlace } from '../shell/session.ts'
import { lookUp, type Skill } from './skill-names.ts'

interface Props {
  skills: MandateSkill[]
  /** Text in which skills may be named. */
  description: string
  fault: (path: string) => string | undefined
  onChange: (skills: MandateSkill[]) => void
}

const MOST_VERIFIED = 3

function idOf(skill: MandateSkill): string {
  return 'skill_id' in skill ? skill.skill_id : skill.name
}

/** The skills that a job needs, found while typing; up to three of them are verified with questions. */
export function SkillsEditor({ skills, description, fault, onChange }: Props) {
  const place = usePlace()
  const [known, setKnown] = useState<Map<string, Skill>>(new Map())
  const [proposed, setProposed] = useState<Skill[]>()
  const [refusal, setRefusal] = useState<Refusal>()
  const ids = skills.flatMap((skill) => ('skill_id' in skill ? [skill.skill_id] : []))
  const unknown = ids.filter((id) => !known.has(id))
  useEffect(() => {
    if (unknown.length > 0) void lookUp(place, unknown).then(remember)
  }, [unknown.join()])
  const chosen = new Set(skills.map(idOf))
  const verified = skills.filter((skill) => 'skill_id' in skill && skill.verify).length

  return (
    <fieldset class="card stack">
      <legend class="card-legend">Skills</legend>
      <SearchBox<Skill>
        id="skill-search"
        label="Add a skill"
        placeholder="Type three letters: wiring, forklift, bricklaying"
        shortest={3}
        find={search}
        keyOf={({ skill_id }) => skill_id}
        show={({ name, master_skill, verifiable }) => (
          <>
            {name}{' '}
            <span class="soft small">
              {master_skill?.name}
              {verifiable ? '' : ' · cannot be verified'}
            </span>
          </>
        )}
        onChoose={add}
        otherwise={(query, found, clear) =>
          found.some(({ name }) => name.toLowerCase() === query.toLowerCase()) ? null : (
            <p>
              {found.length === 0 ? `The catalogue has no “${query}”.` : `None of these is “${query}”?`}{' '}
              <button type="button" class="plain flush" onClick={() => void ask(query, clear)}>
                Ask for it to be added
              </button>
            </p>
          )
        }
      />
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
      {description.trim() && (
        <p>
          <button type="button" class="small-button" onClick={() => void propose()}>
            Find skills in the description
          </button>
        </p>
      )}
      {proposed && (
        <div class="stack-tight">
          <p class="soft small">
            {proposed.length === 0 ? 'No skill of the catalogue is named there.' : 'Named in the description:'}
          </p>
          <ul class="chips">
            {proposed
              .filter(({ skill_id }) => !chosen.has(skill_id))
              .map((skill) => (
                <li key={skill.skill_id}>
                  <button type="button" class="small-button" onClick={() => add(skill)}>
                    + {skill.name}
                  </button>
                </li>
              ))}
          </ul>
        </div>
      )}
      {skills.length === 0 ? (
        <p class="soft small">Five to ten are recommended. The first you add are the first that are asked about.</p>
      ) : (
        <ul class="chosen">
          {skills.map((skill, index) => {
            const id = idOf(skill)
            const name = known.get(id)?.name ?? id
            const verifiable = known.get(id)?.verifiable ?? false
            const on = 'skill_id' in skill && skill.verify === true
            return (
              <li key={id}>
                <div class="row between">
                  <span>
                    {name} {'pending' in skill && <span class="tag">asked for</span>}
                  </span>
                  <span class="row">
                    {'skill_id' in skill && (
                      <label class="check">
                        <input
                          type="checkbox"
                          checked={on}
                          disabled={!on && (!verifiable || verified >= MOST_VERIFIED)}
                          aria-label={verifiable ? `Verify ${name}` : `Cannot be verified: ${name}`}
                          onChange={() => verify(index, !on)}
                        />
                        {verifiable ? 'Verify' : 'Cannot be verified'}
                      </label>
                    )}
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={`Remove ${name}`}
                      onClick={() => onChange(skills.filter((_, at) => at !== index))}
                    >
                      Remove
                    </button>
                  </span>
                </div>
                <Fault text={fault(`skills[${index}]`)} />
              </li>
            )
          })}
        </ul>
      )}
      <p class="soft small">
        {verified} of {MOST_VERIFIED} verified: candidates answer three questions on each of those.
      </p>
      {skills.every((_, index) => !fault(`skills[${index}]`)) && <Fault text={fault('skills')} />}
    </fieldset>
  )

  function remember(found: Skill[]) {
    setKnown((before) => new Map([...before, ...found.map((skill) => [skill.skill_id, skill] as const)]))
  }

  async function search(query: string): Promise<Skill[]> {
    const answer = await api<Page<Skill>>(place.at(`/skills/search?limit=12&q=${encodeURIComponent(query)}`))
    return answer.ok ? answer.data.items.filter(({ skill_id }) => !chosen.has(skill_id)) : []
  }

  function add(skill: Skill) {
    remember([skill])
    const verify = skill.verifiable && verified < MOST_VERIFIED
    onChange([...skills, { skill_id: skill.skill_id, verify }])
  }

  function verify(index: number, on: boolean) {
    onChange(skills.map((skill, at) => (at === index && 'skill_id' in skill ? { ...skill, verify: on } : skill)))
  }

  async function propose() {
    const answer = await api<{ skills: { skill_id: string }[] }>(place.at('/skills/extract'), {
      body: { text: description, limit: 12 },
    })
    setRefusal(answer.ok ? undefined : answer.refusal)
    if (!answer.ok) return
    const found = await lookUp(
      place,
      answer.data.skills.map(({ skill_id }) => skill_id),
    )
    remember(found)
    setProposed(found)
  }

  async function ask(name: string, clear: () => void) {
    const answer = await api<{ name: string; status: string; skill_id: string | null }>(place.at('/skill-requests'), {
      body: { name },
    })
    setRefusal(answer.ok ? undefined : answer.refusal)
    if (!answer.ok) return
    const { skill_id } = answer.data
    onChange([...skills, skill_id ? { skill_id } : { name: answer.data.name, pending: true }])
    clear()
  }
}
