import { useEffect, useRef, useState } from 'preact/hooks'
import { dropDraft, keepDraft, readDraft } from '../drafts.ts'
import { paths } from '../paths.ts'
import { Action } from '../ui/action.tsx'
import { AssessmentResult, type Score } from './assessment-result.tsx'
import type { Session, SessionCall } from './session.ts'
import { StepFrame } from './step-frame.tsx'
import { faultText, type Texts } from './texts.ts'

interface Question {
  questionId: string
  question: string
  options: string[]
}

interface Props {
  session: Session
  call: SessionCall
  words: Texts
  onChange: (change: Partial<Session>) => void
  onBack: () => void
}

/** Writing questions may take an endpoint of the operator's a minute and a half. */
const LONGEST = 100_000

export function Assessment({ session, call, words, onChange, onBack }: Props) {
  const [questions, setQuestions] = useState<Question[]>()
  const [score, setScore] = useState<Score>()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  useEffect(() => {
    if (session.status === 'in_assessment') void start() // come back to what was begun
  }, [])

  if (score) {
    return <AssessmentResult score={score} session={session} words={words} onAgain={() => void start()} />
  }
  if (questions) {
    return (
      <Questions
        key={questions[0]?.questionId}
        questions={questions}
        name={`answers ${session.serviceVerificationId}`}
        call={call}
        words={words}
        onScore={(result) => {
          setScore(result)
          setQuestions(undefined)
          onChange({ status: result.passed ? 'completed' : result.attemptsLeft === 0 ? 'failed' : 'in_assessment' })
        }}
        onExpired={() => {
          setQuestions(undefined)
          setFault(words.errors.ASSESSMENT_EXPIRED)
        }}
      />
    )
  }
  return (
    <StepFrame
      title={words.ready}
      words={words}
      fault={fault}
      busy={busy}
      busyText={words.preparing}
      next={words.start}
      onNext={() => void start()}
      onBack={session.status === 'open' ? onBack : undefined}
    >
      <ul class="rules">
        {words.rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
    </StepFrame>
  )

  async function start() {
    setScore(undefined)
    setBusy(true)
    setFault(undefined)
    const answer = await call<{ questions: Question[] }>(paths.generateAssessment, { body: {}, timeout: LONGEST })
    setBusy(false)
    if (answer.ok) {
      onChange({ status: 'in_assessment' })
      setQuestions(answer.data.questions)
    } else setFault(faultText(words, answer))
  }
}

interface QuestionsProps {
  questions: Question[]
  name: string
  call: SessionCall
  words: Texts
  onScore: (score: Score) => void
  onExpired: () => void
}

/** One question at a time. Answers are kept on the device until they are handed in. */
function Questions({ questions, name, call, words, onScore, onExpired }: QuestionsProps) {
  const [answers, setAnswers] = useState<Record<string, string>>(() => readDraft(name) ?? {})
  const [at, setAt] = useState(() => {
    const first = questions.findIndex(({ questionId }) => !(questionId in answers))
    return first < 0 ? questions.length : first
  })
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    scrollTo(0, 0)
  }, [at])
  const question = questions[at]
  const left = questions.filter(({ questionId }) => !(questionId in answers)).length
  const done = questions.length - left

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (question) setAt(at + 1)
        else void handIn()
      }}
    >
      <div class="stack-tight">
        <p class="soft small">{question ? words.questionOf(at + 1, questions.length) : words.checkTitle}</p>
        <div
          class="bar"
          role="progressbar"
          aria-label={words.steps.assessment}
          aria-valuenow={done}
          aria-valuemin={0}
          aria-valuemax={questions.length}
        >
          <span ref={(bar) => bar?.style.setProperty('width', `${(100 * done) / questions.length}%`)} />
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
            {words.checkTitle}
          </h1>
          {left > 0 && <p class="notice">{words.leftOut(left)}</p>}
          <p class="soft">{words.checkText}</p>
        </div>
      )}
      {fault && (
        <p class="notice bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row between foot">
        <button type="button" onClick={() => setAt(at - 1)} disabled={at === 0 || busy}>
          {words.back}
        </button>
        <Action class="primary" busy={busy}>
          {question
            ? at + 1 === questions.length
              ? words.finish
              : words.nextQuestion
            : busy
              ? words.submitting
              : words.submit}
        </Action>
      </div>
    </form>
  )

  function choose(questionId: string, option: string) {
    const next = { ...answers, [questionId]: option }
    setAnswers(next)
    keepDraft(name, next)
  }

  async function handIn() {
    if (busy) return
    setBusy(true)
    setFault(undefined)
    const given = questions.filter(({ questionId }) => questionId in answers)
    const answer = await call<Score>(paths.submitAssessment, {
      body: { answers: given.map(({ questionId }) => ({ questionId, option: answers[questionId] })) },
    })
    setBusy(false)
    if (answer.ok) {
      dropDraft(name)
      onScore(answer.data)
    } else if (answer.code === 'ASSESSMENT_EXPIRED') {
      dropDraft(name)
      onExpired()
    } else setFault(faultText(words, answer))
  }
}
