import { type AtsAdapter, basicAuthorization, PAUSED_TEXT, type ReportContext, type ReportedOrder } from '../adapter.ts'
import { type Outcome, skillVerdictText } from '../outcome.ts'

/** A value in the form that Ashby displays. Identifiers are unique within an update. */
interface AshbyValue {
  identifier: string
  label: string
  type: 'numeric_score' | 'numeric_duration_minutes' | 'url' | 'string' | 'boolean_success'
  value: string | number | boolean
  description?: string
}

/** Ashby's assessment framework. Updates are sent to Ashby's own API, with the API key of the customer. */
export const ashby: AtsAdapter = {
  name: 'ashby',
  title: 'Ashby',
  domains: ['ashbyhq.com'],
  apiUrl: { default: 'https://api.ashbyhq.com', help: 'change it only if Ashby has given you another address' },
  credentials: [
    {
      name: 'token',
      label: 'Ashby API key',
      help: 'create an API key with the permission candidatesWrite in Ashby, under Admin, API keys',
    },
  ],
  endpoints: [{ name: 'Base URL', path: '' }],
  reports: new Set(['started', 'paused', 'resumed', 'result', 'cancelled']),
  allowsReorder: true,
  buildReport: (order, context) => ({
    method: 'POST',
    url: `${context.apiUrl}/assessment.update`,
    authorization: basicAuthorization(context.credential),
    body: {
      assessment_id: order.order_id,
      timestamp: context.timestampMs,
      ...updateFields(order, context),
    },
  }),
  findRejection,
}

/** Ashby responds to most errors with the status 200 and `success: false`. */
function findRejection(text: string): string | undefined {
  if (!/"success"\s*:\s*false/.test(text)) return undefined
  const message = /"(?:message|errors)"\s*:\s*\[?\s*"([^"]{1,200})"/.exec(text)?.[1]
  return `Ashby rejected the report${message === undefined ? '' : `: ${message}`}`
}

function updateFields({ outcome, state }: ReportedOrder, { kind, reportUrl }: ReportContext) {
  if (kind === 'paused') return { assessment_status: text('status', 'Status', PAUSED_TEXT) }
  if (kind === 'resumed')
    return { assessment_status: text('status', 'Status', state === 'ordered' ? 'Sent' : 'Started') }
  // The order may have ended since the start was queued, but the updates are sent one after the other.
  if (kind === 'started' || !outcome) return { assessment_status: text('status', 'Status', 'Started') }
  if (outcome.status !== 'completed')
    return { cancelled_reason: text('cancelled_reason', 'Not completed', outcome.summary) }
  return {
    assessment_status: text('status', 'Status', 'Completed'),
    assessment_profile_url: {
      identifier: 'report',
      label: 'Report',
      type: 'url',
      value: reportUrl,
    } satisfies AshbyValue,
    assessment_result: resultOf(outcome),
    metadata: metadataOf(outcome),
  }
}

function resultOf({ score, summary }: Outcome): AshbyValue {
  if (score === null) return text('result', 'Result', summary)
  return {
    identifier: 'score',
    label: 'Verified skills, in percent',
    type: 'numeric_score',
    value: score,
    description: summary,
  }
}

function metadataOf({ qualified, summary, skills, duration_minutes }: Outcome): AshbyValue[] {
  return [
    text('summary', 'Summary', summary),
    ...(qualified === null
      ? []
      : [{ identifier: 'qualified', label: 'Qualified', type: 'boolean_success' as const, value: qualified }]),
    ...(duration_minutes === null
      ? []
      : [
          {
            identifier: 'duration',
            label: 'Duration',
            type: 'numeric_duration_minutes' as const,
            value: duration_minutes,
          },
        ]),
    ...skills.map((skill) => text(`skill_${skill.skill_id}`, skill.name, skillVerdictText(skill))),
  ]
}

function text(identifier: string, label: string, value: string): AshbyValue {
  return { identifier, label, type: 'string', value }
}
