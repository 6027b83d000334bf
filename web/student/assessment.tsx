import { useEffect, useRef, useState } from 'preact/hooks'
import { OFFLINE } from '../api.ts'
import type {
  AssessmentQuestion,
  AssessmentScore,
  Assessment as GeneratedAssessment,
  VerificationSession,
} from '../api-types/verification.ts'
import { deleteDraft, readDraft, saveDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import { SubmitButton } from '../ui/submit-button.tsx'
import { AssessmentResult } from './assessment-result.tsx'
import { NotAssessableNotice } from './not-assessable-notice.tsx'
import type { SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { errorText, type StudentTexts } from './texts.ts'
import { TimeLeft } from './time-left.tsx'

interface Props {
  session: VerificationSession
  call: SessionCall
  pageTexts: StudentTexts
  onChange: (change: Partial<VerificationSession>) => void
  onBack: () => void
}

/** Timeout of the call that generates questions, which can take up to 90 seconds with an AI endpoint. */
const GENERATION_TIMEOUT_MS = 100_000
/** Timeout of an automatic submission, which is repeated after a failure. */
const AUTOMATIC_TIMEOUT_MS = 10_000
const AUTOMATIC_RETRY_DELAY_MS = 2_000

export function Assessment({ session, call, pageTexts, onChange, onBack }: Props) {
  const [questions, setQuestions] = useState<AssessmentQuestion[]>()
  /** Time of `performance.now()` at which the attempt ends; undefined if the server does not report it. */
  const [endsAt, setEndsAt] = useState<number>()
  const [score, setScore] = useState<AssessmentScore>()
  const passedDraftKey = `passed skills ${session.serviceVerificationId}`
  const [passedEarlier, setPassedEarlier] = useState<string[]>(() => readDraft(passedDraftKey) ?? [])
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  useEffect(() => {
    if (session.status === 'in_assessment') void start() // resume a started assessment
  }, [])

  if (score) {
    const resultProps = { score, passedEarlier, session, pageTexts }
    return <AssessmentResult {...resultProps} onAgain={() => void tryAgain(score)} />
  }
  if (questions) {
    return (
      <Questions
        key={questions[0]?.questionId}
        questions={questions}
        endsAt={endsAt}
        draftKey={`answers ${session.serviceVerificationId}`}
        call={call}
        pageTexts={pageTexts}
        onScore={(result) => {
          setScore(result)
          setQuestions(undefined)
          onChange({ status: result.passed ? 'completed' : result.attemptsLeft === 0 ? 'failed' : 'in_assessment' })
        }}
        onExpired={showExpired}
        onShown={() => void updateTimeLeft()}
      />
    )
  }
  return (
    <StepFrame
      title={pageTexts.ready}
      pageTexts={pageTexts}
      error={error}
      busy={busy}
      busyText={pageTexts.preparing}
      next={pageTexts.start}
      onNext={() => void start()}
      onBack={session.status === 'open' ? onBack : undefined}
    >
      <NotAssessableNotice session={session} pageTexts={pageTexts} />
      <ul class="rules">
        {pageTexts.rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
    </StepFrame>
  )

  function tryAgain({ skills }: AssessmentScore) {
    const passedSkills = [...passedEarlier, ...skills.filter(({ passed }) => passed).map(({ skillId }) => skillId)]
    setPassedEarlier(passedSkills)
    saveDraft(passedDraftKey, passedSkills)
    return start()
  }

  async function start() {
    setScore(undefined)
    setBusy(true)
    setError(undefined)
    const result = await call<GeneratedAssessment>(paths.generateAssessment, {
      body: {},
      timeoutMs: GENERATION_TIMEOUT_MS,
    })
    setBusy(false)
    if (result.ok) {
      onChange({ status: 'in_assessment' })
      setEndsAt(endOf(result.data))
      setQuestions(result.data.questions)
    } else setError(errorText(pageTexts, result))
  }

  function showExpired() {
    setQuestions(undefined)
    setError(pageTexts.errors.ASSESSMENT_EXPIRED)
  }

  /** Compares the time left with the server. */
  async function updateTimeLeft() {
    // A submission without `answers` is rejected and changes nothing. It shows whether the attempt is open: after the end, generating would
    // start another attempt.
    const check = await call(paths.submitAssessment, { body: {} })
    if (!check.ok && check.code === 'ASSESSMENT_EXPIRED') return showExpired()
    if (check.ok || check.status !== 400) return
    const result = await call<GeneratedAssessment>(paths.generateAssessment, { body: {} })
    if (!result.ok) return
    setEndsAt(endOf(result.data))
    setQuestions(result.data.questions) // others, if another device has started another attempt
  }
}

/** Returns the time of `performance.now()` at which the attempt ends. Servers before an upgrade do not report it. */
function endOf({ secondsLeft }: { secondsLeft?: number }): number | undefined {
  return Number.isFinite(secondsLeft) ? performance.now() + secondsLeft! * 1000 : undefined
}

interface QuestionsProps {
  questions: AssessmentQuestion[]
  endsAt: number | undefined
  draftKey: string
  call: SessionCall
  pageTexts: StudentTexts
  onScore: (score: AssessmentScore) => void
  onExpired: () => void
  onShown: () => void
}

/** Shows one question at a time. Answers are stored on the device until they are submitted. */
function Questions({ questions, endsAt, draftKey, call, pageTexts, onScore, onExpired, onShown }: QuestionsProps) {
  const [answers, setAnswers] = useState<Record<string, string>>(() => readDraft(draftKey) ?? {})
  const [questionIndex, setQuestionIndex] = useState(() => {
    const firstUnanswered = questions.findIndex(({ questionId }) => !(questionId in answers))
    return firstUnanswered < 0 ? questions.length : firstUnanswered
  })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const isSubmitting = useRef(false)
  /** Time of `performance.now()` before which the answers are not submitted automatically. */
  const nextAutomaticAt = useRef(0)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    scrollTo(0, 0)
  }, [questionIndex])
  const question = questions[questionIndex]
  const unansweredCount = questions.filter(({ questionId }) => !(questionId in answers)).length
  const answeredCount = questions.length - unansweredCount

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (question) setQuestionIndex(questionIndex + 1)
        else void submit()
      }}
    >
      <div class="stack-tight">
        <div class="row between">
          <p class="soft small">
            {question ? pageTexts.questionOf(questionIndex + 1, questions.length) : pageTexts.checkTitle}
          </p>
          {endsAt !== undefined && (
            <TimeLeft
              endsAt={endsAt}
              pageTexts={pageTexts}
              onNearEnd={(leftMs) => void submitAutomatically(leftMs)}
              onShown={onShown}
            />
          )}
        </div>
        <div
          class="bar"
          role="progressbar"
          aria-label={pageTexts.steps.assessment}
          aria-valuenow={answeredCount}
          aria-valuemin={0}
          aria-valuemax={questions.length}
        >
          <span ref={(bar) => bar?.style.setProperty('width', `${(100 * answeredCount) / questions.length}%`)} />
        </div>
      </div>
      {question ? (
        <fieldset class="stack">
          <legend>
            <h1 class="question" tabIndex={-1} ref={heading}>
              {question.question}
            </h1>
          </legend>
          <div class="choices">
            {question.options.map((option) => (
              <label class="choice left" key={option}>
                <input
                  type="radio"
                  name={question.questionId}
                  checked={answers[question.questionId] === option}
                  onChange={() => choose(question.questionId, option)}
                />
                {option}
              </label>
            ))}
          </div>
        </fieldset>
      ) : (
        <div class="card stack-tight">
          <h1 tabIndex={-1} ref={heading}>
            {pageTexts.checkTitle}
          </h1>
          {unansweredCount > 0 && <p class="notice">{pageTexts.unanswered(unansweredCount)}</p>}
          <p class="soft">{pageTexts.checkText}</p>
        </div>
      )}
      {error && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      <div class="row between foot">
        <button
          type="button"
          onClick={() => setQuestionIndex(questionIndex - 1)}
          disabled={questionIndex === 0 || busy}
        >
          {pageTexts.back}
        </button>
        <SubmitButton class="primary" busy={busy}>
          {question
            ? questionIndex + 1 === questions.length
              ? pageTexts.finish
              : pageTexts.nextQuestion
            : busy
              ? pageTexts.submitting
              : pageTexts.submit}
        </SubmitButton>
      </div>
    </form>
  )

  function choose(questionId: string, option: string) {
    const nextAnswers = { ...latestAnswers(), [questionId]: option }
    setAnswers(nextAnswers)
    saveDraft(draftKey, nextAnswers)
  }

  /** Returns the answers, including those of another tab, which stores them in the same draft. */
  function latestAnswers(): Record<string, string> {
    return { ...answers, ...readDraft<Record<string, string>>(draftKey) }
  }

  function answersToSubmit() {
    const latest = latestAnswers()
    return questions.flatMap(({ questionId }) => {
      const option = latest[questionId]
      return option === undefined ? [] : [{ questionId, option }]
    })
  }

  /** Submits the answers, if there are any. Tries again until the time is over if the server cannot be reached. */
  async function submitAutomatically(leftMs: number) {
    if (isSubmitting.current || performance.now() < nextAutomaticAt.current) return
    // The student may use another device for the answers.
    if (answersToSubmit().length === 0) return
    nextAutomaticAt.current = Infinity
    const canRetry = await submit(AUTOMATIC_TIMEOUT_MS)
    if (canRetry && leftMs > 0) nextAutomaticAt.current = performance.now() + AUTOMATIC_RETRY_DELAY_MS
  }

  /** Submits the answers. Returns whether another try can succeed. */
  async function submit(timeoutMs?: number): Promise<boolean> {
    if (isSubmitting.current) return false
    isSubmitting.current = true
    setBusy(true)
    setError(undefined)
    const result = await call<AssessmentScore>(paths.submitAssessment, {
      body: { answers: answersToSubmit() },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    isSubmitting.current = false
    setBusy(false)
    if (result.ok) {
      deleteDraft(draftKey)
      onScore(result.data)
    } else if (result.code === 'ASSESSMENT_EXPIRED') onExpired()
    else setError(errorText(pageTexts, result))
    return !result.ok && (result.code === OFFLINE || result.status === 429 || result.status >= 500)
  }
}
