import { type AtsAdapter, basicAuthorization, type ReportedOrder } from '../adapter.ts'
import { skillVerdictText } from '../outcome.ts'

/**
 * Greenhouse's Assessment Partner API. A report has no body: Greenhouse then reads the result with test_status. It knows no other status
 * than "complete", so every end of an order is reported as such, with its summary.
 */
export const greenhouse: AtsAdapter = {
  name: 'greenhouse',
  title: 'Greenhouse',
  domains: ['greenhouse.io'],
  credentials: [],
  endpoints: [
    { name: 'list_tests', path: '/list_tests' },
    { name: 'send_test', path: '/send_test' },
    { name: 'test_status', path: '/test_status' },
    { name: 'response_error', path: '/response_error' },
  ],
  reports: new Set(['result', 'cancelled']),
  allowsReorder: false,
  buildReport: ({ callback_url }, { credential }) => ({
    method: 'PATCH',
    url: callback_url!,
    authorization: basicAuthorization(credential),
  }),
  buildStatus: testStatus,
}

/** Returns the response to test_status. */
export function testStatus({ state, is_paused, outcome }: ReportedOrder, reportUrl: string) {
  if (!outcome) return { partner_status: is_paused ? 'paused' : state === 'started' ? 'in_progress' : 'sent' }
  return {
    partner_status: 'complete',
    partner_profile_url: reportUrl,
    ...(outcome.score === null ? {} : { partner_score: outcome.score }),
    metadata: {
      outcome: outcome.status,
      summary: outcome.summary,
      ...(outcome.qualified === null ? {} : { qualified: outcome.qualified }),
      ...(outcome.duration_minutes === null ? {} : { duration_minutes: outcome.duration_minutes }),
      ...Object.fromEntries(outcome.skills.map((skill) => [`skill: ${skill.name}`, skillVerdictText(skill)])),
    },
  }
}
