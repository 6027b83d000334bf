import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { parseTimestamp } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { recordsWithCredentials } from './record.ts'
import { assignListPositions, getResult, listResults, type ResultPosition } from './results.ts'
import { ResultParams, ResultRecord, ResultsQuery } from './schema.ts'

export function resultRoutes(app: App, { db, vault, clock }: Context): void {
  const access = { scope: 'results:read', limit: 'reads', readsReplica: true } as const
  const tags = ['Results']

  app.get(
    '/results',
    {
      config: { ...access, extraValidation: validateUpdatedAfter },
      schema: {
        operationId: 'listResults',
        tags,
        summary: 'List results',
        description:
          'Lists the least recently updated results first; `updated_at` never decreases along the list. To follow changes, read to the last page, then poll with `updated_after` set to the last `updated_at` that this list returned. No change is missed, even if it was committed late. A result that changes while you read appears again on a later page, with a higher `version`.',
        querystring: ResultsQuery,
        response: { 200: success(listOf(ResultRecord)) },
      },
    },
    async ({ caller, query }) => {
      const { cursor, limit, updated_after, ...filter } = query
      const updatedAfter = updated_after === undefined ? undefined : new Date(parseQueryTime(updated_after)!)
      const cursorScope = `results ${JSON.stringify([filter.campaign_id, filter.mandate_id, filter.job_id, filter.status, updatedAfter])}`
      const lastPosition = readCursor<ResultPosition>(vault, cursorScope, cursor)
      await assignListPositions(db, clock, caller)
      const results = await listResults(db.queries, caller, {
        ...filter,
        updated_after: updatedAfter,
        after: lastPosition,
        limit: limit + 1,
      })
      const page = results.slice(0, limit)
      const lastResult = page.at(-1)
      const next_cursor =
        results.length > limit
          ? writeCursor(vault, cursorScope, {
              listedAt: lastResult!.listed_at.toISOString(),
              resultId: lastResult!.result_id,
            })
          : null
      const items = await recordsWithCredentials(db.queries, page)
      return { success: true as const, message: 'Results', data: { items, next_cursor } }
    },
  )

  app.get(
    '/results/:result_id',
    {
      config: access,
      schema: {
        operationId: 'getResult',
        tags,
        summary: 'Get a result',
        params: ResultParams,
        response: { 200: success(ResultRecord) },
      },
    },
    async ({ caller, params }) => {
      await assignListPositions(db, clock, caller)
      const result = await getResult(db.queries, caller, params.result_id)
      const [data] = await recordsWithCredentials(db.queries, [result])
      return { success: true as const, message: 'Result', data: data! }
    },
  )
}

function parseQueryTime(text: string): number | undefined {
  // A plus sign that was not encoded arrives as a space.
  return parseTimestamp(text.replace(' ', '+'))
}

function validateUpdatedAfter(_context: Context, { query }: FastifyRequest) {
  const { updated_after } = query as { updated_after?: unknown }
  if (typeof updated_after !== 'string' || parseQueryTime(updated_after) !== undefined) return []
  return [
    {
      path: 'query.updated_after',
      message: 'must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T09:00:00Z',
    },
  ]
}
