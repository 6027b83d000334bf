import type { NotificationKind } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

export const KIND_NAMES: Record<NotificationKind, string> = {
  results: t('Results'),
  assignments: t('Assignments'),
  failures: t('Failures'),
  credits: t('Credits'),
  skill_requests: t('Skill requests'),
}

export const KIND_HINTS: Record<NotificationKind, string> = {
  results: t('Candidates who qualified, are undecided, or ended without qualifying.'),
  assignments: t('Candidates that others assign to you.'),
  failures: t('A webhook endpoint, a channel or a report to an applicant tracking system fails.'),
  credits: t('Fewer than 100 credits are left, or none.'),
  skill_requests: t('A skill that you asked for was added or rejected.'),
}
