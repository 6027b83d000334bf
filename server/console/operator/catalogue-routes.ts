import { sql } from 'kysely'
import { Type } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import { masterSkillId, skillId, skillNumber, subSkillId, subSkillNumber } from '../../catalogue/ids.ts'
import { skillRecord } from '../../catalogue/skill-json.ts'
import {
  approveRequest,
  approveRequestAs,
  getRequestedName,
  listRequestsOfAllOrganisations,
  MAX_REASON_LENGTH,
  rejectRequest,
  requestRecord,
  requestStatuses,
  type SkillRequest,
} from '../../catalogue/skill-requests.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { closed, successResponse } from '../schema.ts'
import {
  ApprovedSkill,
  CatalogueSummary,
  RejectedSkillRequest,
  SimilarSkill,
  SkillRequestForOperator,
  SubSkillChoice,
} from './schema.ts'

const MAX_SIMILAR_SKILLS = 5

const RequestParams = Type.Object({ request_id: Type.String({ pattern: '^SR_[A-Z0-9]{10,40}$' }) })

/** Routes for catalogue totals and for the skills that partners requested. */
export function catalogueRoutes(app: App, context: Context): void {
  const { db, vault, clock, catalogue } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/skill-requests',
    {
      config,
      schema: {
        querystring: Type.Object({
          ...PageQuery.properties,
          status: Type.Enum([...requestStatuses, 'all'], { default: 'pending' }),
        }),
        response: { 200: success(listOf(SkillRequestForOperator)) },
      },
    },
    async ({ query: { status, ...page } }) => {
      const resultPage = await paginate(
        vault,
        `all skill requests ${status}`,
        page,
        async (after: string | undefined, limit) =>
          withOrgNames(
            db.queries,
            await listRequestsOfAllOrganisations(db.queries, status === 'all' ? undefined : status, { after, limit }),
          ),
        ({ request_id }) => request_id,
        ({ org_name, ...request }) => ({ ...skillRequestRecord(request), org_name }),
      )
      return successResponse('Skill requests', resultPage)
    },
  )

  app.get(
    '/operator/skill-requests/:request_id/similar-skills',
    { config, schema: { params: RequestParams, response: { 200: success(listOf(SimilarSkill)) } } },
    async ({ params }) => {
      const name = await getRequestedName(db.queries, params.request_id)
      const items = catalogue.current.index.match(name, MAX_SIMILAR_SKILLS).map(({ number, method }) => {
        const { skill_id, description, sub_skill, master_skill, ...skill } = skillRecord(
          catalogue.current.skill(number)!,
        )
        return { skill_id, name: skill.name, description, sub_skill, master_skill, method }
      })
      return successResponse('Similar skills', { items, next_cursor: null })
    },
  )

  app.post(
    '/operator/skill-requests/:request_id/approve',
    {
      config,
      schema: {
        params: RequestParams,
        body: Type.Object(
          {
            sub_skill_id: Type.Optional(Type.String({ maxLength: 20 })),
            same_as: Type.Optional(
              Type.String({ maxLength: 20, description: 'ID of an existing skill, instead of adding a new one.' }),
            ),
            verifiable: Type.Optional(Type.Boolean()),
            description: Type.Optional(Type.String({ maxLength: 1000 })),
          },
          closed,
        ),
        response: { 200: success(ApprovedSkill) },
      },
    },
    async (request) => {
      const { sub_skill_id, same_as, verifiable, description } = request.body
      if ((sub_skill_id === undefined) === (same_as === undefined))
        throw invalid([{ path: 'body', message: 'must have exactly one of sub_skill_id and same_as' }])
      if (same_as !== undefined && (verifiable !== undefined || description !== undefined))
        throw invalid([{ path: 'same_as', message: 'cannot be combined with verifiable or description' }])
      const existingNumber = same_as === undefined ? undefined : skillNumber(same_as)
      if (same_as !== undefined && existingNumber === undefined)
        throw invalid([{ path: 'same_as', message: 'must be the ID of a skill in the catalogue' }])
      const subNumber = sub_skill_id === undefined ? undefined : subSkillNumber(sub_skill_id)
      if (sub_skill_id !== undefined && (subNumber === undefined || !catalogue.current.subSkill(subNumber)))
        throw invalid([{ path: 'sub_skill_id', message: 'must be the ID of a sub-skill in the catalogue' }])
      const { request_id } = request.params
      const data = await db.transaction(async (tx) => {
        const { skill, requests } =
          existingNumber === undefined
            ? await approveRequest(tx, clock, request_id, { subNumber: subNumber!, verifiable, description })
            : await approveRequestAs(tx, clock, request_id, existingNumber)
        const details = { skill_id: skillId(skill.number), name: skill.name }
        const auditDetails = existingNumber === undefined ? details : { ...details, same_as: details.skill_id }
        await recordRequestAudit(tx, context, request, 'skill_request.approve', request_id, auditDetails)
        return { ...details, resolved: requests.map((resolvedRequest) => resolvedRequest.request_id) }
      })
      await catalogue.refreshAfterChange()
      return successResponse('Skill request approved', data)
    },
  )

  app.post(
    '/operator/skill-requests/:request_id/reject',
    {
      config,
      schema: {
        params: RequestParams,
        body: Type.Object(
          {
            reason: Type.Optional(
              Type.String({ maxLength: MAX_REASON_LENGTH, description: 'The partner sees the reason.' }),
            ),
          },
          { ...closed, default: {} },
        ),
        response: { 200: success(RejectedSkillRequest) },
      },
    },
    async (request) => {
      const rejectedRequest = await db.transaction(async (tx) => {
        const rejectedRequest = await rejectRequest(tx, clock, request.params.request_id, request.body.reason)
        const { request_id, name, rejection_reason: reason } = rejectedRequest
        const details = { name, ...(reason === null ? {} : { reason }) }
        await recordRequestAudit(tx, context, request, 'skill_request.reject', request_id, details)
        return rejectedRequest
      })
      return successResponse('Skill request rejected', skillRequestRecord(rejectedRequest))
    },
  )

  app.get('/operator/catalogue', { config, schema: { response: { 200: success(CatalogueSummary) } } }, async () => {
    const { version, masters, subSkills, skills } = catalogue.current
    const { rows } = await sql<{ source: string; skills: number }>`
      select source, count(distinct skill_number)::int as skills from skill_sources join skills on number = skill_number
      where not withdrawn group by source order by source`.execute(db.queries)
    return successResponse('Catalogue', {
      version,
      master_skills: masters.length,
      sub_skills: subSkills.length,
      skills: skills.length,
      verifiable: skills.filter(({ verifiable }) => verifiable).length,
      sources: rows,
    })
  })

  app.get(
    '/operator/catalogue/sub-skills',
    {
      config,
      schema: {
        querystring: Type.Object({
          q: Type.Optional(Type.String({ maxLength: 200 })),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
        }),
        response: { 200: success(listOf(SubSkillChoice)) },
      },
    },
    async ({ query: { q = '', limit } }) => {
      const lowerCaseQuery = q.toLowerCase()
      const items = catalogue.current.subSkills
        .filter(({ name, master }) => `${name} ${master.name}`.toLowerCase().includes(lowerCaseQuery))
        .slice(0, limit)
        .map(({ number, name, master }) => ({
          sub_skill_id: subSkillId(number),
          name,
          master_skill: { master_skill_id: masterSkillId(master.number), name: master.name },
        }))
      return successResponse('Sub-skills', { items, next_cursor: null })
    },
  )
}

/** Adds the names of the requesting organisations. */
async function withOrgNames(
  queries: Queries,
  requests: SkillRequest[],
): Promise<(SkillRequest & { org_name: string })[]> {
  const { rows } = await sql<{ org_id: string; name: string }>`
    select org_id, name from organisations where org_id = any (${requests.map(({ org_id }) => org_id)})`.execute(
    queries,
  )
  const orgNames = new Map(rows.map(({ org_id, name }) => [org_id, name]))
  return requests.map((request) => ({ ...request, org_name: orgNames.get(request.org_id) ?? request.org_id }))
}

function skillRequestRecord(request: SkillRequest) {
  const { org_id, mode, context } = request
  return { ...requestRecord(request), org_id, mode, context }
}
