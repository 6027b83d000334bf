import type { AnalyticsOverview } from '../../api-types/partner.ts'

/** The stages of the funnel, in order; the last two concern completed candidates. */
export const STAGES = [
  ['enrolled', 'Enrolled'],
  ['contacted', 'Contacted'],
  ['delivered', 'Delivered'],
  ['responded', 'Responded'],
  ['consented', 'Consented'],
  ['enrichment_done', 'Questions done'],
  ['skills_done', 'Skills done'],
  ['interest_done', 'Interest done'],
  ['completed', 'Completed'],
  ['qualified', 'Qualified'],
  ['interested', 'Interested'],
] as const

export const DROP_OFFS: Record<string, string> = {
  no_response: 'Never answered',
  consent: 'At consent',
  language: 'At the language question',
  enrichment: 'In the questions',
  skills: 'In the skills',
  interest: 'At the interest question',
}

/** Returns the number of results received in the period. */
export function resultCount({ daily }: AnalyticsOverview): number {
  return daily.reduce((total, { completed, declined, failed }) => total + completed + declined + failed, 0)
}
