import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { skillId } from '../ids.ts'
import { countPendingRequests } from '../skill-requests.ts'
import { requireAdmin } from './admin-key.ts'
import { pageWindow } from './page-numbers.ts'
import { Counts, LimitedVisitor, PageQuery, paginatedResponse, singleResponse, TopSkill } from './schema.ts'
import { topSkills, totalSelections } from './selections.ts'
import { listLimitedAddresses } from './visitor-limits.ts'

/** Routes for the operator of the public catalogue. They require the admin key. */
export function catalogueAdminRoutes(app: App, context: Context): void {
  const { db } = context
  const shared = {
    config: { visitors: 'other' },
    onRequest: async (request: { headers: Record<string, unknown> }) => requireAdmin(context, request),
  } as const
  const described = { tags: ['Admin'], security: [{ admin: [] }] }

  app.get(
    '/admin/counts',
    {
      ...shared,
      schema: {
        ...described,
        operationId: 'countCatalogue',
        summary: 'Get catalogue totals',
        response: { 200: singleResponse(Counts) },
      },
    },
    async () => {
      const { masters, subSkills, skills } = context.catalogue.current
      const { selections, users } = await totalSelections(db.queries)
      const data = {
        master_skills: masters.length,
        sub_skills: subSkills.length,
        skills: skills.length,
        selected_skills: selections,
        users,
        pending_skill_requests: await countPendingRequests(db.queries),
      }
      return { success: true as const, message: 'Counts', data }
    },
  )

  app.get(
    '/admin/top-skills',
    {
      ...shared,
      schema: {
        ...described,
        operationId: 'listTopSkills',
        summary: 'List the most selected skills',
        querystring: PageQuery,
        response: { 200: paginatedResponse(TopSkill) },
      },
    },
    async ({ query }) => {
      const { skills: count } = await totalSelections(db.queries)
      const top = await topSkills(db.queries, pageWindow(query, count))
      const data = top.map(({ skill_number, selections }) => ({
        skill_id: skillId(skill_number),
        skill_name: context.catalogue.current.skill(skill_number)?.name ?? '',
        selections,
      }))
      return { data, page: query.page, limit: query.limit, count }
    },
  )

  app.get(
    '/admin/rate-limits',
    {
      ...shared,
      schema: {
        ...described,
        operationId: 'listLimitedVisitors',
        summary: 'List rate-limited IP addresses',
        querystring: PageQuery,
        response: { 200: paginatedResponse(LimitedVisitor) },
      },
    },
    async ({ query }) => {
      const limited = await listLimitedAddresses(context)
      const { offset, limit } = pageWindow(query, limited.length)
      const data = limited
        .slice(offset, offset + limit)
        .map(({ until, ...visitor }) => ({ ...visitor, until: until.toISOString() }))
      return { data, page: query.page, limit, count: limited.length }
    },
  )
}
