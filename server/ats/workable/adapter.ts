import { type AtsAdapter, PAUSED_TEXT, type ReportContext, type ReportedOrder } from '../adapter.ts'
import { type Outcome, skillVerdictText } from '../outcome.ts'

/** Workable's assessment providers. Results are sent to the callback URL of the order, with a token that Workable issued. */
export const workable: AtsAdapter = {
  name: 'workable',
  title: 'Workable',
  domains: ['workable.com'],
  credentials: [
    { name: 'token', label: 'Workable token', help: 'Workable issues the token when the integration is created' },
  ],
  endpoints: [{ name: 'Base URL', path: '' }],
  reports: new Set(['paused', 'resumed', 'result', 'cancelled']),
  allowsReorder: false,
  buildReport: (order, context) => ({
    method: 'PUT',
    url: order.callback_url!,
    authorization: `Bearer ${context.credential}`,
    body: bodyOf(order, context),
  }),
}

function bodyOf({ outcome }: ReportedOrder, { kind, reportUrl }: ReportContext) {
  if (kind === 'paused') return { status: 'pending', assessment: { summary: PAUSED_TEXT } }
  if (kind === 'resumed') return { status: 'pending', assessment: { summary: 'The campaign was resumed in Attestry.' } }
  const { score, summary, skills, duration_minutes } = outcome!
  return {
    status: statusOf(outcome!),
    results_url: reportUrl,
    assessment: {
      ...(score === null ? {} : { score }),
      ...gradeOf(outcome!),
      summary,
      details: skills.map((skill) => `${skill.name}: ${skillVerdictText(skill)}`).join('\n'),
      ...(duration_minutes === null ? {} : { duration: `${duration_minutes} min` }),
    },
  }
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
