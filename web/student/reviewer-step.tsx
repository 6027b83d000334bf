import { useState } from 'preact/hooks'
import { dropDraft, keepDraft, readDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import type { Reviewer, Session, SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { faultText, type Texts } from './texts.ts'

interface Props {
  session: Session
  token: string
  call: SessionCall
  words: Texts
  onDone: (change: Partial<Session>) => void
  onBack?: (() => void) | undefined
}

interface Draft {
  name: string
  email: string
  company: string
  website: string
  relation: string
}

const FIELDS = [
  ['name', 'text', 'off'],
  ['email', 'email', 'off'],
  ['company', 'text', 'off'],
  ['website', 'url', 'off'],
] as const

export function ReviewerStep({ session, token, call, words, onDone, onBack }: Props) {
  const name = `reviewer ${session.serviceVerificationId}`
  const [draft, setDraft] = useState<Draft>(() => ({
    name: session.reviewer?.name ?? '',
    email: session.reviewer?.email ?? '',
    company: session.reviewer?.company ?? '',
    website: session.reviewer?.website ?? '',
    relation: session.endorsementType,
    ...readDraft<Draft>(name),
  }))
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const frozen = session.status === 'pending_review'

  return (
    <StepFrame
      title={words.reviewerTitle}
      hint={words.reviewerHint}
      words={words}
      fault={fault}
      busy={busy}
      next={words.sendReview}
      canGoOn={Boolean(draft.name.trim() && draft.email.trim() && draft.company.trim())}
      onNext={store}
      onBack={onBack}
    >
      {!frozen && (
        <fieldset>
          <legend>{words.relation}</legend>
          <div class="choices relations">
            {Object.entries(words.relations).map(([value, label]) => (
              <label class="choice" key={value}>
                <input
                  type="radio"
                  name="relation"
                  checked={draft.relation === value}
                  onChange={() => change({ ...draft, relation: value })}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {FIELDS.map(([field, type, autocomplete]) => (
        <label key={field}>
          {words[field]}
          <input
            type={type as 'text'}
            autoComplete={autocomplete}
            value={draft[field]}
            maxLength={field === 'email' ? 254 : 200}
            onInput={(event) => change({ ...draft, [field]: event.currentTarget.value })}
          />
        </label>
      ))}
    </StepFrame>
  )

  function change(next: Draft) {
    setDraft(next)
    setFault(undefined)
    keepDraft(name, next)
  }

  async function store() {
    setBusy(true)
    setFault(undefined)
    const failure = await storeAll()
    setBusy(false)
    if (failure) setFault(faultText(words, failure))
  }

  async function storeAll() {
    if (!frozen && draft.relation !== session.endorsementType) {
      const skills = session.skills.map(({ skillId, proofUrl }) => ({ skillId, proofUrl }))
      const related = await call(paths.storeSkills, {
        body: { sessionToken: token, skills, endorsementType: draft.relation },
      })
      if (!related.ok) return related
    }
    const answer = await call<Reviewer>(paths.storeReviewer, {
      body: {
        serviceVerificationId: session.serviceVerificationId,
        name: draft.name.trim(),
        email: draft.email.trim(),
        company: draft.company.trim(),
        ...(draft.website.trim() ? { website: draft.website.trim() } : {}),
      },
    })
    if (!answer.ok) return answer
    dropDraft(name)
    onDone({ reviewer: answer.data, endorsementType: draft.relation, status: 'pending_review' })
    return undefined
  }
}
