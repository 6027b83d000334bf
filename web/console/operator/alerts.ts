import type { ServerStatus } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'

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
          'No worker is running: mandates are not prepared, candidates are not contacted and emails are not sent.',
        ),
        to: '/operator/jobs?state=waiting',
        action: t('View waiting jobs'),
      },
    calls.length > 0 && {
      text: `${countedNoun(calls.length, t('API call'))} failed with a server error in the last hour.`,
    },
    jobs.oldest_seconds > LONG_QUEUE_WAIT_SECONDS && {
      text: `The oldest job has been waiting for ${ageText(jobs.oldest_seconds)}; ${countedNoun(jobs.waiting, 'job')} ${jobs.waiting === 1 ? 'is' : 'are'} waiting in total.`,
      to: '/operator/jobs?state=waiting',
      action: t('View waiting jobs'),
    },
    jobs.failed > 0 && {
      text: t('{failed} failed after the last retry.', { failed: countedNoun(jobs.failed, 'job') }),
      to: '/operator/jobs',
      action: t('View and retry the jobs'),
    },
    status.dead_letters > 0 && {
      text: t('{deadLetters} could not be processed; the other rows are not affected.', {
        deadLetters: countedNoun(status.dead_letters, 'row'),
      }),
      to: '/operator/jobs',
      action: t('View, retry or discard them'),
    },
    mails.failed_today > 0 && {
      text: t('{failedToday} could not be sent in the last day.', {
        failedToday: countedNoun(mails.failed_today, 'email'),
      }),
      to: '/operator/mails?status=failed',
      action: t('View errors'),
    },
    mails.retrying > 0 && {
      text: `${countedNoun(mails.retrying, 'email')} could not be sent yet and ${mails.retrying === 1 ? 'is' : 'are'} retried. Check the mail server.`,
      to: '/operator/mails?status=queued',
      action: t('View errors'),
    },
    failing.length > 0 && {
      text: `${countedNoun(failing.length, t('webhook endpoint'))} ${failing.length === 1 ? 'rejects' : 'reject'} every event.`,
    },
    status.organisations_off > 0 && {
      text: `${countedNoun(status.organisations_off, 'organisation')} ${status.organisations_off === 1 ? 'is' : 'are'} switched off.`,
      to: '/operator/organisations',
      action: t('View organisations'),
    },
    status.skill_requests > 0 && {
      text: `${countedNoun(status.skill_requests, t('skill request'))} ${status.skill_requests === 1 ? 'waits' : 'wait'} for a decision.`,
      to: '/operator/skills',
      action: t('View skill requests'),
      isTask: true,
    },
  ]
  return possibleAlerts.filter((each) => each !== false)
}

export function ageText(seconds: number): string {
  if (!seconds) return '–'
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`
  return seconds < 7200
    ? t('{seconds} min', { seconds: Math.round(seconds / 60) })
    : `${Math.round(seconds / 3600)}\u00a0h`
}

function countedNoun(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
