import type { PreparedQuestions, Result, VerifiedSkill } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { capitalise } from '../shared/capitalise.ts'
import { reasonText } from '../shared/labels.ts'
import { Answers } from './answers.tsx'
import { Qualified } from './verdict.tsx'
import { describeEvidence, describeQuestions, describeReasons } from './verdict-texts.ts'

/** The status of a result, and its reason. */
export function Outcome({ result }: { result: Pick<Result, 'status' | 'reason'> }) {
  return (
    <span>
      <Badge state={result.status} /> {result.reason && <span class="soft small">{reasonText(result.reason)}</span>}
    </span>
  )
}

export function interestText(interest: Result['output']['interest']): string {
  if (interest === undefined || interest === null) return '–'
  return interest === 'interested' ? t('interested') : t('not interested')
}

interface OutputProps {
  result: Pick<Result, 'status' | 'reason' | 'output'>
  /** The mandate's questions; undefined until they are loaded. */
  questions?: PreparedQuestions['enrichment'] | undefined
}

/** The answers and verdicts of a result. */
export function ResultOutput({ result, questions }: OutputProps) {
  const { status, reason, output } = result
  const isUndecided = status === 'completed' && output.reasons.some(({ kind }) => kind === 'skill_inconclusive')
  return (
    <div class="result-output stack">
      <dl class="description-list">
        <div>
          <dt>{t('Verdict')}</dt>
          <dd>
            {reason ? (
              t('None: {reason}', { reason: reasonText(reason) })
            ) : (
              <Verdict result={result} questions={questions} />
            )}
          </dd>
        </div>
        {output.interest !== undefined && (
          <div>
            <dt>{t('Interest')}</dt>
            <dd>{capitalise(interestText(output.interest))}</dd>
          </div>
        )}
      </dl>
      {output.skills && output.skills.length > 0 && (
        <div class="stack-tight">
          <h3>{t('Skills')}</h3>
          <ul class="verdicts">
            {output.skills.map((skill) => (
              <SkillVerdict key={skill.skill_id} skill={skill} />
            ))}
          </ul>
          {output.skills.some(({ confidence }) => confidence !== null) && (
            <p class="soft small">
              {isUndecided
                ? t(
                    '“Certain” is the probability that the verdict is right, if the candidate either clearly has the skill or clearly does not have it. Below 95 %, a skill is inconclusive: the answers show neither that the candidate has it nor that it is missing. Ask the candidate about it yourself.',
                  )
                : t(
                    '“Certain” is the probability that the verdict is right, if the candidate either clearly has the skill or clearly does not have it. Below 95 %, a skill is inconclusive.',
                  )}
            </p>
          )}
        </div>
      )}
      {output.enrichment && (
        <div class="stack-tight">
          <h3>{t('Answers')}</h3>
          <Answers answers={output.enrichment} status={status} questions={questions} />
        </div>
      )}
    </div>
  )
}

/** Whether the candidate is qualified; if not or undecided, with the reasons. */
function Verdict({ result: { status, output }, questions }: OutputProps) {
  const reasons = status === 'completed' ? describeReasons(output, { questionText }) : []
  return (
    <>
      <Qualified status={status} qualified={output.qualified} />
      {!output.qualified && reasons.length > 0 && (
        <>
          <span class="hidden-text">:</span> {reasons.join('; ')}
        </>
      )}
    </>
  )

  function questionText(key: string): string | undefined {
    const text = questions?.find((question) => question.key === key)?.text
    return text && (text.en ?? Object.values(text)[0])
  }
}

const VERDICT_BADGES = {
  verified: { text: t('verified'), tone: 'good' },
  not_verified: { text: t('not verified'), tone: 'bad' },
  inconclusive: { text: t('inconclusive'), tone: 'wait' },
  not_asked: { text: t('not asked'), tone: 'quiet' },
} as const

/** The verdict on a skill with its evidence. */
function SkillVerdict({ skill }: { skill: VerifiedSkill }) {
  const { text, tone } = VERDICT_BADGES[skill.verdict]
  return (
    <li>
      <div class="row between skill-verdict">
        <span>{skill.name}</span>
        <span class={`badge ${tone}`}>{text}</span>
      </div>
      {skill.asked > 0 && <div class="small">{capitalise(describeEvidence(skill))}</div>}
      {skill.evidence && <div class="soft small">{capitalise(describeQuestions(skill.evidence))}</div>}
    </li>
  )
}
