import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AtsAdapter, CallContext } from '../adapter.ts'
import { skillVerdictText } from '../outcome.ts'

/**
 * Kombo's unified assessment API, which connects many systems. Kombo receives the list of tests, and sends orders as webhooks that it signs.
 * It has no status for a failed assessment: each end without a result is reported as cancelled, with its summary.
 */
export const kombo: AtsAdapter = {
  name: 'kombo',
  title: 'Kombo',
  domains: ['kombo.dev'],
  apiUrl: {
    default: 'https://api.kombo.dev/v1',
    help: 'use https://api.us.kombo.dev/v1 for the US region of Kombo',
  },
  credentials: [
    { name: 'token', label: 'Kombo API key', help: 'create it in the Kombo dashboard, on the page Secrets' },
    {
      name: 'account_id',
      label: 'Kombo integration ID',
      help: 'the dashboard shows it with the integration of the customer, such as workday:HWUTwvyx2wLoSUHphiWVrp28',
    },
    {
      name: 'signing_secret',
      label: 'Kombo webhook secret',
      help: 'the dashboard shows it after you have created the webhook',
      isLater: true,
    },
  ],
  endpoints: [{ name: 'Webhook for assessment orders', path: '/orders/:connection_id' }],
  reports: new Set(['result', 'cancelled']),
  allowsReorder: false,
  buildReport: ({ identity, outcome }, context) => ({
    ...requestTo(context, `/assessment/orders/${encodeURIComponent(identity)}/result`),
    body: {
      status: outcome!.status === 'completed' ? 'COMPLETED' : 'CANCELLED',
      result_url: context.reportUrl,
      completed_at: outcome!.ended_at,
      ...(outcome!.score === null ? {} : { score: outcome!.score, max_score: 100 }),
      attributes: [
        text('Summary', outcome!.summary),
        ...(outcome!.qualified === null ? [] : [text('Qualified', outcome!.qualified ? 'yes' : 'no')]),
        ...outcome!.skills.map((skill) => text(skill.name, skillVerdictText(skill))),
      ],
    },
  }),
  buildTestList: (tests, context) => ({
    ...requestTo(context, '/assessment/packages'),
    body: {
      packages: tests.map(({ id, name, description }) => ({ id, type: 'SKILLS_TEST', name, description })),
    },
  }),
  verifySignature(body, headers, secret) {
    const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('base64url'))
    const sent = Buffer.from(String(headers['x-kombo-signature'] ?? ''))
    return sent.length === expected.length && timingSafeEqual(sent, expected)
  },
}

function requestTo({ apiUrl, credential, accountId }: CallContext, path: string) {
  return {
    method: 'PUT' as const,
    url: `${apiUrl}${path}`,
    authorization: `Bearer ${credential}`,
    headers: { 'x-integration-id': accountId },
  }
}

function text(label: string, value: string) {
  return { type: 'TEXT', label, value }
}
