import { Type } from 'typebox'
import {
  basic,
  newOrder,
  openConnector,
  type Reaction,
  type ReceivedCall,
  type SimulatedAts,
  type SimulatedAtsOptions,
  type SimulatedOrder,
  type SimulatedPerson,
} from './simulated-ats.ts'

const closed = { additionalProperties: false }

const AssessmentList = Type.Object(
  {
    success: Type.Literal(true),
    results: Type.Array(
      Type.Object(
        {
          assessment_type_id: Type.String({ minLength: 1 }),
          name: Type.String({ minLength: 1 }),
          description: Type.String(),
        },
        closed,
      ),
    ),
  },
  closed,
)
const customFieldProperties = {
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  isRequired: Type.Optional(Type.Boolean()),
}
const Started = Type.Object(
  { success: Type.Literal(true), results: Type.Object({ assessment_id: Type.String({ minLength: 1 }) }, closed) },
  closed,
)
const CustomFieldList = Type.Object(
  {
    success: Type.Literal(true),
    fields: Type.Array(
      Type.Union([
        Type.Object({ ...customFieldProperties, type: Type.Enum(['String', 'Phone', 'Email', 'Boolean']) }, closed),
        Type.Object(
          {
            ...customFieldProperties,
            type: Type.Enum(['ValueSelect', 'MultiValueSelect']),
            possible_values: Type.Array(
              Type.Object({ key: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) }, closed),
            ),
          },
          closed,
        ),
      ]),
    ),
  },
  closed,
)
const value = (type: string, valueSchema: Type.TSchema) =>
  Type.Object(
    {
      identifier: Type.String({ minLength: 1 }),
      label: Type.String({ minLength: 1 }),
      description: Type.Optional(Type.String()),
      type: Type.Literal(type),
      value: valueSchema,
    },
    closed,
  )
const AnyValue = Type.Union([
  value('numeric_score', Type.Number()),
  value('numeric_duration_minutes', Type.Number()),
  value('url', Type.String({ pattern: '^https?://' })),
  value('string', Type.String()),
  value('boolean_success', Type.Boolean()),
])
const Update = Type.Object(
  {
    assessment_id: Type.String({ minLength: 1 }),
    timestamp: Type.Integer({ minimum: 1_000_000_000_000 }),
    assessment_status: Type.Optional(AnyValue),
    assessment_profile_url: Type.Optional(value('url', Type.String({ pattern: '^https?://' }))),
    assessment_result: Type.Optional(AnyValue),
    cancelled_reason: Type.Optional(AnyValue),
    metadata: Type.Optional(Type.Array(AnyValue)),
  },
  closed,
)

interface ListedAssessment {
  assessment_type_id: string
  name: string
}

interface AshbyUpdate
  extends Partial<
    Record<'assessment_status' | 'assessment_profile_url' | 'assessment_result' | 'cancelled_reason', Labelled>
  > {
  assessment_id: string
  timestamp: number
  metadata?: Labelled[]
}

interface Labelled {
  identifier: string
}

/** Simulates Ashby: starts and cancels assessments, and receives updates at its own API. */
export async function simulateAshby(options: SimulatedAtsOptions): Promise<SimulatedAts> {
  const authorization = basic(options.key)
  const orders = new Map<string, SimulatedOrder & { timestamp: number }>()
  const connector = await openConnector('ashby', options, receive)

  return Object.assign(connector, {
    name: 'ashby',
    async listTests() {
      const { results } = await connector.callForTests<{ results: ListedAssessment[] }>(
        'POST',
        '/assessment.list',
        authorization,
        {},
        AssessmentList,
      )
      return results.map(({ assessment_type_id: id, name }) => ({ id, name }))
    },
    async order(identity: string, testId: string, person: SimulatedPerson) {
      const { status, body } = await connector.call<{ results: { assessment_id: string } }>(
        'POST',
        '/assessment.start',
        authorization,
        {
          assessment_type_id: testId,
          candidate: {
            ashby_id: person.id,
            first_name: person.firstName,
            last_name: person.lastName,
            email: person.email,
            ashby_profile_url: `https://app.ashbyhq.com/candidate-searches/new/right-side/candidates/${person.id}`,
          },
          application: { ashby_id: identity, status: 'Active' },
          job: { ashby_id: 'job-1', name: 'Electrician', ashby_job_url: 'https://app.ashbyhq.com/jobs/job-1' },
          ...additionalFields(person),
        },
        Started,
      )
      const id = body.results?.assessment_id
      const order = orders.get(id ?? '') ?? { ...newOrder(status, id, body.message), timestamp: 0 }
      if (id !== undefined) orders.set(id, order)
      return order
    },
    async listCustomFields() {
      const { body } = await connector.call<{ fields: { id: string }[] }>(
        'POST',
        '/assessment.customField.list',
        authorization,
        {},
        CustomFieldList,
      )
      return (body.fields ?? []).map(({ id }) => id)
    },
    async cancel(assessment_id: string) {
      return (await connector.call('POST', '/assessment.cancel', authorization, { assessment_id }, Started)).status
    },
  })

  async function receive({ method, path, headers, body: received }: ReceivedCall): Promise<Reaction> {
    if (method !== 'POST' || path !== '/assessment.update') return { status: 404 }
    if (headers.authorization !== basic(options.token ?? '')) return { status: 401, body: { success: false } }
    connector.check('assessment.update', Update, received)
    const body = received as AshbyUpdate
    const order = orders.get(body.assessment_id)
    // Ashby responds to most errors with the status 200.
    if (!order) return { status: 200, body: { success: false, errors: ['assessment_not_found'] } }
    checkUpdate(order, body)
    order.timestamp = body.timestamp
    order.reports++
    order.state = body.cancelled_reason ? 'cancelled' : body.assessment_result ? 'complete' : 'started'
    order.result = body
    return { status: 200, body: { success: true } }
  }

  function checkUpdate(
    order: { timestamp: number; state: string; assessmentId: string | undefined },
    body: AshbyUpdate,
  ) {
    const report = (text: string) => connector.violations.push(`assessment.update of ${order.assessmentId}: ${text}`)
    if (body.timestamp <= order.timestamp) report(`timestamp ${body.timestamp} does not grow`)
    if (!body.assessment_status && !body.cancelled_reason) report('assessment_status is required')
    if (body.assessment_result && !body.assessment_profile_url) report('assessment_profile_url is required')
    const hasEnded = order.state === 'complete' || order.state === 'cancelled'
    if (hasEnded && !body.assessment_result && !body.cancelled_reason) report('an update follows the end')
    const identifiers = [
      ...[body.assessment_status, body.assessment_profile_url, body.assessment_result, body.cancelled_reason],
      ...(body.metadata ?? []),
    ].flatMap((each) => each?.identifier ?? [])
    if (new Set(identifiers).size < identifiers.length) report('identifiers are not unique')
  }
}

/** Ashby has no phone numbers of its own: a recruiter enters one in a custom field. */
function additionalFields({ phone, language }: SimulatedPerson) {
  if (phone === undefined && language === undefined) return {}
  return { additional_fields: { phone, language } }
}
