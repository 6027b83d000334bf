import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { OFFLINE } from '../api.ts'
import type { VerificationSession } from '../api-types/verification.ts'
import { deleteDraft } from '../drafts.ts'
import { initialLanguage, saveLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { Assessment } from './assessment.tsx'
import { ItemsStep } from './items-step.tsx'
import { MethodStep } from './method-step.tsx'
import { ReviewerStep } from './reviewer-step.tsx'
import { sessionCalls, storedItems } from './session.ts'
import { SkillsStep } from './skills-step.tsx'
import { type StudentTexts, texts } from './texts.ts'

const STEPS = ['skills', 'method', 'items', 'last'] as const
type Step = (typeof STEPS)[number]

export function StudentPage({ token }: { token: string }) {
  const [language, setLanguage] = useState(initialLanguage)
  const [session, setSession] = useState<VerificationSession>()
  const [step, setStep] = useState<Step>('skills')
  const [error, setError] = useState<'offline' | 'serverError' | 'rateLimited' | 'gone'>()
  const call = useMemo(() => sessionCalls(token), [token])
  const words = texts[language]
  useEffect(() => saveLanguage(language), [language])
  useEffect(() => void load(), [])

  return (
    <div class="sheet">
      <header class="top">
        <span class="wordmark">Attestry</span>
        <LanguageSwitch language={language} onChoose={setLanguage} />
      </header>
      <main class="stack">
        {session ? (
          content(session)
        ) : error === 'gone' ? (
          <Ending title={words.expiredTitle} text={words.expiredText} words={words} />
        ) : error ? (
          <section class="card stack-tight" role="alert">
            <p>{words[error]}</p>
            <button type="button" onClick={() => void load()}>
              {words.retry}
            </button>
          </section>
        ) : (
          <Skeleton />
        )}
      </main>
    </div>
  )

  async function load() {
    setError(undefined)
    if (!token) return setError('gone')
    const result = await call<VerificationSession>(paths.session(token))
    if (result.ok) {
      setSession(result.data)
      setStep(firstOpenStep(result.data))
    } else if (result.code === OFFLINE) setError('offline')
    else if (result.status === 429) setError('rateLimited')
    else setError(result.status >= 500 ? 'serverError' : 'gone')
  }

  function update(change: Partial<VerificationSession>) {
    setSession((known) => (known ? { ...known, ...change } : known))
  }

  function content(current: VerificationSession) {
    const { status, returnUrl } = current
    const ending = { words, returnUrl }
    if (step === 'last' && current.verificationMethod === 'assessment' && status !== 'expired') {
      // Keep showing the score after it has ended the session.
      return (
        <>
          {status === 'open' && progress(current)}
          <Assessment session={current} call={call} words={words} onChange={update} onBack={() => setStep('items')} />
        </>
      )
    }
    if (status === 'completed')
      return <Ending title={words.completedTitle} text={words.completedText} good {...ending} />
    if (status === 'declined') return <Ending title={words.declinedTitle} text={words.declinedText} {...ending} />
    if (status === 'failed') return <Ending title={words.failedTitle} text={words.failedText} {...ending} />
    if (status === 'expired') return <Ending title={words.expiredTitle} text={words.expiredText} {...ending} />
    if (status === 'pending_review' && step === 'last') {
      return <WaitingForReviewer session={current} words={words} onChange={() => setStep('method')} />
    }
    const common = { session: current, call, words, token }
    return (
      <>
        {progress(current)}
        {status === 'pending_review' ? (
          <ReviewerStep {...common} onDone={done('last')} onBack={() => setStep('last')} />
        ) : step === 'skills' ? (
          <SkillsStep {...common} onDone={done('method')} />
        ) : step === 'method' ? (
          <MethodStep {...common} onDone={done('items')} onBack={() => setStep('skills')} />
        ) : step === 'items' ? (
          <ItemsStep {...common} onDone={done('last')} onBack={() => setStep('method')} />
        ) : (
          <ReviewerStep {...common} onDone={done('last')} onBack={() => setStep('items')} />
        )}
      </>
    )
  }

  function done(next: Step) {
    return (change: Partial<VerificationSession>) => {
      if (change.skills) deleteDraft(`skills ${session!.serviceVerificationId}`)
      update(change)
      setStep(next)
    }
  }

  function progress({ verificationMethod }: VerificationSession) {
    const last = verificationMethod === 'assessment' ? words.steps.assessment : words.steps.reviewer
    const names = [words.steps.skills, words.steps.method, words.steps.items, last]
    const at = STEPS.indexOf(step)
    return (
      <nav aria-label={words.stepOf(at + 1, STEPS.length, names[at]!)}>
        <ol class="steps">
          {names.map((name, index) => (
            <li key={name} class={index < at ? 'done' : ''} aria-current={index === at ? 'step' : undefined}>
              {name}
            </li>
          ))}
        </ol>
      </nav>
    )
  }
}

/** Returns the step at which a returning student continues. */
function firstOpenStep(session: VerificationSession): Step {
  if (session.status !== 'open') return 'last'
  if (session.skills.length === 0) return 'skills'
  if (session.verificationMethod === null) return 'method'
  return storedItems(session).size === 0 ? 'items' : 'last'
}

function WaitingForReviewer({
  session,
  words,
  onChange,
}: {
  session: VerificationSession
  words: StudentTexts
  onChange: () => void
}) {
  const { reviewer, returnUrl, skills } = session
  return (
    <div class="stack">
      <section class="notice good stack-tight" role="status">
        <h1>{words.waitingTitle}</h1>
        {reviewer && <p>{words.waitingText(reviewer.name, reviewer.email)}</p>}
      </section>
      <ul class="chosen">
        {skills.map((skill) => (
          <li class="card chosen-row" key={skill.skillId}>
            <strong>{skill.name}</strong>
          </li>
        ))}
      </ul>
      <div class="row">
        <button type="button" onClick={onChange}>
          {words.changeReviewer}
        </button>
        {returnUrl && (
          <a class="button" href={returnUrl} rel="noopener">
            {words.returnTo}
          </a>
        )}
      </div>
    </div>
  )
}

interface EndingProps {
  title: string
  text: string
  words: StudentTexts
  good?: boolean
  returnUrl?: string | null
}

function Ending({ title, text, words, good = false, returnUrl }: EndingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card stack ending" role="status">
      {good && <div class="tick" aria-hidden="true" />}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="soft">{text}</p>
      {returnUrl && (
        <a class="button" href={returnUrl} rel="noopener">
          {words.returnTo}
        </a>
      )}
    </section>
  )
}

function Skeleton() {
  return (
    <div class="stack" aria-hidden="true">
      <h1 class="waiting">Which skills do you want verified?</h1>
      <div class="card">
        <p class="waiting">Search for a skill</p>
      </div>
    </div>
  )
}
