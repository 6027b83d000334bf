import type { NotificationKind } from '../../api-types/console.ts'

export const KIND_NAMES: Record<NotificationKind, string> = {
  results: 'Results',
  failures: 'Failures',
  credits: 'Credits',
  skill_requests: 'Skill requests',
}

export const KIND_HINTS: Record<NotificationKind, string> = {
  results: 'Candidates who qualified, or ended without qualifying.',
  failures: 'A webhook endpoint, a channel or a report to an applicant tracking system fails.',
  credits: 'Fewer than 100 credits are left, or none.',
  skill_requests: 'A skill that you asked for was added or rejected.',
}
