export const eventTypes = [
  'result.completed',
  'result.declined',
  'result.failed',
  'mandate.ready',
  'mandate.failed',
  'mandate.question_retired',
  'campaign.completed',
  'skill_request.resolved',
  'verification.initiated',
  'verification.requested',
  'verification.completed',
  'verification.declined',
  'verification.failed',
  'verification.expired',
  'webhook.test',
] as const
export type EventType = (typeof eventTypes)[number]
