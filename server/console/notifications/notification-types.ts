/** Members choose for each kind whether they want notifications. */
export const notificationKinds = ['results', 'assignments', 'failures', 'credits', 'skill_requests'] as const
export type NotificationKind = (typeof notificationKinds)[number]

export const KIND_OF_TYPE = {
  candidates_qualified: 'results',
  candidates_undecided: 'results',
  candidates_ended: 'results',
  candidates_assigned: 'assignments',
  endpoint_failing: 'failures',
  messages_failed: 'failures',
  ats_report_failed: 'failures',
  credits_low: 'credits',
  credits_exhausted: 'credits',
  skill_request_approved: 'skill_requests',
  skill_request_rejected: 'skill_requests',
} as const satisfies Record<string, NotificationKind>
export type NotificationType = keyof typeof KIND_OF_TYPE
