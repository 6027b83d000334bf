import { useEffect, useRef, useState } from 'preact/hooks'
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

export function Assessment({ session, call, pageTexts, onChange, onBack }: Props) {
  const [questions, setQuestions] = useState<AssessmentQuestion[]>()
  /** When the attempt ends, by the clock of the device. */
  const [endsAt, setEndsAt] = useState(0)
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
        onExpired={() => {
          setQuestions(undefined)
          setError(pageTexts.errors.ASSESSMENT_EXPIRED)
        }}
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
      setEndsAt(Date.now() + result.data.secondsLeft * 1000)
      setQuestions(result.data.questions)
    } else setError(errorText(pageTexts, result))
  }
}

interface QuestionsProps {
  questions: AssessmentQuestion[]
  endsAt: number
  draftKey: string
  call: SessionCall
  pageTexts: StudentTexts
  onScore: (score: AssessmentScore) => void
  onExpired: () => void
}

/** Shows one question at a time. Answers are stored on the device until they are submitted. */
function Questions({ questions, endsAt, draftKey, call, pageTexts, onScore, onExpired }: QuestionsProps) {
  const [answers, setAnswers] = useState<Record<string, string>>(() => readDraft(draftKey) ?? {})
  const [questionIndex, setQuestionIndex] = useState(() => {
    const firstUnanswered = questions.findIndex(({ questionId }) => !(questionId in answers))
    return firstUnanswered < 0 ? questions.length : firstUnanswered
  })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
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
          <TimeLeft endsAt={endsAt} pageTexts={pageTexts} onEnd={() => void submit()} />
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
    const nextAnswers = { ...answers, [questionId]: option }
    setAnswers(nextAnswers)
    saveDraft(draftKey, nextAnswers)
  }

  async function submit() {
    if (busy) return
    setBusy(true)
    setError(undefined)
    const answered = questions.filter(({ questionId }) => questionId in answers)
    const result = await call<AssessmentScore>(paths.submitAssessment, {
      body: { answers: answered.map(({ questionId }) => ({ questionId, option: answers[questionId] })) },
    })
    setBusy(false)
    if (result.ok) {
      deleteDraft(draftKey)
      onScore(result.data)
    } else if (result.code === 'ASSESSMENT_EXPIRED') {
      deleteDraft(draftKey)
      onExpired()
    } else setError(errorText(pageTexts, result))
  }
}
