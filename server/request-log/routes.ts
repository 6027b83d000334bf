import type { Context } from '../context.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { listRequests, loggedRequestRecord, type RequestPosition } from './request-log.ts'
import { LoggedRequestRecord, RequestsQuery } from './schema.ts'

/** Registers the route with which partners read the log of their own requests. */
export function partnerRequestLogRoutes(app: App, { db, vault }: Context): void {
  app.get(
    '/request-log',
    {
      config: { scope: 'logs:read', limit: 'reads', readsReplica: true },
      schema: {
        operationId: 'listRequestLog',
        tags: ['Request log'],
        summary: 'List logged requests',
        description:
          'Lists the requests of your organisation in the mode of the key, newest first. Requests appear after about a second and are stored for three days. During a flood of requests, only a part is logged.',
        querystring: RequestsQuery,
        response: { 200: success(listOf(LoggedRequestRecord)) },
      },
    },
    async ({ caller, query: { failed, status, api, request_id, limit, cursor } }) => {
      const cursorScope = `request log ${caller.orgId} ${caller.mode} ${JSON.stringify([failed, status, api, request_id])}`
      const before = readCursor<RequestPosition>(vault, cursorScope, cursor)
      const filter = { failed, status, api, request_id, before, limit: limit + 1 }
      const found = await listRequests(db.queries, caller, filter)
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const next_cursor =
        found.length > limit && last
          ? writeCursor(vault, cursorScope, { at: last.at.toISOString(), id: last.id })
          : null
      const data = { items: page.map(loggedRequestRecord), next_cursor }
      return { success: true as const, message: 'Requests', data }
    },
  )
}
