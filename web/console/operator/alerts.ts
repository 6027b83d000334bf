/** What the operator's first page shows, and what of it needs somebody. */

export interface Now {
  service_on: boolean
  organisations_off: number
  processes: number
  workers: number
  jobs: { waiting: number; active: number; failed: number; oldest_seconds: number }
  mails: { failed_today: number; queued: number }
  failing_endpoints: {
    webhook_id: string
    org_id: string
    org_name: string
    mode: 'test' | 'live'
    url: string
    failing_since: string | null
  }[]
  /** The latest that failed on our side, of an hour. */
  failed_calls: {
    at: string
    org_id: string
    org_name: string
    mode: 'test' | 'live'
    method: string
    route: string
    code: string | null
    request_id: string
  }[]
  resting_keys: number
  skill_requests: number
}

export interface Trouble {
  text: string
  /** Where it is looked into; the first page lists it itself otherwise. */
  to?: string
  action?: string
}

const LONG_WAIT = 300

/** Worst first. */
export function troublesOf(now: Now): Trouble[] {
  const { jobs, mails, failing_endpoints: failing, failed_calls: calls } = now
  const all: (Trouble | false)[] = [
    !now.service_on && {
      text: 'The partner API is switched off for everyone.',
      to: '/operator/organisations',
      action: 'The switch',
    },
    now.processes > 0 &&
      now.workers === 0 && {
        text: 'No worker is running: mandates are not prepared, nobody is contacted, no mail is sent.',
        to: '/operator/jobs?state=waiting',
        action: 'What waits',
      },
    calls.length > 0 && { text: `${many(calls.length, 'call')} failed on our side in the last hour.` },
    jobs.oldest_seconds > LONG_WAIT && {
      text: `A job has been waiting for ${ageText(jobs.oldest_seconds)}; ${many(jobs.waiting, 'job')} wait in all.`,
      to: '/operator/jobs?state=waiting',
      action: 'What waits',
    },
    jobs.failed > 0 && {
      text: `${many(jobs.failed, 'job')} failed for good.`,
      to: '/operator/jobs',
      action: 'See why, and try again',
    },
    mails.failed_today > 0 && {
      text: `${many(mails.failed_today, 'mail')} could not be sent in the last day.`,
      to: '/operator/mails?status=failed',
      action: 'See why',
    },
    failing.length > 0 && {
      text: `${many(failing.length, 'webhook endpoint')} of partners ${failing.length === 1 ? 'has' : 'have'} taken nothing for a day.`,
    },
  ]
  return all.filter((each) => each !== false)
}

export function ageText(seconds: number): string {
  if (!seconds) return '–'
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`
  return seconds < 7200 ? `${Math.round(seconds / 60)}\u00a0min` : `${Math.round(seconds / 3600)}\u00a0h`
}

function many(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
