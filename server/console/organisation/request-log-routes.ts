import type { Context } from '../../context.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import {
  listRequests,
  loggedRequestRecord,
  type RequestLogger,
  type RequestPosition,
} from '../../request-log/request-log.ts'
import { LoggedRequestRecord, RequestsQuery } from '../../request-log/schema.ts'
import { paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'

export function requestLogRoutes(app: App, { db, vault }: Context, requestLogger: RequestLogger): void {
  app.get(
    '/orgs/:org/:mode/requests',
    {
      config: { role: 'viewer' },
      schema: { querystring: RequestsQuery, response: { 200: success(listOf(LoggedRequestRecord)) } },
    },
    async ({ caller, query: { failed, api, request_id, ...page } }) => {
      await requestLogger.flush() // include requests of the last second
      const resultPage = await paginate(
        vault,
        `requests by time of ${caller.orgId} ${caller.mode} ${JSON.stringify([failed, api, request_id])}`,
        page,
        (before: RequestPosition | undefined, limit) =>
          listRequests(db.queries, caller, { failed, api, request_id, before, limit }),
        ({ at, id }) => ({ at: at.toISOString(), id }),
        loggedRequestRecord,
      )
      return successResponse('Requests', resultPage)
    },
  )
}
