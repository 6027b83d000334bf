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
const primitive = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

const TestList = Type.Array(
  Type.Object(
    { partner_test_id: Type.String({ minLength: 1 }), partner_test_name: Type.String({ minLength: 1 }) },
    closed,
  ),
)
const SentTest = Type.Object({ partner_interview_id: Type.String({ minLength: 1 }) }, closed)
const optionalStatusFields = {
  partner_score: Type.Optional(Type.Number()),
  metadata: Type.Optional(Type.Record(Type.String(), primitive)),
}
const TestStatus = Type.Union([
  Type.Object(
    {
      partner_status: Type.Literal('complete'),
      partner_profile_url: Type.String({ pattern: '^https?://' }),
      ...optionalStatusFields,
    },
    closed,
  ),
  Type.Object({ partner_status: Type.String({ pattern: '^(?!complete$)' }), ...optionalStatusFields }, closed),
])

interface ListedTest {
  partner_test_id: string
  partner_test_name: string
}

/** Simulates Greenhouse: sends tests, and reads the result after a PATCH of the callback URL. */
export async function simulateGreenhouse(options: SimulatedAtsOptions): Promise<SimulatedAts> {
  const authorization = basic(options.key)
  const orders = new Map<string, SimulatedOrder>()
  const connector = await openConnector('greenhouse', options, receive)

  return Object.assign(connector, {
    name: 'greenhouse',
    async listTests() {
      const tests = await connector.callForTests<ListedTest[]>('GET', '/list_tests', authorization, undefined, TestList)
      return tests.map(({ partner_test_id: id, partner_test_name: name }) => ({ id, name }))
    },
    async order(identity: string, testId: string, person: SimulatedPerson) {
      const path = `/integrations/testing_partners/take_home_tests/${identity}`
      const { status, body } = await connector.call<{ partner_interview_id: string }>(
        'POST',
        '/send_test',
        authorization,
        {
          partner_test_id: testId,
          candidate: {
            first_name: person.firstName,
            last_name: person.lastName,
            preferred_name: null,
            email: person.email,
            greenhouse_profile_url: `https://app.greenhouse.io/people/${person.id}?application_id=9`,
            ...(person.phone === undefined ? {} : { phone_number: person.phone }),
          },
          url: `${connector.url}${path}`,
        },
        SentTest,
      )
      const order = orders.get(path) ?? newOrder(status, body.partner_interview_id, body.message)
      if (status < 300) orders.set(path, order)
      return order
    },
  })

  async function receive(call: ReceivedCall): Promise<Reaction> {
    const order = orders.get(call.path)
    if (call.headers.authorization !== authorization) return { status: 401 }
    if (call.method !== 'PATCH' || !order) return { status: 404 }
    if (call.text !== '') connector.violations.push(`PATCH ${call.path} must have no body`)
    order.reports++
    void readStatus(order)
    return { status: 200, body: {} }
  }

  async function readStatus(order: SimulatedOrder) {
    const path = `/test_status?partner_interview_id=${encodeURIComponent(order.assessmentId!)}`
    const violationsBefore = connector.violations.length
    const { status, body } = await connector.call<{ partner_status: string }>(
      'GET',
      path,
      authorization,
      undefined,
      TestStatus,
    )
    if (status !== 200) return
    order.state = body.partner_status ?? order.state
    order.result = body
    const errors = connector.violations.slice(violationsBefore)
    if (errors.length > 0)
      await connector.call(
        'POST',
        '/response_error',
        authorization,
        { api_call: 'test_status', errors, partner_interview_id: order.assessmentId },
        Type.Unknown(),
      )
  }
}
