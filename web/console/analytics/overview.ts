import type { AnalyticsOverview } from '../../api-types/partner.ts'

/** The stages of the funnel, in order. The last two count only candidates with a completed result. */
export const STAGES = [
  ['enrolled', 'Enrolled'],
  ['contacted', 'Contacted'],
  ['delivered', 'Delivered'],
  ['responded', 'Responded'],
  ['consented', 'Consented'],
  ['enrichment_done', 'Own questions done'],
  ['skills_done', 'Skill questions done'],
  ['interest_done', 'Interest question done'],
  ['completed', 'Completed'],
  ['qualified', 'Qualified'],
  ['interested', 'Interested'],
] as const

export const DROP_OFF_LABELS: Record<string, string> = {
  no_response: 'Never answered',
  consent: 'At consent',
  language: 'At the language question',
  enrichment: 'In your own questions',
  skills: 'In the skill questions',
  interest: 'At the interest question',
}

/** Returns the number of results received in the period. */
export function resultCount({ daily }: AnalyticsOverview): number {
  return daily.reduce((total, { completed, declined, failed }) => total + completed + declined + failed, 0)
}
