import { useEffect, useRef } from 'preact/hooks'
import type { AssessmentScore, VerificationSession } from '../api-types/verification.ts'
import type { StudentTexts } from './texts.ts'

interface Props {
  score: AssessmentScore
  session: VerificationSession
  pageTexts: StudentTexts
  onAgain: () => void
}

export function AssessmentResult({ score, session, pageTexts, onAgain }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const nameOf = (skillId: string) => session.skills.find((skill) => skill.skillId === skillId)?.name ?? skillId
  return (
    <div class="stack">
      <section class={`notice ${score.passed ? 'good' : ''} stack-tight`} role="status">
        <h1 tabIndex={-1} ref={heading}>
          {score.passed ? pageTexts.passed : pageTexts.notPassed}
        </h1>
        <p>{pageTexts.score(score.score, score.passMark)}</p>
      </section>
      <ul class="chosen">
        {score.skills.map((skill) => (
          <li class="card chosen-row row between" key={skill.skillId}>
            <strong>{nameOf(skill.skillId)}</strong>
            <span class="small">
              {pageTexts.correctCount(skill.correct, skill.total)} ·{' '}
              <strong class={skill.passed ? 'good-text' : 'bad-text'}>
                {skill.passed ? pageTexts.skillPassed : pageTexts.skillNotPassed}
              </strong>
            </span>
          </li>
        ))}
      </ul>
      {!score.passed && (
        <div class="stack-tight">
          <p class="soft">{pageTexts.attemptsLeft(score.attemptsLeft)}</p>
          {score.attemptsLeft > 0 && (
            <button type="button" class="primary" onClick={onAgain}>
              {pageTexts.tryAgain}
            </button>
          )}
        </div>
      )}
      {session.returnUrl && (
        <a class="button" href={session.returnUrl} rel="noopener">
          {pageTexts.returnTo}
        </a>
      )}
    </div>
  )
}
