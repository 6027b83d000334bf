import { describeQualified, describeReasons, describeVerifiedSkills } from '../../sdk/verdict-texts.ts'
import type { Candidacy, ResultReason } from '../campaigns/candidacy.ts'
import { inLanguage } from '../conversation/flow.ts'
import { resultOutput } from '../results/record.ts'

const REASON_TEXTS: Record<ResultReason, string> = {
  no_response: 'The candidate did not respond.',
  unreachable: 'The candidate could not be reached.',
  stopped: 'The candidate opted out of messages, or the campaign was stopped.',
  expired: 'The candidate started, and did not finish in time.',
  refused: 'The candidate declined to take part.',
}

/** Returns the text of an enrichment question, in English if available; undefined if the flow has no such question. */
export function questionTextOf({ flow }: Pick<Candidacy, 'flow'>, key: string): string | undefined {
  const question = flow.enrichment.find((each) => each.key === key)
  return question && inLanguage(question.text, 'en')
}

/** Returns the text of a report about a candidate whose conversation has not ended. */
export function describePending(hasStarted: boolean): string {
  return `${hasStarted ? 'The candidate has started and not finished yet.' : 'The candidate has not started yet.'} The report page shows the result when it is ready.`
}

/** Returns the result of a candidate whose conversation has ended, in one or two sentences. */
export function summariseResult(candidate: Candidacy): string {
  if (candidate.status !== 'completed')
    return candidate.reason ? REASON_TEXTS[candidate.reason] : 'The candidate did not finish.'
  const output = resultOutput(candidate)
  const skills = output.skills ?? []
  const verdict = describeQualified(output.qualified)
  const reasons = describeReasons(output, {
    withEvidence: true,
    questionText: (key) => questionTextOf(candidate, key),
  })
  const parts = [
    `${verdict[0]!.toUpperCase()}${verdict.slice(1)}${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}.`,
    ...(skills.length > 0 ? [`${describeVerifiedSkills(skills)}.`] : []),
    ...(output.interest === undefined || output.interest === null
      ? []
      : [output.interest === 'interested' ? 'Interested in the job.' : 'Not interested in the job.']),
  ]
  return parts.join(' ')
}
