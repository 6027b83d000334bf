import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { skillId } from '../ids.ts'
import { countPendingRequests } from '../skill-requests.ts'
import { requireAdmin } from './admin-key.ts'
import { pageWindow } from './page-numbers.ts'
import {
  CatalogueTotals,
  PageQuery,
  paginatedResponse,
  RateLimitedAddress,
  singleResponse,
  TopSkill,
} from './schema.ts'
import { countSelections, listTopSkills } from './selections.ts'
import { listLimitedAddresses } from './visitor-limits.ts'

/** Routes for the operator of the public catalogue. They require the admin key. */
export function catalogueAdminRoutes(app: App, context: Context): void {
  const { db } = context
  const sharedOptions = {
    config: { visitors: 'other' },
    onRequest: (request: FastifyRequest) => requireAdmin(context, request),
  } as const
  const sharedSchema = { tags: ['Admin'], security: [{ admin: [] }] }

  app.get(
    '/admin/counts',
    {
      ...sharedOptions,
      schema: {
        ...sharedSchema,
        operationId: 'countCatalogue',
        summary: 'Get catalogue totals',
        description:
          'Returns the size of the catalogue, the number of selected skills and their users, and the number of open skill requests.',
        response: { 200: singleResponse(CatalogueTotals) },
      },
    },
    async () => {
      const { masters, subSkills, skills } = context.catalogue.current
      const { selections, users } = await countSelections(db.queries)
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
      ...sharedOptions,
      schema: {
        ...sharedSchema,
        operationId: 'listTopSkills',
        summary: 'List the most selected skills',
        description: 'Returns skills with the number of users who selected them, the highest number first.',
        querystring: PageQuery,
        response: { 200: paginatedResponse(TopSkill) },
      },
    },
    async ({ query }) => {
      const { skills: count } = await countSelections(db.queries)
      const topSkillRows = await listTopSkills(db.queries, pageWindow(query, count))
      const data = topSkillRows.map(({ skill_number, selections }) => ({
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
      ...sharedOptions,
      schema: {
        ...sharedSchema,
        operationId: 'listLimitedVisitors',
        summary: 'List rate-limited IP addresses',
        description: 'Returns the IP addresses whose requests are rejected at the moment, with the end of the limit.',
        querystring: PageQuery,
        response: { 200: paginatedResponse(RateLimitedAddress) },
      },
    },
    async ({ query }) => {
      const limitedAddresses = await listLimitedAddresses(context)
      const { offset, limit } = pageWindow(query, limitedAddresses.length)
      const data = limitedAddresses
        .slice(offset, offset + limit)
        .map(({ until, ...visitor }) => ({ ...visitor, until: until.toISOString() }))
      return { data, page: query.page, limit, count: limitedAddresses.length }
    },
  )
}
