import { runIdempotent } from '../../access/idempotency.ts'
import { adapterNames } from '../../ats/adapter.ts'
import { adapters } from '../../ats/adapters.ts'
import {
  addConnectionKey,
  changeConnection,
  createConnection,
  createConnectionKey,
  disconnect,
  getConnection,
  listConnections,
  revokeConnectionKey,
} from '../../ats/connections.ts'
import { getOrder, listOrders } from '../../ats/orders.ts'
import { replayReport } from '../../ats/reports/reports.ts'
import type { Context } from '../../context.ts'
import { NoBody } from '../../platform/http/body.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { connectionRecord, orderRecords } from './ats-records.ts'
import {
  AtsConnectionList,
  AtsConnectionRecord,
  AtsKeyParams,
  AtsOrderRecord,
  AtsSystemList,
  ConnectBody,
  ConnectionChangeBody,
  ConnectionParams,
  CreatedAtsConnection,
  OrderParams,
} from './ats-schema.ts'

/** Routes for the connections of an organisation to applicant tracking systems (ATS), their orders and reports. */
export function atsConsoleRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewerConfig = { role: 'viewer' } as const
  const ownerConfig = { role: 'owner', idempotent: 'optional', recentSignIn: true } as const

  app.get(
    '/orgs/:org/:mode/ats/systems',
    { config: viewerConfig, schema: { response: { 200: success(AtsSystemList) } } },
    async () => {
      const items = adapterNames.map((adapter) => ({
        adapter,
        title: adapters[adapter].title,
        credentials: adapters[adapter].credentials.map(({ name, label, help, isLater = false }) => ({
          name,
          label,
          help,
          required: !isLater,
        })),
        api_url: adapters[adapter].apiUrl ?? null,
      }))
      return successResponse('Systems', { items })
    },
  )

  app.get(
    '/orgs/:org/:mode/ats/connections',
    { config: viewerConfig, schema: { response: { 200: success(AtsConnectionList) } } },
    async ({ caller }) => {
      const connections = await listConnections(db.queries, caller)
      const items = await Promise.all(connections.map((each) => connectionRecord(context, db.queries, caller, each)))
      return successResponse('Connections', { items })
    },
  )

  app.get(
    '/orgs/:org/:mode/ats/connections/:connection_id',
    { config: viewerConfig, schema: { params: ConnectionParams, response: { 200: success(AtsConnectionRecord) } } },
    async ({ caller, params }) => {
      const connection = await getConnection(db.queries, caller, params.connection_id)
      return successResponse('Connection', await connectionRecord(context, db.queries, caller, connection))
    },
  )

  app.post(
    '/orgs/:org/:mode/ats/connections',
    { config: ownerConfig, schema: { body: ConnectBody, response: { 201: success(CreatedAtsConnection) } } },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const connection = await createConnection(tx, context, caller, request.body)
        const { key } = await createConnectionKey(tx, context, connection)
        const record = { ...(await connectionRecord(context, tx, caller, connection)), key }
        return { status: 201, body: successResponse('Connection created', record), secret: true }
      })
    },
  )

  app.put(
    '/orgs/:org/:mode/ats/connections/:connection_id',
    {
      config: ownerConfig,
      schema: { params: ConnectionParams, body: ConnectionChangeBody, response: { 200: success(AtsConnectionRecord) } },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { connection_id } = request.params
        const connection = await changeConnection(tx, context, caller, connection_id, request.body)
        const record = await connectionRecord(context, tx, caller, connection)
        return { status: 200, body: successResponse('Connection changed', record) }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/ats/connections/:connection_id/keys',
    {
      config: ownerConfig,
      schema: { params: ConnectionParams, body: NoBody, response: { 201: success(CreatedAtsConnection) } },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { connection, key } = await addConnectionKey(tx, context, caller, request.params.connection_id)
        const record = { ...(await connectionRecord(context, tx, caller, connection)), key }
        return { status: 201, body: successResponse('Key created', record), secret: true }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/ats/connections/:connection_id/keys/:key_id/revoke',
    {
      config: ownerConfig,
      schema: { params: AtsKeyParams, body: NoBody, response: { 200: success(AtsConnectionRecord) } },
    },
    async (request, reply): Promise<void> => {
      const { connection_id, key_id } = request.params
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const connection = await revokeConnectionKey(tx, clock, caller, connection_id, key_id)
        const record = await connectionRecord(context, tx, caller, connection)
        return { status: 200, body: successResponse('Key revoked', record) }
      })
    },
  )

  app.delete(
    '/orgs/:org/:mode/ats/connections/:connection_id',
    { config: ownerConfig, schema: { params: ConnectionParams, response: { 200: success(AtsConnectionRecord) } } },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const connection = await disconnect(tx, context, caller, request.params.connection_id)
        const record = await connectionRecord(context, tx, caller, connection)
        return { status: 200, body: successResponse('Disconnected', record) }
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/ats/connections/:connection_id/orders',
    {
      config: viewerConfig,
      schema: { params: ConnectionParams, querystring: PageQuery, response: { 200: success(listOf(AtsOrderRecord)) } },
    },
    async ({ caller, params: { connection_id }, query }) => {
      await getConnection(db.queries, caller, connection_id)
      const { items: orders, next_cursor } = await paginate(
        vault,
        `ATS orders of ${connection_id}`,
        query,
        (before: string | undefined, limit) => listOrders(db.queries, caller, { connection_id, before, limit }),
        ({ order_id }) => order_id,
        (order) => order,
      )
      return successResponse('Orders', { items: await orderRecords(context, db.queries, orders), next_cursor })
    },
  )

  app.post(
    '/orgs/:org/:mode/ats/orders/:order_id/replay',
    {
      config: { role: 'recruiter', idempotent: 'optional' },
      schema: { params: OrderParams, body: NoBody, response: { 200: success(AtsOrderRecord) } },
    },
    async (request, reply): Promise<void> => {
      const { order_id } = request.params
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const order = await getOrder(tx, caller, order_id)
        await replayReport(tx, clock, caller, order_id)
        const [record] = await orderRecords(context, tx, [order])
        return { status: 200, body: successResponse('The last report is sent again', record!) }
      })
    },
  )
}
