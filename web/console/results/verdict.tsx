import {
  type DescribedOutput,
  describeQualified,
  describeReasons,
  describeVerifiedSkills,
} from '../../../sdk/verdict-texts.ts'
import type { KnockoutAnswer, ResultStatus } from '../../api-types/partner.ts'

const VERDICT_CLASSES = { qualified: 'good-text', 'not qualified': 'bad-text', undecided: 'wait-text' } as const

/** Whether a candidate is qualified. A candidate who did not finish has no verdict. */
export function Qualified({ status, qualified }: { status: ResultStatus; qualified: boolean | null }) {
  if (status !== 'completed') return <span class="soft">–</span>
  const text = describeQualified(qualified)
  return <span class={`${VERDICT_CLASSES[text]} whole`}>{capitalise(text)}</span>
}

interface ListedVerdict extends Pick<DescribedOutput, 'qualified' | 'reasons' | 'skills'> {
  knocked_out_by: KnockoutAnswer | null
}

/** The evidence for a qualified candidate, or the reasons why a candidate is not qualified or undecided; for lists. */
export function VerdictSummary({ verdict }: { verdict: ListedVerdict }) {
  const lines = summaryLines(verdict)
  return (
    <>
      {lines.map((line) => (
        <div class="soft small" key={line}>
          {capitalise(line)}
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
