import { useState } from 'preact/hooks'
import type { SessionSkill, SessionSkills, VerificationSession } from '../api-types/verification.ts'
import { readDraft, saveDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import type { SessionCall } from './session.ts'
import { SkillSearch } from './skill-search.tsx'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'

const MAX_SKILLS = 10

interface Props {
  session: VerificationSession
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onDone: (change: Partial<VerificationSession>) => void
}

export function SkillsStep({ session, token, call, pageTexts, onDone }: Props) {
  const draftKey = `skills ${session.serviceVerificationId}`
  const [skills, setSkills] = useState<SessionSkill[]>(() => readDraft<SessionSkill[]>(draftKey) ?? session.skills)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()

  return (
    <StepFrame
      title={pageTexts.skillsTitle}
      hint={pageTexts.skillsHint}
      pageTexts={pageTexts}
      error={error}
      busy={busy}
      next={pageTexts.next}
      canContinue={skills.length > 0}
      onNext={store}
    >
      {skills.length < MAX_SKILLS ? (
        <SkillSearch
          call={call}
          pageTexts={pageTexts}
          chosen={skills}
          onChoose={(skill) => change([...skills, { ...skill, proofUrl: [] }])}
        />
      ) : (
        <p class="notice">{pageTexts.maxSkillsReached}</p>
      )}
      <section class="stack-tight" aria-label={pageTexts.chosen}>
        <h2>
          {pageTexts.chosen} ({skills.length}/{MAX_SKILLS})
        </h2>
        {skills.length === 0 && <p class="soft">{pageTexts.noneChosen}</p>}
        <ul class="chosen">
          {skills.map((skill) => (
            <ChosenRow
              key={skill.skillId}
              skill={skill}
              pageTexts={pageTexts}
              onChange={(next) => change(skills.map((each) => (each.skillId === skill.skillId ? next : each)))}
              onRemove={() => change(skills.filter((each) => each.skillId !== skill.skillId))}
            />
          ))}
        </ul>
      </section>
    </StepFrame>
  )

  function change(next: SessionSkill[]) {
    setSkills(next)
    setError(undefined)
    saveDraft(draftKey, next)
  }

  async function store() {
    setBusy(true)
    setError(undefined)
    const result = await call<SessionSkills>(paths.storeSkills, {
      body: {
        sessionToken: token,
        skills: skills.map(({ skillId, proofUrl }) => ({ skillId, proofUrl })),
        endorsementType: session.endorsementType,
      },
    })
    setBusy(false)
    if (result.ok) onDone({ skills: result.data.skills })
    else setError(errorText(pageTexts, result))
  }
}

interface RowProps {
  skill: SessionSkill
  pageTexts: StudentTexts
  onChange: (skill: SessionSkill) => void
  onRemove: () => void
}

function ChosenRow({ skill, pageTexts, onChange, onRemove }: RowProps) {
  const [open, setOpen] = useState(skill.proofUrl.length > 0)
  const [text, setText] = useState(skill.proofUrl.join('\n'))
  return (
    <li class="card chosen-row stack-tight">
      <div class="row between">
        <strong>{skill.name}</strong>
        <button type="button" class="plain remove" aria-label={pageTexts.remove(skill.name)} onClick={onRemove}>
          ×
        </button>
      </div>
      {open ? (
        <label class="small">
          {pageTexts.proofLabel(skill.name)}
          <textarea
            rows={2}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value)
              const proofUrl = event.currentTarget.value.split(/\s+/).filter(Boolean)
              onChange({ ...skill, proofUrl })
            }}
          />
        </label>
      ) : (
        <button type="button" class="plain small flush" onClick={() => setOpen(true)}>
          {pageTexts.addProof}
        </button>
      )}
    </li>
  )
}
