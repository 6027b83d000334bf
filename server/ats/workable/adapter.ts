import type { AtsAdapter } from '../adapter.ts'
import { type Outcome, skillVerdictText } from '../outcome.ts'

/** Workable's assessment providers. Results are sent to the callback URL of the order, with a token that Workable issued. */
export const workable: AtsAdapter = {
  name: 'workable',
  title: 'Workable',
  domains: ['workable.com'],
  credential: { label: 'Workable token', help: 'Workable issues the token when the integration is created' },
  endpoints: [{ name: 'Base URL', path: '' }],
  reports: new Set(['result', 'cancelled']),
  allowsReorder: false,
  buildReport: ({ callback_url, outcome }, { credential, reportUrl }) => ({
    method: 'PUT',
    url: callback_url!,
    authorization: `Bearer ${credential}`,
    body: {
      status: statusOf(outcome!),
      results_url: reportUrl,
      assessment: {
        ...(outcome!.score === null ? {} : { score: outcome!.score }),
        ...gradeOf(outcome!),
        summary: outcome!.summary,
        details: outcome!.skills.map((skill) => `${skill.name}: ${skillVerdictText(skill)}`).join('\n'),
        ...(outcome!.duration_minutes === null ? {} : { duration: `${outcome!.duration_minutes} min` }),
      },
    },
  }),
}

/** Workable has no failed status: a candidate who did not respond in time has an expired assessment. */
function statusOf({ status, reason }: Outcome): 'completed' | 'rejected' | 'expired' {
  if (status === 'completed') return 'completed'
  return reason === 'no_response' || reason === 'expired' ? 'expired' : 'rejected'
}

function gradeOf({ qualified, status }: Outcome): { grade?: 'passed' | 'failed' } {
  if (status !== 'completed' || qualified === null) return {}
  return { grade: qualified ? 'passed' : 'failed' }
}
