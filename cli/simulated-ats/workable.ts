import { Type } from 'typebox'
import {
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

const TestList = Type.Object(
  {
    tests: Type.Array(Type.Object({ id: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) }, closed)),
  },
  closed,
)
const CreatedAssessment = Type.Object({ assessment_id: Type.String({ minLength: 1 }) }, closed)
const SharedLink = Type.Object(
  {
    url: Type.String({ pattern: '^https?://' }),
    ttl: Type.Integer({ minimum: 1 }),
    ttl_units: Type.Enum(['minutes', 'hours', 'days']),
  },
  closed,
)
const Result = Type.Object(
  {
    status: Type.Enum(['pending', 'completed', 'rejected', 'expired']),
    results_url: Type.Optional(Type.String({ pattern: '^https?://' })),
    assessment: Type.Optional(
      Type.Object(
        {
          score: Type.Optional(Type.Union([Type.String(), Type.Number()])),
          grade: Type.Optional(Type.Enum(['failed', 'passed', 'excelled'])),
          summary: Type.Optional(Type.String()),
          details: Type.Optional(Type.String()),
          duration: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
)

interface TestListBody {
  tests: { id: string; name: string }[]
}

/** Simulates Workable: creates assessments, and receives results at the callback URL. */
export async function simulateWorkable(options: SimulatedAtsOptions): Promise<SimulatedAts> {
  const authorization = `Bearer ${options.key}`
  const orders = new Map<string, SimulatedOrder>()
  const connector = await openConnector('workable', options, receive)

  return Object.assign(connector, {
    name: 'workable',
    async listTests() {
      return (await connector.callForTests<TestListBody>('GET', '/tests', authorization, undefined, TestList)).tests
    },
    async order(identity: string, testId: string, person: SimulatedPerson) {
      const path = `/assessments/results/${identity}`
      const { status, body } = await connector.call<{ assessment_id: string }>(
        'POST',
        '/assessments',
        authorization,
        {
          test_id: testId,
          job_shortcode: '8D1C2B',
          job_title: 'Electrician',
          callback_url: `${connector.url}${path}`,
          candidate: {
            first_name: person.firstName,
            last_name: person.lastName,
            email: person.email,
            ...(person.phone === undefined ? {} : { phone: person.phone }),
          },
        },
        CreatedAssessment,
      )
      const order = orders.get(path) ?? newOrder(status, body.assessment_id, body.message)
      if (status < 300) orders.set(path, order)
      return order
    },
    async getSharedLink(assessmentId: string) {
      const path = `/assessments/${encodeURIComponent(assessmentId)}/shared-link`
      return (await connector.call<{ url: string }>('GET', path, authorization, undefined, SharedLink)).body.url
    },
  })

  async function receive({ method, path, headers, body: received }: ReceivedCall): Promise<Reaction> {
    const order = orders.get(path)
    if (headers.authorization !== `Bearer ${options.token}`) return { status: 401 }
    if (method !== 'PUT' || !order) return { status: 404 }
    connector.check(`PUT ${path}`, Result, received)
    const body = received as { status: string; results_url?: string }
    if (body.status === 'completed' && !body.results_url) {
      connector.violations.push(`PUT ${path}: results_url is required`)
      return { status: 422 }
    }
    if (body.status === 'pending' && !['ordered', 'pending'].includes(order.state))
      connector.violations.push(`PUT ${path}: an update follows the end`)
    order.reports++
    order.state = body.status
    order.result = body
    return { status: 200, body: {} }
  }
}
