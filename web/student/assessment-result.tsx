import { useEffect, useRef } from 'preact/hooks'
import type { AssessmentScore, VerificationSession } from '../api-types/verification.ts'
import { ReturnLink } from './return-link.tsx'
import type { StudentTexts } from './texts.ts'

interface Props {
  score: AssessmentScore
  /** IDs of skills that were passed in earlier attempts and are not asked about again. */
  passedEarlier: string[]
  session: VerificationSession
  pageTexts: StudentTexts
  onAgain: () => void
}

/** The result of an attempt: per skill, and what the student can do next. */
export function AssessmentResult({ score, passedEarlier, session, pageTexts, onAgain }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const nameOf = (skillId: string) => session.skills.find((skill) => skill.skillId === skillId)?.name ?? skillId
  const verdictTexts = {
    passed: { text: pageTexts.skillPassed, class: 'good-text' },
    not_passed: { text: pageTexts.skillNotPassed, class: 'bad-text' },
    inconclusive: { text: pageTexts.skillInconclusive, class: 'wait-text' },
  }
  const notAsked = session.skills.filter(({ skillId }) => !score.skills.some((skill) => skill.skillId === skillId))
  const isUndecided = score.skills.every(({ verdict }) => verdict === 'inconclusive')
  return (
    <div class="stack">
      <section class={`notice ${score.passed ? 'good' : ''} stack-tight`} role="status">
        <h1 tabIndex={-1} ref={heading}>
          {score.passed ? pageTexts.passed : isUndecided ? pageTexts.notEnoughEvidence : pageTexts.notPassed}
        </h1>
        <p>{pageTexts.score(score.score, score.passMark)}</p>
        {!score.passed && score.score >= score.passMark && <p>{pageTexts.noSkillPassed}</p>}
      </section>
      <ul class="chosen">
        {score.skills.map(({ skillId, correct, total, verdict }) => (
          <li class="card chosen-row row between" key={skillId}>
            <strong>{nameOf(skillId)}</strong>
            <span class="small">
              {pageTexts.correctCount(correct, total)} ·{' '}
              <strong class={verdictTexts[verdict].class}>{verdictTexts[verdict].text}</strong>
            </span>
          </li>
        ))}
        {notAsked.map(({ skillId, name }) => (
          <li class="card chosen-row row between" key={skillId}>
            <strong>{name}</strong>
            {passedEarlier.includes(skillId) ? (
              <strong class="small good-text">{pageTexts.skillPassed}</strong>
            ) : (
              <span class="small soft">
                {score.attempt === 1 ? pageTexts.tooFewQuestions : pageTexts.notAskedThisTime}
              </span>
            )}
          </li>
        ))}
      </ul>
      {score.skills.some(({ verdict }) => verdict === 'inconclusive') && (
        <p class="soft">{pageTexts.inconclusiveHint}</p>
      )}
      {score.passed && score.skills.some(({ passed }) => !passed) && <p class="soft">{pageTexts.otherSkillsHint}</p>}
      {!score.passed && (
        <div class="stack-tight">
          <p class="soft">{pageTexts.attemptsLeft(score.attemptsLeft)}</p>
          {score.attemptsLeft > 0 ? (
            <button type="button" class="primary" onClick={onAgain}>
              {pageTexts.tryAgain}
            </button>
          ) : (
            <p class="soft">{pageTexts.confirmHint}</p>
          )}
        </div>
      )}
      <ReturnLink session={session} pageTexts={pageTexts} />
    </div>
  )
}
