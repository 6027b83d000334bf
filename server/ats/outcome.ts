import { describeEvidence } from '../../sdk/verdict-texts.ts'
import type { Candidacy, ResultReason } from '../campaigns/candidacy.ts'
import { MINUTE } from '../platform/clock.ts'
import { summariseResult } from '../reports/summary.ts'
import { resultOutput } from '../results/record.ts'

/** The end of an order as it is reported to the ATS. It has no phone number and no email address. */
export interface Outcome {
  status: 'completed' | 'declined' | 'failed' | 'cancelled'
  reason: ResultReason | null
  /** Null if the candidate did not complete, or if it is undecided. */
  qualified: boolean | null
  /** Verified skills of those that were to be verified, in percent; null if the candidate is undecided or no skill has a verdict. */
  score: number | null
  /** One or two sentences for a recruiter. */
  summary: string
  skills: { skill_id: string; name: string; verdict: string; evidence: string }[]
  duration_minutes: number | null
  ended_at: string
}

const VERDICT_TEXTS: Record<string, string> = {
  verified: 'verified',
  not_verified: 'not verified',
  inconclusive: 'inconclusive',
  not_asked: 'not asked',
}

/**
 * Returns the verdict on a skill with its evidence, such as "verified (4 of 4 correct, 97 % certain)" or
 * "inconclusive: not enough evidence (5 of 8 correct)".
 */
export function skillVerdictText({ verdict, evidence }: Outcome['skills'][number]): string {
  if (verdict === evidence) return verdict
  return evidence.endsWith(')') ? `${verdict}: ${evidence}` : `${verdict} (${evidence})`
}

/** Returns the outcome of an order that was rejected. */
export function rejectedOutcome(summary: string, endedAt: Date): Outcome {
  return {
    status: 'failed',
    reason: null,
    qualified: null,
    score: null,
    summary,
    skills: [],
    duration_minutes: null,
    ended_at: endedAt.toISOString(),
  }
}

/** Returns the outcome of a candidate whose conversation has ended. */
export function outcomeOf(candidate: Candidacy, isCancelled: boolean): Outcome {
  const output = resultOutput(candidate)
  const skills = output.skills ?? []
  const status = isCancelled ? 'cancelled' : (candidate.status as Exclude<Outcome['status'], 'cancelled'>)
  const verifiedCount = skills.filter(({ verdict }) => verdict === 'verified').length
  const isDecided =
    status === 'completed' && output.qualified !== null && skills.some(({ verdict }) => verdict !== 'not_asked')
  const { started_at, completed_at } = candidate
  return {
    status,
    reason: candidate.reason,
    qualified: output.qualified,
    // A score of an undecided candidate would read like that of one who failed.
    score: isDecided ? Math.round((100 * verifiedCount) / skills.length) : null,
    summary: isCancelled ? 'The assessment was cancelled.' : summariseResult(candidate),
    skills: skills.map(({ skill_id, name, ...verdict }) => ({
      skill_id,
      name,
      verdict: VERDICT_TEXTS[verdict.verdict] ?? verdict.verdict,
      evidence: describeEvidence(verdict),
    })),
    duration_minutes:
      started_at && completed_at
        ? Math.max(1, Math.round((completed_at.getTime() - started_at.getTime()) / MINUTE))
        : null,
    ended_at: (completed_at ?? candidate.updated_at).toISOString(),
  }
}
