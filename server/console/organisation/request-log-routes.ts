import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { pageOf } from '../paginate.ts'
import { answer, PageQuery } from '../schema.ts'
import { listRequests, type RequestLog } from './request-log.ts'

const RequestsQuery = Type.Object({
  ...PageQuery.properties,
  failed: Type.Optional(Type.Boolean()),
  api: Type.Optional(Type.Enum(['partner', 'verification'])),
  request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

export function requestLogRoutes(app: App, { db, vault }: Context, log: RequestLog): void {
  app.get(
    '/orgs/:org/:mode/requests',
    { config: { role: 'viewer' }, schema: { querystring: RequestsQuery } },
    async ({ caller, query: { failed, api, request_id, ...page } }) => {
      await log.flush() // what somebody has just tried is there when they look
      const found = await pageOf(
        vault,
        `requests of ${caller.orgId} ${caller.mode} ${JSON.stringify([failed, api, request_id])}`,
        page,
        (before: number | undefined, limit) =>
          listRequests(db.queries, caller, { failed, api, request_id, before, limit }),
        ({ id }) => id,
        ({ at, differed, ...row }) => ({ ...row, at: at.toISOString(), differed: differed ?? [] }),
      )
      return answer('Requests', found)
    },
  )
}
