import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { OFFLINE } from '../api.ts'
import { dropDraft } from '../drafts.ts'
import { chooseLanguage, firstLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { Assessment } from './assessment.tsx'
import { ItemsStep } from './items-step.tsx'
import { MethodStep } from './method-step.tsx'
import { ReviewerStep } from './reviewer-step.tsx'
import { type Session, sessionCalls, storedItems } from './session.ts'
import { SkillsStep } from './skills-step.tsx'
import { type Texts, texts } from './texts.ts'

const STEPS = ['skills', 'method', 'items', 'last'] as const
type Step = (typeof STEPS)[number]

export function StudentPage({ token }: { token: string }) {
  const [language, setLanguage] = useState(firstLanguage)
  const [session, setSession] = useState<Session>()
  const [step, setStep] = useState<Step>('skills')
  const [fault, setFault] = useState<'offline' | 'trouble' | 'slow' | 'gone'>()
  const call = useMemo(() => sessionCalls(token), [token])
  const words = texts[language]
  useEffect(() => chooseLanguage(language), [language])
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
        ) : fault === 'gone' ? (
          <Ending title={words.expiredTitle} text={words.expiredText} words={words} />
        ) : fault ? (
          <section class="card stack-tight" role="alert">
            <p>{words[fault]}</p>
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
    setFault(undefined)
    if (!token) return setFault('gone')
    const answer = await call<Session>(paths.session(token))
    if (answer.ok) {
      setSession(answer.data)
      setStep(firstOpenStep(answer.data))
    } else if (answer.code === OFFLINE) setFault('offline')
    else if (answer.status === 429) setFault('slow')
    else setFault(answer.status >= 500 ? 'trouble' : 'gone')
  }

  function update(change: Partial<Session>) {
    setSession((known) => (known ? { ...known, ...change } : known))
  }

  function content(current: Session) {
    const { status, returnUrl } = current
    const ending = { words, returnUrl }
    if (step === 'last' && current.verificationMethod === 'assessment' && status !== 'expired') {
      // The score stays in view when it is what ended the session.
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
      return <Waiting session={current} words={words} onChange={() => setStep('method')} />
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
    return (change: Partial<Session>) => {
      if (change.skills) dropDraft(`skills ${session!.serviceVerificationId}`)
      update(change)
      setStep(next)
    }
  }

  function progress({ verificationMethod }: Session) {
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

/** Where a student who comes back goes on. */
function firstOpenStep(session: Session): Step {
  if (session.status !== 'open') return 'last'
  if (session.skills.length === 0) return 'skills'
  if (session.verificationMethod === null) return 'method'
  return storedItems(session).size === 0 ? 'items' : 'last'
}

function Waiting({ session, words, onChange }: { session: Session; words: Texts; onChange: () => void }) {
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
  words: Texts
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
