import type { ServerStatus } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'

/** A problem that an operator must resolve. */
export interface Alert {
  text: string
  /** Path of the page with the details; undefined if the status page shows them. */
  to?: string
  action?: string
  /** True for work that is waiting, which is not a failure. */
  isTask?: boolean
}

const LONG_QUEUE_WAIT_SECONDS = 300

/** Returns the current alerts, most severe first. */
export function alertsFor(status: ServerStatus): Alert[] {
  const { jobs, mails, failing_endpoints: failing, failed_calls: calls } = status
  const possibleAlerts: (Alert | false)[] = [
    !status.service_on && {
      text: t('The partner API is switched off for everyone.'),
      to: '/operator/organisations',
      action: t('Switch the partner API on'),
    },
    status.processes > 0 &&
      status.workers === 0 && {
        text: t(
          'No worker is running: questions are not prepared, candidates are not contacted and emails are not sent.',
        ),
        to: '/operator/jobs?state=waiting',
        action: t('View waiting jobs'),
      },
    calls.length > 0 && {
      text: t(
        calls.length === 1
          ? '{count} API call failed with a server error in the last hour.'
          : '{count} API calls failed with a server error in the last hour.',
        { count: formatCount(calls.length) },
      ),
    },
    jobs.oldest_seconds > LONG_QUEUE_WAIT_SECONDS && {
      text: t(
        jobs.waiting === 1
          ? 'The oldest job has been waiting for {age}; {count} job is waiting in total.'
          : 'The oldest job has been waiting for {age}; {count} jobs are waiting in total.',
        { age: ageText(jobs.oldest_seconds), count: formatCount(jobs.waiting) },
      ),
      to: '/operator/jobs?state=waiting',
      action: t('View waiting jobs'),
    },
    jobs.failed > 0 && {
      text: t(
        jobs.failed === 1 ? '{count} job failed after the last retry.' : '{count} jobs failed after the last retry.',
        { count: formatCount(jobs.failed) },
      ),
      to: '/operator/jobs',
      action: t('View and retry the jobs'),
    },
    status.dead_letters > 0 && {
      text: t(
        status.dead_letters === 1
          ? '{count} row could not be processed; the other rows are not affected.'
          : '{count} rows could not be processed; the other rows are not affected.',
        { count: formatCount(status.dead_letters) },
      ),
      to: '/operator/jobs',
      action: t('View, retry or discard them'),
    },
    mails.failed_today > 0 && {
      text: t(
        mails.failed_today === 1
          ? '{count} email could not be sent in the last day.'
          : '{count} emails could not be sent in the last day.',
        { count: formatCount(mails.failed_today) },
      ),
      to: '/operator/mails?status=failed',
      action: t('View errors'),
    },
    mails.retrying > 0 && {
      text: t(
        mails.retrying === 1
          ? '{count} email could not be sent yet and is retried. Check the mail server.'
          : '{count} emails could not be sent yet and are retried. Check the mail server.',
        { count: formatCount(mails.retrying) },
      ),
      to: '/operator/mails?status=queued',
      action: t('View errors'),
    },
    failing.length > 0 && {
      text: t(
        failing.length === 1
          ? '{count} webhook endpoint rejects every event.'
          : '{count} webhook endpoints reject every event.',
        { count: formatCount(failing.length) },
      ),
    },
    status.organisations_off > 0 && {
      text: t(
        status.organisations_off === 1
          ? '{count} organisation is switched off.'
          : '{count} organisations are switched off.',
        { count: formatCount(status.organisations_off) },
      ),
      to: '/operator/organisations',
      action: t('View organisations'),
    },
    status.skill_requests > 0 && {
      text: t(
        status.skill_requests === 1
          ? '{count} skill request waits for a decision.'
          : '{count} skill requests wait for a decision.',
        { count: formatCount(status.skill_requests) },
      ),
      to: '/operator/skills',
      action: t('View skill requests'),
      isTask: true,
    },
  ]
  return possibleAlerts.filter((each) => each !== false)
}

export function ageText(seconds: number): string {
  if (!seconds) return '–'
  if (seconds < 120) return t('{seconds}\u00a0s', { seconds: Math.round(seconds) })
  return seconds < 7200
    ? t('{minutes}\u00a0min', { minutes: Math.round(seconds / 60) })
    : t('{hours}\u00a0h', { hours: Math.round(seconds / 3600) })
}

function formatCount(count: number): string {
  return count.toLocaleString(displayLocale())
}
