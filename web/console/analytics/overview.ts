import type { AnalyticsOverview } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'

/** The stages of the funnel, in order. The last two count only candidates with a completed result. */
export const STAGES = [
  ['enrolled', t('Enrolled')],
  ['contacted', t('Contacted')],
  ['delivered', t('Delivered')],
  ['responded', t('Responded')],
  ['consented', t('Consented')],
  ['enrichment_done', t('Finished your questions')],
  ['skills_done', t('Finished skill questions')],
  ['interest_done', t('Finished interest question')],
  ['completed', t('Completed')],
  ['qualified', t('Qualified')],
  ['interested', t('Interested')],
] as const

export const DROP_OFF_LABELS: Record<string, string> = {
  no_response: t('Never answered'),
  consent: t('At consent'),
  language: t('At the language question'),
  enrichment: t('In your own questions'),
  skills: t('In the skill questions'),
  interest: t('At the interest question'),
}

/** Returns the number of results received in the period. */
export function resultCount({ daily }: AnalyticsOverview): number {
  return daily.reduce((total, { completed, declined, failed }) => total + completed + declined + failed, 0)
}
