import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { HOUR } from '../../platform/clock.ts'
import { readCursor, writeCursor } from '../../platform/http/cursor.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { assignListPositions, type ResultPosition } from '../../results/results.ts'
import { ResultsQuery } from '../../results/schema.ts'
import { successResponse } from '../schema.ts'
import { listRecruiterResults, verdictFilters } from './recruiter-results.ts'
import { RecruiterResultRecord } from './schema.ts'

const { campaign_id, mandate_id, job_id, status } = ResultsQuery.properties

/** Filters of the recruiter's result list and its export. */
export const RecruiterFilters = Type.Object({
  campaign_id,
  mandate_id,
  job_id,
  status,
  verdict: Type.Optional(Type.Enum([...verdictFilters])),
})

const RecruiterResultsQuery = Type.Object({
  ...RecruiterFilters.properties,
  ...PageQuery.properties,
  changed_within_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8760 })),
})

/** Lists results for recruiters, newest first, with the candidate's phone number and email address. */
export function recruiterResultRoutes(app: App, { db, vault, clock }: Context): void {
  app.get(
    '/orgs/:org/:mode/people',
    {
      config: { role: 'viewer' },
      schema: { querystring: RecruiterResultsQuery, response: { 200: success(listOf(RecruiterResultRecord)) } },
    },
    async ({ caller, query: { limit, cursor, changed_within_hours: hours, ...filter } }) => {
      const { campaign_id, mandate_id, job_id, status, verdict } = filter
      const listKey = `people ${JSON.stringify([campaign_id, mandate_id, job_id, status, verdict, hours])}`
      const position = readCursor<ResultPosition>(vault, listKey, cursor)
      await assignListPositions(db, clock, caller)
      const updated_after = hours === undefined ? undefined : new Date(clock.now() - hours * HOUR)
      const { results, next } = await listRecruiterResults(db.queries, caller, {
        ...filter,
        updated_after,
        after: position,
        limit,
      })
      return successResponse('Results', {
        items: results,
        next_cursor: next ? writeCursor(vault, listKey, next) : null,
      })
    },
  )
}
