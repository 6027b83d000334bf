import type { KnockoutAnswer, ResultOutput, ResultStatus } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { capitalise } from '../shared/capitalise.ts'
import { type DescribedOutput, describeReasons, describeVerifiedSkills } from './verdict-texts.ts'

/** Whether a candidate is qualified. A candidate who did not finish has no verdict. */
export function Qualified({ status, qualified }: { status: ResultStatus; qualified: boolean | null }) {
  if (status !== 'completed') return <span class="soft no-value">–</span>
  if (qualified === null) return <span class="badge wait">{t('Undecided')}</span>
  return qualified ? (
    <span class="badge good">{t('Qualified')}</span>
  ) : (
    <span class="badge bad">{t('Not qualified')}</span>
  )
}

/** Marks a candidate who turned the job down, and is not to be called although the answers qualify. */
export function NotInterested({ interest }: Pick<ResultOutput, 'interest'>) {
  return interest === 'not_interested' ? <span class="badge">{t('Not interested')}</span> : null
}

interface ListedVerdict extends Pick<DescribedOutput, 'qualified' | 'reasons' | 'skills'> {
  knocked_out_by: KnockoutAnswer | null
}

/**
 * The evidence for a qualified candidate, or the first reason why a candidate is not qualified or undecided, with the number of other reasons;
 * for lists. The tooltip shows all reasons.
 */
export function VerdictSummary({ verdict }: { verdict: ListedVerdict }) {
  const [first, ...others] = summaryLines(verdict).map(capitalise)
  if (first === undefined) return null
  return (
    <div class="verdict-line soft small" title={[first, ...others].join('\n')}>
      <span>{first}</span>
      {others.length > 0 && (
        <span class="whole">
          {' '}
          <span aria-hidden="true">+{others.length.toLocaleString(displayLocale())}</span>
          <span class="hidden-text">
            {t(others.length === 1 ? 'and 1 more reason' : 'and {count} more reasons', { count: others.length })}
          </span>
        </span>
      )}
    </div>
  )
}

function summaryLines({ qualified, reasons, skills = [], knocked_out_by }: ListedVerdict): string[] {
  if (qualified) return skills.length > 0 ? [describeVerifiedSkills(skills)] : []
  const enrichment = knocked_out_by ? { [knocked_out_by.key]: knocked_out_by } : {}
  return describeReasons(
    { qualified, reasons, skills, enrichment },
    { questionText: () => knocked_out_by?.question, withEvidence: true },
  )
}
