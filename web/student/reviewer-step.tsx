import { useState } from 'preact/hooks'
import type { EndorsementType, Reviewer, VerificationSession } from '../api-types/verification.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import type { SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onDone: (change: Partial<VerificationSession>) => void
  onBack?: (() => void) | undefined
}

interface Draft {
  name: string
  email: string
  company: string
  website: string
  phone: string
  relation: EndorsementType
}

const TEXT_FIELDS = [
  ['name', 'text', 'off'],
  ['email', 'email', 'off'],
  ['company', 'text', 'off'],
  ['website', 'url', 'off'],
  ['phone', 'tel', 'off'],
] as const

export function ReviewerStep({ session, token, call, pageTexts, onDone, onBack }: Props) {
  const draftKey = `reviewer ${session.serviceVerificationId}`
  const [draft, setDraft] = useState<Draft>(() => ({
    name: session.reviewer?.name ?? '',
    email: session.reviewer?.email ?? '',
    company: session.reviewer?.company ?? '',
    website: session.reviewer?.website ?? '',
    phone: session.reviewer?.phone ?? '',
    relation: session.endorsementType,
    ...readDraft<Draft>(draftKey),
  }))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const isReadOnly = session.status === 'pending_review'

  return (
    <StepFrame
      title={pageTexts.reviewerTitle}
      hint={pageTexts.reviewerHint}
      pageTexts={pageTexts}
      error={error}
      busy={busy}
      next={pageTexts.sendReview}
      canContinue={Boolean(draft.name.trim() && draft.email.trim() && draft.company.trim())}
      onNext={store}
      onBack={onBack}
    >
      {!isReadOnly && (
        <fieldset>
          <legend>{pageTexts.relation}</legend>
          <div class="choices relations">
            {(Object.entries(pageTexts.relations) as [EndorsementType, string][]).map(([value, label]) => (
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
      {TEXT_FIELDS.map(([field, type, autocomplete]) => (
        <label key={field}>
          {pageTexts[field]}
          <input
            type={type as 'text'}
            autoComplete={autocomplete}
            aria-describedby={field === 'phone' ? 'phone-hint' : undefined}
            value={draft[field]}
            maxLength={field === 'email' ? 254 : field === 'phone' ? 40 : 200}
            onInput={(event) => change({ ...draft, [field]: event.currentTarget.value })}
          />
        </label>
      ))}
      <p class="soft small" id="phone-hint">
        {pageTexts.phoneHint}
      </p>
    </StepFrame>
  )

  function change(next: Draft) {
    setDraft(next)
    setError(undefined)
    saveDraft(draftKey, next)
  }

  async function store() {
    setBusy(true)
    setError(undefined)
    const failedCall = await storeAll()
    setBusy(false)
    if (failedCall) setError(isPhoneError(failedCall) ? pageTexts.invalidPhone : errorText(pageTexts, failedCall))
  }

  async function storeAll() {
    if (!isReadOnly && draft.relation !== session.endorsementType) {
      const skills = session.skills.map(({ skillId, proofUrl }) => ({ skillId, proofUrl }))
      const storedSkills = await call(paths.storeSkills, {
        body: { sessionToken: token, skills, endorsementType: draft.relation },
      })
      if (!storedSkills.ok) return storedSkills
    }
    const result = await call<Reviewer>(paths.storeReviewer, {
      body: {
        serviceVerificationId: session.serviceVerificationId,
        name: draft.name.trim(),
        email: draft.email.trim(),
        company: draft.company.trim(),
        ...(draft.website.trim() ? { website: draft.website.trim() } : {}),
        ...(draft.phone.trim() ? { phone: withoutSeparators(draft.phone) } : {}),
      },
    })
    if (!result.ok) return result
    deleteDraft(draftKey)
    onDone({ reviewer: result.data, endorsementType: draft.relation, status: 'pending_review' })
    return undefined
  }
}

/** Removes the spaces, hyphens and brackets with which people write phone numbers. */
function withoutSeparators(phone: string): string {
  return phone.replace(/[\s().-]/g, '')
}

function isPhoneError({ code, message }: { code: string; message: string }): boolean {
  return code === 'VALIDATION_FAILED' && message.startsWith('phone:')
}
