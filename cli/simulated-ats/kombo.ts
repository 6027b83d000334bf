import { createHmac } from 'node:crypto'
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

const Packages = Type.Object(
  {
    packages: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1 }),
          type: Type.Enum(['BEHAVIORAL', 'VIDEO_INTERVIEW', 'SKILLS_TEST', 'BACKGROUND_CHECK', 'REFERENCE_CHECK']),
          name: Type.String({ minLength: 1 }),
          description: Type.String(),
        },
        closed,
      ),
    ),
  },
  closed,
)
const Attribute = Type.Union([
  Type.Object(
    { type: Type.Literal('TEXT'), label: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('SUB_RESULT'),
      id: Type.String({ minLength: 1 }),
      label: Type.String({ minLength: 1 }),
      score: Type.Object({ value: Type.Number(), max: Type.Number({ minimum: 1 }) }, closed),
      status: Type.Enum(['COMPLETED', 'CANCELLED']),
    },
    closed,
  ),
])
const Result = Type.Object(
  {
    status: Type.Enum(['COMPLETED', 'CANCELLED', 'OPEN']),
    result_url: Type.String({ pattern: '^https?://' }),
    completed_at: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' })),
    score: Type.Optional(Type.Number()),
    max_score: Type.Optional(Type.Number()),
    attributes: Type.Optional(Type.Array(Attribute)),
  },
  closed,
)

interface KomboResult {
  status: string
  completed_at?: string
  attributes?: { label: string; value: string }[]
}

interface Package {
  id: string
  name: string
}

/** Simulates Kombo: receives the list of tests, sends orders as signed webhooks, and receives results at its own API. */
export async function simulateKombo(options: SimulatedAtsOptions): Promise<SimulatedAts> {
  const { connectionId, token, accountId, signingSecret = '' } = options
  const orders = new Map<string, SimulatedOrder>()
  let packages: Package[] = []
  const connector = await openConnector('kombo', options, receive)

  return Object.assign(connector, {
    name: 'kombo',
    async listTests() {
      return packages.map(({ id, name }) => ({ id, name }))
    },
    async order(identity: string, testId: string, person: SimulatedPerson) {
      const { status, body } = await connector.call<{ order_id: string }>(
        'POST',
        `/orders/${connectionId}`,
        sign,
        {
          id: `webhook-${identity}`,
          type: 'assessment:order-received',
          data: {
            id: identity,
            package_id: testId,
            status: 'OPEN',
            integration_id: accountId,
            candidate: {
              remote_id: person.id,
              email: person.email,
              first_name: person.firstName,
              last_name: person.lastName,
              phone: person.phone ?? null,
            },
            application: { remote_id: `application-${identity}` },
            job: { remote_id: '67890', name: 'Electrician', location: null, hiring_team: [] },
          },
        },
        Type.Object({}),
      )
      const order = orders.get(identity) ?? newOrder(status, body.order_id, body.message)
      if (status < 300) orders.set(identity, order)
      return order
    },
  })

  function sign(text: string): Record<string, string> {
    return { 'x-kombo-signature': createHmac('sha256', signingSecret).update(text).digest('base64url') }
  }

  async function receive({ method, path, headers, body }: ReceivedCall): Promise<Reaction> {
    if (headers.authorization !== `Bearer ${token}`) return failure(401, 'The API key is not valid.')
    if (headers['x-integration-id'] !== accountId) return failure(404, 'The integration was not found.')
    if (method !== 'PUT') return failure(404, 'The route was not found.')
    if (path === '/assessment/packages') return receivePackages(body)
    const [, id] = /^\/assessment\/orders\/([^/]+)\/result$/.exec(path) ?? []
    return id === undefined ? failure(404, 'The route was not found.') : receiveResult(decodeURIComponent(id), body)
  }

  function receivePackages(body: unknown): Reaction {
    connector.check('PUT packages', Packages, body)
    packages = (body as { packages: Package[] }).packages
    if (new Set(packages.map(({ id }) => id)).size < packages.length)
      connector.violations.push('PUT packages: IDs are not unique')
    return { status: 200, body: { status: 'success', data: {}, warnings: [] } }
  }

  function receiveResult(id: string, body: unknown): Reaction {
    const order = orders.get(id)
    if (!order) return failure(404, 'The order was not found.')
    connector.check(`PUT result of ${id}`, Result, body)
    const result = body as KomboResult
    const report = (text: string) => connector.violations.push(`PUT result of ${id}: ${text}`)
    if (result.status !== 'OPEN' && !result.completed_at) report('completed_at is required')
    // The status of an order changes only while it is open.
    if (order.state !== 'ordered' && order.state !== result.status) {
      report(`the status ${order.state} cannot be changed to ${result.status}`)
      return failure(400, 'The order is not open.')
    }
    order.reports++
    order.state = result.status
    order.result = result
    if (result.status === 'CANCELLED')
      order.message = result.attributes?.find(({ label }) => label === 'Summary')?.value
    return { status: 200, body: { status: 'success', data: {}, warnings: [] } }
  }
}

function failure(status: number, message: string): Reaction {
  return { status, body: { status: 'error', error: { message } } }
}
