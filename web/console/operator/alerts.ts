import type { ServerStatus } from '../../api-types/console.ts'

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
      text: 'The partner API is switched off for everyone.',
      to: '/operator/organisations',
      action: 'Switch the partner API on',
    },
    status.processes > 0 &&
      status.workers === 0 && {
        text: 'No worker is running: mandates are not prepared, candidates are not contacted and emails are not sent.',
        to: '/operator/jobs?state=waiting',
        action: 'View waiting jobs',
      },
    calls.length > 0 && {
      text: `${countedNoun(calls.length, 'API call')} failed with a server error in the last hour.`,
    },
    jobs.oldest_seconds > LONG_QUEUE_WAIT_SECONDS && {
      text: `The oldest job has been waiting for ${ageText(jobs.oldest_seconds)}; ${countedNoun(jobs.waiting, 'job')} ${jobs.waiting === 1 ? 'is' : 'are'} waiting in total.`,
      to: '/operator/jobs?state=waiting',
      action: 'View waiting jobs',
    },
    jobs.failed > 0 && {
      text: `${countedNoun(jobs.failed, 'job')} failed after the last retry.`,
      to: '/operator/jobs',
      action: 'View and retry the jobs',
    },
    status.dead_letters > 0 && {
      text: `${countedNoun(status.dead_letters, 'row')} could not be processed; the other rows are not affected.`,
      to: '/operator/jobs',
      action: 'View, retry or discard them',
    },
    mails.failed_today > 0 && {
      text: `${countedNoun(mails.failed_today, 'email')} could not be sent in the last day.`,
      to: '/operator/mails?status=failed',
      action: 'View errors',
    },
    mails.retrying > 0 && {
      text: `${countedNoun(mails.retrying, 'email')} could not be sent yet and ${mails.retrying === 1 ? 'is' : 'are'} retried. Check the mail server.`,
      to: '/operator/mails?status=queued',
      action: 'View errors',
    },
    failing.length > 0 && {
      text: `${countedNoun(failing.length, 'webhook endpoint')} ${failing.length === 1 ? 'rejects' : 'reject'} every event.`,
    },
    status.organisations_off > 0 && {
      text: `${countedNoun(status.organisations_off, 'organisation')} ${status.organisations_off === 1 ? 'is' : 'are'} switched off.`,
      to: '/operator/organisations',
      action: 'View organisations',
    },
    status.skill_requests > 0 && {
      text: `${countedNoun(status.skill_requests, 'skill request')} ${status.skill_requests === 1 ? 'waits' : 'wait'} for a decision.`,
      to: '/operator/skills',
      action: 'View skill requests',
      isTask: true,
    },
  ]
  return possibleAlerts.filter((each) => each !== false)
}

export function ageText(seconds: number): string {
  if (!seconds) return '–'
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`
  return seconds < 7200 ? `${Math.round(seconds / 60)}\u00a0min` : `${Math.round(seconds / 3600)}\u00a0h`
}

function countedNoun(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
