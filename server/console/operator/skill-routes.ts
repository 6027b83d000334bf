import { type Static, Type } from 'typebox'
import {
  EditableSkill,
  ListedSkill,
  MergeEffectsRecord,
  MergeQuery,
  SkillChangeBody,
  SkillFilters,
  SkillMergeBody,
  SkillUseRecord,
} from '../../catalogue/editor-schema.ts'
import { masterSkillId, skillNumber, subSkillId } from '../../catalogue/ids.ts'
import { hierarchyFilters, SkillParams } from '../../catalogue/schema.ts'
import {
  browseMasterSkills,
  browseSkills,
  browseSubSkills,
  describeMergeEffects,
  describeSkill,
  describeSkillUse,
} from '../../catalogue/skill-browser.ts'
import { changeSkill } from '../../catalogue/skill-edits.ts'
import { mergeSkill, refreshAfterMerge, undoMerge } from '../../catalogue/skill-merges.ts'
import type { Context } from '../../context.ts'
import { NoBody } from '../../platform/http/body.ts'
import { readCursor, writeCursor } from '../../platform/http/cursor.ts'
import { pageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { countedListOf } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { CatalogueGroup } from './schema.ts'

const searchText = Type.Optional(Type.String({ maxLength: 200 }))

/** Routes with which the operator browses the catalogue and changes skills. */
export function skillEditorRoutes(app: App, context: Context): void {
  const { db, vault, clock, catalogue } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/catalogue/skills',
    {
      config,
      schema: {
        querystring: Type.Object({ q: searchText, ...SkillFilters, ...pageQuery }),
        response: { 200: success(countedListOf(ListedSkill)) },
      },
    },
    async ({ query: { limit, cursor, ...filter } }) =>
      pageByOffset('Skills', `catalogue skills ${JSON.stringify(filter)}`, { limit, cursor }, (window) =>
        browseSkills(context, filter, window),
      ),
  )

  app.get(
    '/operator/catalogue/groups',
    {
      config,
      schema: {
        querystring: Type.Object({
          level: Type.Enum(['sub_skill', 'master_skill']),
          q: searchText,
          master_skill_id: hierarchyFilters.master_skill_id,
          ...pageQuery,
        }),
        response: { 200: success(countedListOf(CatalogueGroup)) },
      },
    },
    async ({ query: { limit, cursor, level, q = '', ...filter } }) =>
      pageByOffset<Static<typeof CatalogueGroup>>(
        'Groups',
        `catalogue groups ${JSON.stringify([level, q, filter])}`,
        { limit, cursor },
        async (window) => {
          const groups =
            level === 'sub_skill'
              ? browseSubSkills(catalogue.current, q, filter).map(({ number, name, master, skillCount: skills }) => ({
                  id: subSkillId(number),
                  name,
                  master_skill: { master_skill_id: masterSkillId(master.number), name: master.name },
                  skills,
                }))
              : browseMasterSkills(catalogue.current, q).map(({ number, name, skillCount: skills }) => ({
                  id: masterSkillId(number),
                  name,
                  master_skill: null,
                  skills,
                }))
          return { items: groups.slice(window.offset, window.offset + window.limit), total: groups.length }
        },
      ),
  )

  app.get(
    '/operator/catalogue/skills/:skill_id',
    { config, schema: { params: SkillParams, response: { 200: success(EditableSkill) } } },
    async ({ params }) => successResponse('Skill', await describeSkill(context, params.skill_id)),
  )

  app.get(
    '/operator/catalogue/skills/:skill_id/use',
    { config, schema: { params: SkillParams, response: { 200: success(SkillUseRecord) } } },
    async ({ params }) => successResponse('Use of the skill', await describeSkillUse(db.queries, params.skill_id)),
  )

  app.patch(
    '/operator/catalogue/skills/:skill_id',
    {
      config,
      schema: { params: SkillParams, body: SkillChangeBody, response: { 200: success(EditableSkill) } },
    },
    async (request) => {
      const { skill_id } = request.params
      await db.transaction(async (tx) => {
        const details = await changeSkill(tx, clock, skillNumber(skill_id) ?? 0, request.body)
        if (details) await recordRequestAudit(tx, context, request, 'skill.change', skill_id, details)
      })
      await catalogue.refreshAfterChange()
      return successResponse('Skill changed', await describeSkill(context, skill_id))
    },
  )

  app.get(
    '/operator/catalogue/skills/:skill_id/merge',
    {
      config,
      schema: { params: SkillParams, querystring: MergeQuery, response: { 200: success(MergeEffectsRecord) } },
    },
    async ({ params, query }) =>
      successResponse('Effects of the merge', await describeMergeEffects(db.queries, params.skill_id, query.into)),
  )

  app.post(
    '/operator/catalogue/skills/:skill_id/merge',
    {
      config,
      schema: { params: SkillParams, body: SkillMergeBody, response: { 200: success(EditableSkill) } },
    },
    async (request) => {
      const { skill_id } = request.params
      const { into } = request.body
      await db.transaction(async (tx) => {
        const names = await mergeSkill(tx, clock, skillNumber(skill_id) ?? 0, skillNumber(into) ?? 0)
        await recordRequestAudit(tx, context, request, 'skill.merge', skill_id, { into, ...names })
      })
      await refreshAfterMerge(context)
      return successResponse('Skills merged', await describeSkill(context, into))
    },
  )

  app.post(
    '/operator/catalogue/skills/:skill_id/undo-merge',
    { config, schema: { params: SkillParams, body: NoBody, response: { 200: success(EditableSkill) } } },
    async (request) => {
      const { skill_id } = request.params
      await db.transaction(async (tx) => {
        const details = await undoMerge(tx, clock, skillNumber(skill_id) ?? 0)
        await recordRequestAudit(tx, context, request, 'skill.undo_merge', skill_id, details)
      })
      await refreshAfterMerge(context)
      return successResponse('Merge undone', await describeSkill(context, skill_id))
    },
  )

  /** Returns a page of a list in memory, whose cursor is the number of rows before it. */
  async function pageByOffset<T>(
    message: string,
    listKey: string,
    { limit, cursor }: { limit: number; cursor?: string },
    findPage: (window: { offset: number; limit: number }) => Promise<{ items: T[]; total: number }>,
  ) {
    const offset = readCursor<number>(vault, listKey, cursor) ?? 0
    const { items, total } = await findPage({ offset, limit })
    const end = offset + items.length
    const next_cursor = end < total && items.length > 0 ? writeCursor(vault, listKey, end) : null
    return successResponse(message, { items, next_cursor, total: offset === 0 ? total : null })
  }
}
