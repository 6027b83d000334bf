import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { HOUR } from '../../platform/clock.ts'
import { readCursor, writeCursor } from '../../platform/http/cursor.ts'
import type { App } from '../../platform/http/server.ts'
import { listChanges, type Position } from '../../results/results.ts'
import { ResultsQuery } from '../../results/schema.ts'
import { answer, PageQuery } from '../schema.ts'
import { listPeople, verdicts } from './recruiter-results.ts'

const { campaign_id, mandate_id, job_id, status } = ResultsQuery.properties

/** What narrows the list of people, and its export. */
export const PeopleFilters = Type.Object({
  campaign_id,
  mandate_id,
  job_id,
  status,
  verdict: Type.Optional(Type.Enum([...verdicts])),
})

const PeopleQuery = Type.Object({
  ...PeopleFilters.properties,
  ...PageQuery.properties,
  changed_within_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8760 })),
})

/** Results as a recruiter reads them: the newest first, with the number to call. */
export function peopleRoutes(app: App, { db, vault, clock }: Context): void {
  app.get(
    '/orgs/:org/:mode/people',
    { config: { role: 'viewer' }, schema: { querystring: PeopleQuery } },
    async ({ caller, query: { limit, cursor, changed_within_hours: hours, ...filter } }) => {
      const { campaign_id, mandate_id, job_id, status, verdict } = filter
      const list = `people ${JSON.stringify([campaign_id, mandate_id, job_id, status, verdict, hours])}`
      const after = readCursor<Position>(vault, list, cursor)
      await listChanges(db, caller)
      const updated_after = hours === undefined ? undefined : new Date(clock.now() - hours * HOUR)
      const { people, next } = await listPeople(db.queries, caller, { ...filter, updated_after, after, limit })
      return answer('People', { items: people, next_cursor: next ? writeCursor(vault, list, next) : null })
    },
  )
}
