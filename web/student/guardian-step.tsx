import { useState } from 'preact/hooks'
import type { GuardianConsent, VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import { Field } from '../ui/field.tsx'
import type { SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import type { StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onChange: (change: Partial<VerificationSession>) => void
}

/** Returns whether the student must state an age or get the consent of a guardian before the steps. */
export function needsGuardian({ guardianConsent }: VerificationSession): boolean {
  return guardianConsent === 'age_required' || guardianConsent === 'required' || guardianConsent === 'pending'
}

/** Asks for the age, then for the address of a guardian, then for the code that the guardian received. */
export function GuardianStep({ session, token, call, pageTexts, onChange }: Props) {
  const t = pageTexts.guardian
  const [fields, setFields] = useState({ age: '', name: '', email: '', code: '' })
  const [isAskingAgain, setIsAskingAgain] = useState(false)
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const state = isAskingAgain ? 'required' : session.guardianConsent
  const frame = { pageTexts, error, busy, next: pageTexts.next }
  if (state === 'age_required')
    return (
      <StepFrame
        key="age"
        {...frame}
        title={t.ageTitle}
        hint={t.ageText}
        canContinue={/^\d{1,3}$/.test(fields.age)}
        onNext={() => void send(paths.sessionAge(token), { age: Number(fields.age) })}
      >
        {renderField('age', t.age, { inputMode: 'numeric', maxLength: 3 })}
      </StepFrame>
    )
  if (state === 'required')
    return (
      <StepFrame
        key="guardian"
        {...frame}
        title={t.askTitle}
        hint={t.askText}
        next={t.send}
        canContinue={fields.name.trim() !== '' && fields.email.trim() !== ''}
        onNext={() => void send(paths.sessionGuardian(token), { name: fields.name.trim(), email: fields.email.trim() })}
      >
        {renderField('name', t.name, { autoComplete: 'off', maxLength: 200 })}
        {renderField('email', t.email, { type: 'email', autoComplete: 'off', maxLength: 254 })}
      </StepFrame>
    )
  return (
    <StepFrame
      key="code"
      {...frame}
      title={t.codeTitle}
      hint={t.codeText}
      canContinue={fields.code.trim() !== ''}
      onNext={() => void send(`${paths.sessionGuardian(token)}/confirm`, { code: fields.code }, t.wrongCode)}
    >
      {renderField('code', t.code, { inputMode: 'numeric', autoComplete: 'one-time-code', maxLength: 20 })}
      <p>
        <button type="button" class="plain" onClick={() => setIsAskingAgain(true)}>
          {t.again}
        </button>
      </p>
    </StepFrame>
  )

  function renderField(name: keyof typeof fields, label: string, attributes: object) {
    return (
      <Field id={`guardian-${name}`} label={label}>
        {(fieldAttributes) => (
          <input
            type="text"
            {...fieldAttributes}
            {...attributes}
            value={fields[name]}
            onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
          />
        )}
      </Field>
    )
  }

  async function send(path: string, body: object, forbiddenText?: string) {
    setBusy(true)
    setError(undefined)
    const result = await call<GuardianConsent>(path, { body })
    setBusy(false)
    if (!result.ok)
      return setError(result.status === 403 && forbiddenText ? forbiddenText : result.message || pageTexts.offline)
    setIsAskingAgain(false)
    onChange({ guardianConsent: result.data.guardianConsent })
  }
}
