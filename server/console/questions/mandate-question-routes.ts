import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import { skillNumber } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import type { FlowSkill } from '../../conversation/flow.ts'
import { type ItemReport, reportItems, showTexts } from '../../items/item-reports.ts'
import { qualityOf } from '../../items/item-store.ts'
import { languagesOfItem } from '../../items/items.ts'
import { excludeQuestion, findExcludedQuestions, includeQuestion } from '../../mandates/excluded-questions.ts'
import { getFlow } from '../../mandates/flow.ts'
import { getMandate } from '../../mandates/mandate-rows.ts'
import { MandateParams } from '../../mandates/schema.ts'
import type { Tx } from '../../platform/database/database.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { MIN_ACTIVE_ITEMS, type SkillItem } from '../../questions/skill-items.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { isAtLeast, mayEditOwnQuestions } from '../auth/roles.ts'
import { successResponse } from '../schema.ts'
import { MandateQuestions } from './question-schema.ts'

const QuestionParams = Type.Object({
  ...MandateParams.properties,
  item_id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,60}$' }),
})

/** Routes for the skill questions of a mandate: where each comes from, how good it is, and whether candidates are asked it. */
export function mandateQuestionRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const response = { 200: success(MandateQuestions) }

  app.get(
    '/orgs/:org/:mode/mandates/:mandate_id/questions',
    { config: { role: 'viewer' }, schema: { params: MandateParams, response } },
    async (request) => successResponse('Questions of the mandate', await mandateQuestions(request)),
  )

  app.post(
    '/orgs/:org/:mode/mandates/:mandate_id/questions/:item_id/exclude',
    { config: { role: 'recruiter' }, schema: { params: QuestionParams, response } },
    async (request) => {
      const { mandate_id, item_id } = request.params
      await change(request, 'question.exclude', (tx) => excludeQuestion(tx, request.caller, clock, mandate_id, item_id))
      return successResponse('Question excluded', await mandateQuestions(request))
    },
  )

  app.post(
    '/orgs/:org/:mode/mandates/:mandate_id/questions/:item_id/include',
    { config: { role: 'recruiter' }, schema: { params: QuestionParams, response } },
    async (request) => {
      const { mandate_id, item_id } = request.params
      await change(request, 'question.include', (tx) => includeQuestion(tx, request.caller, mandate_id, item_id))
      return successResponse('Question included', await mandateQuestions(request))
    },
  )

  async function change(
    request: FastifyRequest<{ Params: { mandate_id: string; item_id: string } }>,
    action: string,
    apply: (tx: Tx) => Promise<boolean>,
  ): Promise<void> {
    const { mandate_id, item_id } = request.params
    await db.transaction(async (tx) => {
      if (await apply(tx)) await recordRequestAudit(tx, context, request, action, mandate_id, { question: item_id })
    })
  }

  async function mandateQuestions(request: FastifyRequest<{ Params: { mandate_id: string } }>) {
    const { caller, orgAccess, params } = request
    const { created_via, status, flow_version } = await getMandate(db.queries, caller, params.mandate_id)
    if (status === 'preparing' || status === 'failed')
      throw problem('CONFLICT', 'The questions of this mandate have not been prepared.')
    const { skills } = await getFlow(db.queries, caller, params.mandate_id, flow_version)
    const excludedIds = await findExcludedQuestions(db.queries, params.mandate_id)
    const records = []
    for (const skill of skills) {
      const reports = await reportItems(db.queries, caller.orgId, skillNumber(skill.skill_id)!)
      const reportById = new Map(reports.map((report) => [report.itemId, report]))
      const maySeeTexts = skill.source === 'bank' || mayEditOwnQuestions(orgAccess)
      records.push({
        skill_id: skill.skill_id,
        name: skill.name,
        source: skill.source,
        languages: skill.languages,
        min_questions: MIN_ACTIVE_ITEMS,
        items: skill.items.map((item) => ({
          ...questionRecord(skill, item, reportById.get(item.id), maySeeTexts),
          excluded: excludedIds.has(item.id),
        })),
      })
    }
    const mayChange = created_via === 'playground' && status === 'ready' && isAtLeast(orgAccess.role, 'recruiter')
    return { mandate_id: params.mandate_id, may_change: mayChange, skills: records }
  }
}

/** Returns a question with the text that candidates of the mandate see, and with its present statistics. */
function questionRecord(skill: FlowSkill, item: SkillItem, report: ItemReport | undefined, maySeeTexts: boolean) {
  const texts = maySeeTexts ? showTexts(item) : []
  const isDeleted = !report && skill.source !== 'bank'
  const statistics = report?.statistics ?? null
  return {
    item_id: item.id,
    kind: item.kind,
    stem: (texts.find(({ language }) => language === 'en') ?? texts[0])?.stem ?? null,
    languages: languagesOfItem(item),
    status: isDeleted ? ('retired' as const) : (report?.status ?? ('active' as const)),
    quality: qualityOf(statistics),
    difficulty: Math.round(100 * (report?.difficulty ?? item.difficulty)) / 100,
    responses: statistics?.responses ?? 0,
    correct_share: statistics?.correct_share ?? null,
    discrimination: statistics?.discrimination ?? null,
  }
}
