import { type AtsAdapter, basicAuthorization } from '../adapter.ts'

/**
 * Greenhouse's Assessment Partner API. A report has no body: Greenhouse then reads the result with test_status. It knows no other status
 * than "complete", so every end of an order is reported as such, with its summary.
 */
export const greenhouse: AtsAdapter = {
  name: 'greenhouse',
  title: 'Greenhouse',
  domains: ['greenhouse.io'],
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
}
