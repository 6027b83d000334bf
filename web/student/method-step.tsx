import { useState } from 'preact/hooks'
import type { StoredVerificationMethod, VerificationMethod, VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import { NotAssessableNotice } from './not-assessable-notice.tsx'
import type { SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  call: SessionCall
  pageTexts: StudentTexts
  onDone: (change: Partial<VerificationSession>) => void
  onBack: () => void
}

export function MethodStep({ session, call, pageTexts, onDone, onBack }: Props) {
  const [method, setMethod] = useState<VerificationMethod | null>(session.verificationMethod)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  /** The stored choice, while the student reads which skills cannot be assessed. */
  const [stored, setStored] = useState<Partial<VerificationSession>>()
  const choices: [VerificationMethod, string, string][] = [
    ['human', pageTexts.human, pageTexts.humanHint],
    ['assessment', pageTexts.assessment, pageTexts.assessmentHint],
  ]

  return (
    <StepFrame
      title={pageTexts.methodTitle}
      pageTexts={pageTexts}
      error={error}
      busy={busy}
      next={pageTexts.next}
      canContinue={method !== null}
      onNext={store}
      onBack={onBack}
    >
      <fieldset>
        <legend class="hidden-text">{pageTexts.methodTitle}</legend>
        <div class="choices">
          {choices.map(([value, title, hint]) => (
            <label class="choice tall" key={value}>
              <input type="radio" name="method" checked={method === value} onChange={() => choose(value)} />
              <span>
                <strong>{title}</strong>
                <span class="soft small hint">{hint}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {(stored || method === session.verificationMethod) && (
        <NotAssessableNotice session={{ ...session, ...stored }} pageTexts={pageTexts} />
      )}
    </StepFrame>
  )

  function choose(value: VerificationMethod) {
    setMethod(value)
    setError(undefined)
    setStored(undefined)
  }

  async function store() {
    // The student has read which skills cannot be assessed, and continues.
    if (stored) return onDone(stored)
    setBusy(true)
    setError(undefined)
    const result = await call<StoredVerificationMethod>(paths.storeMethod, {
      body: { serviceVerificationId: session.serviceVerificationId, verificationMethod: method },
    })
    setBusy(false)
    if (!result.ok) return setError(errorText(pageTexts, result))
    const { notAssessable = [] } = result.data
    const change = { verificationMethod: method, notAssessable }
    if (notAssessable.every((id) => session.notAssessable?.includes(id))) return onDone(change)
    setStored(change)
  }
}
