import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import {
  listRequests,
  loggedRequestRecord,
  type RequestLogger,
  type RequestPosition,
  requestCondition,
} from '../../request-log/request-log.ts'
import { LoggedRequestRecord, RequestsQuery } from '../../request-log/schema.ts'
import { countedListOf, countUpToLimit, paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'

const ConsoleRequestsQuery = Type.Object({
  ...RequestsQuery.properties,
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})

export function requestLogRoutes(app: App, { db, vault }: Context, requestLogger: RequestLogger): void {
  app.get(
    '/orgs/:org/:mode/requests',
    {
      config: { role: 'viewer' },
      schema: { querystring: ConsoleRequestsQuery, response: { 200: success(countedListOf(LoggedRequestRecord)) } },
    },
    async ({ caller, query: { failed, api, request_id, q, ...page } }) => {
      await requestLogger.flush() // include requests of the last second
      const resultPage = await paginate(
        vault,
        `requests by time of ${caller.orgId} ${caller.mode} ${JSON.stringify([failed, api, request_id, q])}`,
        page,
        (before: RequestPosition | undefined, limit) =>
          listRequests(db.queries, caller, { failed, api, request_id, q, before, limit }),
        ({ at, id }) => ({ at: at.toISOString(), id }),
        loggedRequestRecord,
      )
      const condition = requestCondition(caller, { failed, api, request_id, q })
      const counted =
        page.cursor === undefined ? await countUpToLimit(db.queries, sql`request_log`, condition) : { total: null }
      return successResponse('Requests', { ...resultPage, ...counted })
    },
  )
}
