import type { KnockoutAnswer, ResultStatus } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { type DescribedOutput, describeReasons, describeVerifiedSkills } from './verdict-texts.ts'

/** Whether a candidate is qualified. A candidate who did not finish has no verdict. */
export function Qualified({ status, qualified }: { status: ResultStatus; qualified: boolean | null }) {
  if (status !== 'completed') return <span class="soft">–</span>
  if (qualified === null) return <span class="wait-text whole">{t('Undecided')}</span>
  return qualified ? (
    <span class="good-text whole">{t('Qualified')}</span>
  ) : (
    <span class="bad-text whole">{t('Not qualified')}</span>
  )
}

/** With more reasons, a list shows the first one and the number of others, so that its rows stay low. */
const MAX_SUMMARY_LINES = 2

interface ListedVerdict extends Pick<DescribedOutput, 'qualified' | 'reasons' | 'skills'> {
  knocked_out_by: KnockoutAnswer | null
}

/** The evidence for a qualified candidate, or the reasons why a candidate is not qualified or undecided; for lists. */
export function VerdictSummary({ verdict }: { verdict: ListedVerdict }) {
  const lines = summaryLines(verdict)
  const shownLines = lines.length > MAX_SUMMARY_LINES ? lines.slice(0, 1) : lines
  return (
    <>
      {shownLines.map((line) => (
        <div class="verdict-line soft small" key={line}>
          <span>{capitalise(line)}</span>
          {shownLines.length < lines.length && (
            <span>, {t('and {count} more reasons', { count: lines.length - shownLines.length })}</span>
          )}
        </div>
      ))}
    </>
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

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
