import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'
import { NoBody } from '../../platform/http/body.ts'
import type { App } from '../../platform/http/server.ts'
import {
  EditableSkill,
  ListedSkill,
  MergeEffectsRecord,
  MergeQuery,
  SkillChangeBody,
  SkillFilters,
  SkillMergeBody,
} from '../editor-schema.ts'
import { skillNumber } from '../ids.ts'
import { SkillParams } from '../schema.ts'
import { browseSkills, describeMergeEffects, describeSkill } from '../skill-browser.ts'
import { changeSkill } from '../skill-edits.ts'
import { mergeSkill, refreshAfterMerge, undoMerge } from '../skill-merges.ts'
import { requireAdmin } from './admin-key.ts'
import { rejectPageAfterLast } from './page-numbers.ts'
import { PageQuery, paginatedResponse, singleResponse } from './schema.ts'

/** A change with the admin key, for the audit log. */
export interface AdminChange {
  action: string
  subject: string
  details: object
  requestId: string
  address: string
  userAgent: string | undefined
}

/** Hook: records a change in the audit log, in its transaction. */
export const adminChangeMade =
  defineHook<[tx: Tx, clock: Clock, change: AdminChange]>('adminChangeMade').handledBy('console')

/** Routes with which the operator browses and changes skills. They require the admin key. */
export function skillAdminRoutes(app: App, context: Context): void {
  const { db, clock, catalogue } = context
  const sharedOptions = {
    config: { visitors: 'other' },
    onRequest: (request: FastifyRequest) => requireAdmin(context, request),
  } as const
  const sharedSchema = { tags: ['Admin'], security: [{ admin: [] }] }
  const record = (tx: Tx, { id, ip, headers }: FastifyRequest, action: string, subject: string, details: object) =>
    adminChangeMade.run(tx, clock, {
      action,
      subject,
      details,
      requestId: id,
      address: ip,
      userAgent: headers['user-agent'],
    })

  app.get(
    '/admin/skills',
    {
      ...sharedOptions,
      schema: {
        ...sharedSchema,
        operationId: 'browseCatalogueSkills',
        summary: 'Browse skills with their sources and questions',
        description:
          'Lists the skills that match all filters: with `keyword` the best matches first, otherwise sorted by ID.',
        querystring: Type.Object({
          keyword: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'Words of a name or alias, or the ID of a skill.',
            }),
          ),
          ...SkillFilters,
          ...PageQuery.properties,
        }),
        response: { 200: paginatedResponse(ListedSkill) },
      },
    },
    async ({ query }) => {
      const { page, limit, keyword, ...filter } = query
      const window = { offset: (page - 1) * limit, limit }
      const { items, total } = await browseSkills(context, { ...filter, q: keyword }, window)
      rejectPageAfterLast(query, total)
      return { data: items, page, limit, count: total }
    },
  )

  app.get(
    '/admin/skills/:skill_id',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors: ['NOT_FOUND'] },
      schema: {
        ...sharedSchema,
        operationId: 'getCatalogueSkill',
        summary: 'Get a skill with its sources',
        description: 'Returns the skill with its sources, its questions and the changes of operators.',
        params: SkillParams,
        response: { 200: singleResponse(EditableSkill) },
      },
    },
    async ({ params }) => ({
      success: true as const,
      message: 'Skill',
      data: await describeSkill(context, params.skill_id),
    }),
  )

  app.patch(
    '/admin/skills/:skill_id',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        ...sharedSchema,
        operationId: 'changeCatalogueSkill',
        summary: 'Correct a skill',
        description:
          'Changes the name, aliases or flags of a skill. Later imports do not revert the change. Fails with 409 if another skill has the name or alias, or if the skill has changed since `revision`.',
        params: SkillParams,
        body: SkillChangeBody,
        response: { 200: singleResponse(EditableSkill) },
      },
    },
    async (request) => {
      const { skill_id } = request.params
      await db.transaction(async (tx) => {
        const details = await changeSkill(tx, clock, skillNumber(skill_id) ?? 0, request.body)
        if (details) await record(tx, request, 'skill.change', skill_id, details)
      })
      await catalogue.refreshAfterChange()
      return { success: true as const, message: 'Skill changed', data: await describeSkill(context, skill_id) }
    },
  )

  app.get(
    '/admin/skills/:skill_id/merge',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        ...sharedSchema,
        operationId: 'getSkillMergeEffects',
        summary: 'Get the effects of merging a skill',
        description: 'Returns the effects of merging the skill into another one, without merging them.',
        params: SkillParams,
        querystring: MergeQuery,
        response: { 200: singleResponse(MergeEffectsRecord) },
      },
    },
    async ({ params, query }) => ({
      success: true as const,
      message: 'Effects of the merge',
      data: await describeMergeEffects(db.queries, params.skill_id, query.into),
    }),
  )

  app.post(
    '/admin/skills/:skill_id/merge',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        ...sharedSchema,
        operationId: 'mergeCatalogueSkill',
        summary: 'Merge a skill into another one',
        description:
          'The ID of the merged skill stays valid and means the surviving skill, which gets its name and aliases as aliases. Records keep the ID that they were created with. The merge can be undone. Returns the surviving skill. Fails with 409 if one of the skills has already been merged.',
        params: SkillParams,
        body: SkillMergeBody,
        response: { 200: singleResponse(EditableSkill) },
      },
    },
    async (request) => {
      const { skill_id } = request.params
      const { into } = request.body
      await db.transaction(async (tx) => {
        const names = await mergeSkill(tx, clock, skillNumber(skill_id) ?? 0, skillNumber(into) ?? 0)
        await record(tx, request, 'skill.merge', skill_id, { into, ...names })
      })
      await refreshAfterMerge(context)
      return { success: true as const, message: 'Skills merged', data: await describeSkill(context, into) }
    },
  )

  app.post(
    '/admin/skills/:skill_id/undo-merge',
    {
      ...sharedOptions,
      config: { ...sharedOptions.config, errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        ...sharedSchema,
        operationId: 'undoSkillMerge',
        summary: 'Undo the merge of a skill',
        description:
          'Makes a merged skill a skill of its own again. Returns the skill. Fails with 409 if it is not merged.',
        params: SkillParams,
        body: NoBody,
        response: { 200: singleResponse(EditableSkill) },
      },
    },
    async (request) => {
      const { skill_id } = request.params
      await db.transaction(async (tx) => {
        const details = await undoMerge(tx, clock, skillNumber(skill_id) ?? 0)
        await record(tx, request, 'skill.undo_merge', skill_id, details)
      })
      await refreshAfterMerge(context)
      return { success: true as const, message: 'Merge undone', data: await describeSkill(context, skill_id) }
    },
  )
}
