import { sql } from 'kysely'
import { Type } from 'typebox'
import { findKeyNames } from '../../access/keys.ts'
import type { Context } from '../../context.ts'
import { named } from '../../platform/http/named-schemas.ts'
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

const ConsoleLoggedRequest = named(
  'ConsoleLoggedRequest',
  Type.Object({
    ...LoggedRequestRecord.properties,
    key_name: Type.Union([Type.String(), Type.Null()], { description: 'The current name of the key.' }),
  }),
)

export function requestLogRoutes(app: App, { db, vault }: Context, requestLogger: RequestLogger): void {
  app.get(
    '/orgs/:org/:mode/requests',
    {
      config: { role: 'viewer' },
      schema: { querystring: ConsoleRequestsQuery, response: { 200: success(countedListOf(ConsoleLoggedRequest)) } },
    },
    async ({ caller, query: { limit, cursor, ...filter } }) => {
      await requestLogger.flush() // include requests of the last second
      const resultPage = await paginate(
        vault,
        `requests by time of ${caller.orgId} ${caller.mode} ${JSON.stringify(Object.entries(filter).sort())}`,
        { limit, ...(cursor === undefined ? {} : { cursor }) },
        (before: RequestPosition | undefined, pageLimit) =>
          listRequests(db.queries, caller, { ...filter, before, limit: pageLimit }),
        ({ at, id }) => ({ at: at.toISOString(), id }),
        loggedRequestRecord,
      )
      const condition = requestCondition(caller, filter)
      const counted =
        cursor === undefined ? await countUpToLimit(db.queries, sql`request_log`, condition) : { total: null }
      const keyIds = new Set(resultPage.items.flatMap(({ key_id }) => key_id ?? []))
      const keyNames = keyIds.size > 0 ? await findKeyNames(db.queries, caller.orgId, [...keyIds]) : new Map()
      const items = resultPage.items.map((item) => ({ ...item, key_name: keyNames.get(item.key_id ?? '') ?? null }))
      return successResponse('Requests', { ...resultPage, ...counted, items })
    },
  )
}
