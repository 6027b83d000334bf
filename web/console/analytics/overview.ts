/** What /analytics/…/overview answers. */
export interface Overview {
  funnel: Record<Stage, number>
  channels: { channel: string; sent: number; delivered: number; read: number; replied: number; failed: number }[]
  follow_ups: { step: number; sent: number; replied: number }[]
  calls: {
    placed: number
    answered: number
    no_answer: number
    busy: number
    failed: number
    total_seconds: number
    average_seconds: number
  }
  drop_offs: { at: string; candidates: number }[]
  languages: { language: string; candidates: number; completed: number }[]
  daily: { date: string; enrolled: number; completed: number; declined: number; failed: number }[]
}

export type Stage = (typeof STAGES)[number][0]

/** In the order in which candidates pass them; the last two are about those who completed. */
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
  language: 'At the language',
  enrichment: 'In the questions',
  skills: 'In the skills',
  interest: 'At the interest',
}

/** How many results came in the period. */
export function endsIn({ daily }: Overview): number {
  return daily.reduce((total, { completed, declined, failed }) => total + completed + declined + failed, 0)
}
