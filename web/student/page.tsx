import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { OFFLINE } from '../api.ts'
import type { VerificationSession } from '../api-types/verification.ts'
import { applyBrand, embeddedBrand } from '../branding/apply-brand.ts'
import { BrandFooter, BrandName } from '../branding/brand.tsx'
import { deleteDraft } from '../drafts.ts'
import { initialLanguage, type PageLanguage, saveLanguage } from '../languages.ts'
import { paths } from '../paths.ts'
import { ConsentCard, YourDataLink } from '../privacy/consent-card.tsx'
import { LanguageSwitch } from '../ui/language-switch.tsx'
import { Assessment } from './assessment.tsx'
import { StudentCredentialOffer } from './credentials.tsx'
import { GuardianStep, needsGuardian } from './guardian-step.tsx'
import { ItemsStep } from './items-step.tsx'
import { MethodStep } from './method-step.tsx'
import { ResultSummary } from './result-summary.tsx'
import { ReturnLink } from './return-link.tsx'
import { ReviewerStep } from './reviewer-step.tsx'
import { type SessionChange, sessionCalls, storedItemKeys } from './session.ts'
import { SkillsStep } from './skills-step.tsx'
import { errorText, type StudentTexts, texts } from './texts.ts'

const STEPS = ['skills', 'method', 'items', 'last'] as const
type Step = (typeof STEPS)[number]

interface Props {
  token: string
  /** The session, if it is already loaded. */
  initialSession?: VerificationSession
  /** The language in which the page starts; by default, the last choice of the student or that of the browser. */
  startLanguage?: PageLanguage
  /** Called with the status when the student has nothing left to do, also if that was the case before. */
  onEnded?: (status: string) => void
}

export function StudentPage({ token, initialSession, startLanguage, onEnded }: Props) {
  const [language, setLanguage] = useState(() => startLanguage ?? initialLanguage())
  const [session, setSession] = useState<VerificationSession>()
  /** The organisation in the link, which is shown until the session is loaded. */
  const [linkBrand] = useState(embeddedBrand)
  const [step, setStep] = useState<Step>('skills')
  /** Whether the session had ended when the page was opened. Then there is no score to show. */
  const [hadEnded, setHadEnded] = useState(false)
  /** Whether the student has agreed to the notice about personal data. */
  const [agreed, setAgreed] = useState(false)
  const [error, setError] = useState<'offline' | 'serverError' | 'rateLimited' | 'paused' | 'gone' | 'erased'>()
  const call = useMemo(() => sessionCalls(token), [token])
  const brand = session?.brand ?? linkBrand
  const pageTexts = texts[language]
  useEffect(() => applyBrand(brand), [brand])
  useEffect(() => saveLanguage(language), [language])
  useEffect(() => (initialSession ? show(initialSession) : void load()), [])
  useEffect(() => {
    if (session && session.status !== 'open' && session.status !== 'in_assessment') onEnded?.(session.status)
  }, [session?.status])

  return (
    <div class="sheet">
      <header class="top">
        <BrandName brand={brand} />
        <LanguageSwitch language={language} onChoose={setLanguage} />
      </header>
      <main class="stack">
        {session ? (
          <>
            {agreed && session.organisationName && (
              <p class="soft small" dir="auto">
                {pageTexts.verifiedFor(session.organisationName)}
              </p>
            )}
            {session.status !== 'open' || (agreed && !needsGuardian(session)) ? (
              renderContent(session)
            ) : agreed ? (
              <GuardianStep session={session} token={token} call={call} pageTexts={pageTexts} onChange={update} />
            ) : (
              <ConsentCard
                kind="session"
                token={token}
                language={language}
                onAgreed={() => setAgreed(true)}
                describeError={(failure) => errorText(pageTexts, failure)}
                retryLabel={pageTexts.retry}
              >
                {/* A server before an upgrade does not report the name. */}
                {session.organisationName && (
                  <>
                    <h1 dir="auto">{pageTexts.whoAsksTitle(session.organisationName)}</h1>
                    <section class="card">
                      <ul class="rules">
                        {pageTexts.whoAsks(session.organisationName).map((text) => (
                          <li key={text}>{text}</li>
                        ))}
                      </ul>
                    </section>
                  </>
                )}
              </ConsentCard>
            )}
            <p class="after-content">
              <YourDataLink kind="session" token={token} label={pageTexts.yourData} />
            </p>
          </>
        ) : error === 'gone' || error === 'erased' ? (
          <>
            {error === 'erased' ? (
              <Ending title={pageTexts.erasedTitle} text={pageTexts.erasedText} pageTexts={pageTexts} />
            ) : (
              <Ending title={pageTexts.expiredTitle} text={pageTexts.expiredText} pageTexts={pageTexts} />
            )}
            {token && (
              <p>
                <YourDataLink kind="session" token={token} label={pageTexts.yourData} />
              </p>
            )}
          </>
        ) : error ? (
          <section class="card stack-tight" role="alert">
            <p>{error === 'paused' ? pageTexts.errors.SERVICE_DISABLED : pageTexts[error]}</p>
            <button type="button" onClick={() => void load()}>
              {pageTexts.retry}
            </button>
          </section>
        ) : (
          <Skeleton />
        )}
      </main>
      <BrandFooter brand={brand} />
    </div>
  )

  async function load() {
    setError(undefined)
    if (!token) return setError('gone')
    const result = await call<VerificationSession>(paths.session(token))
    if (result.ok) show(result.data)
    else if (result.code === OFFLINE) setError('offline')
    else if (result.status === 429) setError('rateLimited')
    else if (result.code === 'SERVICE_DISABLED') setError('paused')
    else if (result.code === 'DATA_ERASED') setError('erased')
    else setError(result.status >= 500 ? 'serverError' : 'gone')
  }

  function show(loaded: VerificationSession) {
    setSession(loaded)
    setStep(firstOpenStep(loaded))
    setHadEnded(loaded.status === 'completed' || loaded.status === 'failed')
  }

  function update(change: SessionChange) {
    setSession((previous) => previous && { ...previous, ...(typeof change === 'function' ? change(previous) : change) })
  }

  /** Loads the outcomes when the assessment has ended the session. */
  async function updateAssessment(change: Partial<VerificationSession>) {
    update(change)
    if (change.status !== 'completed' && change.status !== 'failed') return
    const result = await call<VerificationSession>(paths.session(token))
    if (result.ok) update(result.data)
  }

  function renderContent(current: VerificationSession) {
    const { status } = current
    const endingProps = { pageTexts, session: current }
    const isAssessment = current.verificationMethod === 'assessment'
    if (step === 'last' && isAssessment && status !== 'expired' && !hadEnded) {
      // Keep showing the score after it has ended the session.
      return (
        <>
          {status === 'open' && renderProgress(current)}
          <Assessment
            session={current}
            call={call}
            pageTexts={pageTexts}
            onChange={updateAssessment}
            onBack={() => setStep('items')}
          />
          {status === 'completed' && <StudentCredentialOffer token={token} call={call} />}
          <ResultSummary session={current} pageTexts={pageTexts} showSkills={false} />
        </>
      )
    }
    if (status === 'completed') {
      return (
        <>
          <Ending
            title={isAssessment ? pageTexts.passed : pageTexts.completedTitle}
            text={current.organisationName ? pageTexts.completedText(current.organisationName) : ''}
            good
            {...endingProps}
          >
            <EvidenceReasons session={current} pageTexts={pageTexts} />
          </Ending>
          <StudentCredentialOffer token={token} call={call} />
          <ResultSummary session={current} pageTexts={pageTexts} />
        </>
      )
    }
    if (status === 'declined' || status === 'failed') {
      const [title, text] =
        status === 'declined'
          ? [pageTexts.declinedTitle, pageTexts.declinedText]
          : [pageTexts.failedTitle, pageTexts.failedText]
      return (
        <>
          <Ending title={title} text={text} {...endingProps} />
          <ResultSummary session={current} pageTexts={pageTexts} />
        </>
      )
    }
    if (status === 'expired')
      return <Ending title={pageTexts.expiredTitle} text={pageTexts.expiredText} {...endingProps} />
    if (status === 'pending_review' && step === 'last') {
      return (
        <>
          <WaitingForReviewer session={current} pageTexts={pageTexts} onChange={() => setStep('method')} />
          <StudentCredentialOffer token={token} call={call} />
        </>
      )
    }
    const stepProps = { session: current, call, pageTexts, token }
    return (
      <>
        {renderProgress(current)}
        {status === 'pending_review' ? (
          <ReviewerStep {...stepProps} onDone={continueWith('last')} onBack={() => setStep('last')} />
        ) : step === 'skills' ? (
          <SkillsStep {...stepProps} onDone={continueWith('method')} />
        ) : step === 'method' ? (
          <MethodStep {...stepProps} onDone={continueWith('items')} onBack={() => setStep('skills')} />
        ) : step === 'items' ? (
          <ItemsStep {...stepProps} onChange={update} onDone={continueWith('last')} onBack={() => setStep('method')} />
        ) : (
          <ReviewerStep {...stepProps} onDone={continueWith('last')} onBack={() => setStep('items')} />
        )}
      </>
    )
  }

  function continueWith(next: Step) {
    return (change: Partial<VerificationSession>) => {
      if (change.skills) deleteDraft(`skills ${session!.serviceVerificationId}`)
      update(change)
      setStep(next)
    }
  }

  function renderProgress({ verificationMethod }: VerificationSession) {
    const lastStepName = verificationMethod === 'assessment' ? pageTexts.steps.assessment : pageTexts.steps.reviewer
    const stepNames = [pageTexts.steps.skills, pageTexts.steps.method, pageTexts.steps.items, lastStepName]
    const stepIndex = STEPS.indexOf(step)
    return (
      <nav aria-label={pageTexts.stepOf(stepIndex + 1, STEPS.length, stepNames[stepIndex]!)}>
        <ol class="steps">
          {stepNames.map((name, index) => (
            <li
              key={name}
              class={index < stepIndex ? 'done' : ''}
              aria-current={index === stepIndex ? 'step' : undefined}
            >
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
  return storedItemKeys(session).size === 0 ? 'items' : 'last'
}

function WaitingForReviewer({
  session,
  pageTexts,
  onChange,
}: {
  session: VerificationSession
  pageTexts: StudentTexts
  onChange: () => void
}) {
  const { reviewer, skills } = session
  return (
    <div class="stack">
      <section class="notice good stack-tight" role="status">
        <h1>{pageTexts.waitingTitle}</h1>
        {reviewer && <p>{pageTexts.waitingText(reviewer.name, reviewer.email)}</p>}
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
          {pageTexts.changeReviewer}
        </button>
        <ReturnLink session={session} pageTexts={pageTexts} />
      </div>
    </div>
  )
}

/** How well the endorsement supports the skills, and why. */
function EvidenceReasons({ session, pageTexts }: { session: VerificationSession; pageTexts: StudentTexts }) {
  const { evidenceLevel, reasons = [] } = session
  if (!evidenceLevel) return null
  return (
    <div class="stack-tight">
      <p>{pageTexts.evidenceLevels[evidenceLevel]}</p>
      <ul class="soft">
        {reasons.map(({ code, text }) => (
          <li key={code}>{pageTexts.evidenceReasons[code] ?? text}</li>
        ))}
      </ul>
    </div>
  )
}

interface EndingProps {
  title: string
  text: string
  pageTexts: StudentTexts
  good?: boolean
  session?: VerificationSession
  children?: ComponentChildren
}

function Ending({ title, text, pageTexts, good = false, session, children }: EndingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="card stack ending" role="status">
      {good && <div class="tick" aria-hidden="true" />}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <p class="soft">{text}</p>
      {children}
      {session && <ReturnLink session={session} pageTexts={pageTexts} />}
    </section>
  )
}

function Skeleton() {
  return (
    <div class="stack first-load" aria-hidden="true">
      <h1 class="waiting">Which skills do you want verified?</h1>
      <div class="card">
        <p class="waiting">Search for a skill</p>
      </div>
    </div>
  )
}
