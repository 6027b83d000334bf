import { useState } from 'preact/hooks'
import { paths } from '../paths.ts'
import type { Method, Session, SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { faultText, type Texts } from './texts.ts'

interface Props {
  session: Session
  call: SessionCall
  words: Texts
  onDone: (change: Partial<Session>) => void
  onBack: () => void
}

export function MethodStep({ session, call, words, onDone, onBack }: Props) {
  const [method, setMethod] = useState<Method | null>(session.verificationMethod)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const choices: [Method, string, string][] = [
    ['human', words.human, words.humanHint],
    ['assessment', words.assessment, words.assessmentHint],
  ]

  return (
    <StepFrame
      title={words.methodTitle}
      words={words}
      fault={fault}
      busy={busy}
      next={words.next}
      canGoOn={method !== null}
      onNext={store}
      onBack={onBack}
    >
      <fieldset>
        <legend class="hidden-text">{words.methodTitle}</legend>
        <div class="choices">
          {choices.map(([value, title, hint]) => (
            <label class="choice tall" key={value}>
              <input type="radio" name="method" checked={method === value} onChange={() => setMethod(value)} />
              <span>
                <strong>{title}</strong>
                <span class="soft small hint">{hint}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </StepFrame>
  )

  async function store() {
    setBusy(true)
    setFault(undefined)
    const answer = await call(paths.storeMethod, {
      body: { serviceVerificationId: session.serviceVerificationId, verificationMethod: method },
    })
    setBusy(false)
    if (answer.ok) onDone({ verificationMethod: method })
    else setFault(faultText(words, answer))
  }
}
