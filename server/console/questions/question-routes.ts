import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import { skillId, skillNumber } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import {
  expectedCurve,
  getItemReport,
  type ItemReport,
  isEnough,
  listSkillsWithItems,
  reportItems,
  reportSkills,
  type SkillReport,
  showTexts,
} from '../../items/item-reports.ts'
import { getItemRef, type ItemRef, restoreItem, retireItem } from '../../items/item-status.ts'
import { authorDifficulty } from '../../items/items.ts'
import { exportResponses } from '../../items/response-export.ts'
import type { Tx } from '../../platform/database/database.ts'
import { runForAllOrganisations } from '../../platform/database/tenant-scope.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { isAtLeast, mayEditOwnQuestions } from '../auth/roles.ts'
import { paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { QuestionDetails, QuestionSkill, QuestionsOfSkill } from './question-schema.ts'

const SkillsQuery = Type.Object({
  ...PageQuery.properties,
  search: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name of a skill.' })),
  source: Type.Optional(Type.Enum(['bank', 'private', 'ai'])),
})
const SkillParams = Type.Object({ skill_id: Type.String({ pattern: '^sk_[1-9][0-9]{0,8}$' }) })
const ItemParams = Type.Object({
  ...SkillParams.properties,
  item_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,60}$' }),
})

/**
 * Routes for the statistics of questions. The numbers of the built-in bank are those of all organisations of the deployment together.
 * The texts of an organisation's own questions are returned only to its owners, who may edit them.
 */
export function questionRoutes(app: App, context: Context): void {
  const { db, vault, catalogue } = context
  const config = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/questions',
    { config, schema: { querystring: SkillsQuery, response: { 200: success(listOf(QuestionSkill)) } } },
    async ({ caller, query: { search, source, ...page } }) => {
      const resultPage = await paginate(
        vault,
        `questions of ${caller.orgId} ${search ?? ''} ${source ?? ''}`,
        page,
        async (after: { number: number } | undefined, limit) => {
          const numbers = (await listSkillsWithItems(db.queries, caller.orgId)).filter(
            (number) => number > (after?.number ?? 0) && matchesName(number, search),
          )
          const reports: SkillReport[][] = []
          // With a filter by source, many skills may be left out, so more are read until the page is full.
          for (let start = 0; start < numbers.length && reports.length < limit; start += limit) {
            const found = await reportSkills(db.queries, caller.orgId, numbers.slice(start, start + limit))
            const matching = found.filter((report) => source === undefined || report.source === source)
            reports.push(...Map.groupBy(matching, (report) => report.skillNumber).values())
          }
          return reports.slice(0, limit)
        },
        ([report]) => ({ number: report!.skillNumber }),
        skillRecord,
      )
      return successResponse('Questions', resultPage)
    },
  )

  app.get(
    '/orgs/:org/:mode/questions/:skill_id',
    { config, schema: { params: SkillParams, response: { 200: success(QuestionsOfSkill) } } },
    async (request) => {
      const { caller, params } = request
      const number = skillNumber(params.skill_id)!
      const items = await reportItems(db.queries, caller.orgId, number)
      if (items.length === 0) throw problem('NOT_FOUND', `Skill ${params.skill_id} has no questions.`)
      const reports = await reportSkills(db.queries, caller.orgId, [number])
      return successResponse('Questions of the skill', {
        ...skillRecord(reports),
        items: items.map((item) => itemRecord(request, item)),
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/questions/:skill_id/:item_id',
    { config, schema: { params: ItemParams, response: { 200: success(QuestionDetails) } } },
    async (request) => successResponse('Question', await itemDetails(request, request.params)),
  )

  app.post(
    '/orgs/:org/:mode/questions/:skill_id/:item_id/restore',
    { config: { role: 'owner' }, schema: { params: ItemParams, response: { 200: success(QuestionDetails) } } },
    async (request) => {
      await changeStatus(request, request.params.item_id, 'item.restore', (tx, item) => restoreItem(tx, context, item))
      return successResponse('Question restored', await itemDetails(request, request.params))
    },
  )

  app.post(
    '/orgs/:org/:mode/questions/:skill_id/:item_id/retire',
    { config: { role: 'owner' }, schema: { params: ItemParams, response: { 200: success(QuestionDetails) } } },
    async (request) => {
      await changeStatus(request, request.params.item_id, 'item.retire', (tx, item) =>
        retireItem(tx, context, item, 'manual'),
      )
      return successResponse('Question retired', await itemDetails(request, request.params))
    },
  )

  app.get(
    '/orgs/:org/:mode/export/responses.csv',
    { config: { role: 'viewer', recordsRead: true } },
    async (request, reply) => {
      const { caller } = request
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'responses.export'))
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="responses-${caller.mode}.csv"`)
      return reply.send(Readable.from(exportResponses(db, caller)) as never)
    },
  )

  function matchesName(number: number, search: string | undefined): boolean {
    if (!search) return true
    return catalogue.current.skill(number)?.name.toLowerCase().includes(search.trim().toLowerCase()) ?? false
  }

  function skillRecord(reports: SkillReport[]) {
    const { skillNumber: number } = reports[0]!
    return {
      skill_id: skillId(number),
      name: catalogue.current.skill(number)?.name ?? skillId(number),
      sources: reports.map((report) => ({
        source: report.source,
        active: report.active,
        pilot: report.pilot,
        retired: report.retired,
        responses: report.responses,
        enough: isEnough(report),
      })),
    }
  }

  async function itemDetails(request: FastifyRequest, { skill_id, item_id }: { skill_id: string; item_id: string }) {
    const number = skillNumber(skill_id)!
    const report = await getItemReport(db.queries, request.caller.orgId, number, item_id)
    return {
      ...itemRecord(request, report),
      skill_id,
      skill_name: catalogue.current.skill(number)?.name ?? skill_id,
      is_calculation: report.item.calculation !== undefined,
      texts: maySeeTexts(request, report) ? showTexts(report.item) : null,
      statistics: report.statistics,
      expected: expectedCurve(report.difficulty),
      author_difficulty: authorDifficulty(report.item.difficulty),
      may_edit: report.source === 'private' && report.status !== 'retired' && mayEditOwnQuestions(request.orgAccess),
      may_change: report.source === 'bank' ? request.session.isOperator : isAtLeast(request.orgAccess.role, 'owner'),
    }
  }

  async function changeStatus(
    request: FastifyRequest,
    itemId: string,
    action: string,
    change: (tx: Tx, item: ItemRef) => Promise<boolean>,
  ): Promise<void> {
    const item = await getItemRef(db.queries, request.caller.orgId, itemId)
    if (item.source === 'bank' && !request.session.isOperator)
      throw problem(
        'FORBIDDEN',
        'Only operators can retire or restore questions of the built-in bank, because all organisations use them.',
      )
    const store = () =>
      db.transaction(async (tx) => {
        if (await change(tx, item))
          await recordRequestAudit(tx, context, request, action, itemId, { skill: skillId(item.skillNumber) })
      })
    // A question of the built-in bank concerns the mandates of all organisations.
    await (item.source === 'bank' ? runForAllOrganisations(store) : store())
  }
}

/** Questions of the built-in bank are public. Own questions are for members who may edit them, not for operators. */
function maySeeTexts({ orgAccess }: FastifyRequest, { source }: ItemReport): boolean {
  return source === 'bank' || mayEditOwnQuestions(orgAccess)
}

function itemRecord(request: FastifyRequest, report: ItemReport) {
  const { statistics, item } = report
  const texts = maySeeTexts(request, report) ? showTexts(item) : []
  return {
    item_id: report.itemId,
    source: report.source,
    kind: report.kind,
    stem: (texts.find(({ language }) => language === 'en') ?? texts[0])?.stem ?? null,
    status: report.status,
    retired_at: report.retiredAt?.toISOString() ?? null,
    retirement_reason: report.retirementReason,
    difficulty: Math.round(100 * report.difficulty) / 100,
    responses: statistics?.responses ?? 0,
    correct_share: statistics?.correct_share ?? null,
    discrimination: statistics?.discrimination ?? null,
    median_seconds: statistics?.median_seconds ?? null,
  }
}
