import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { unstorable } from '../../platform/http/json.ts'
import type { App } from '../../platform/http/server.ts'
import { masterSkillId, masterSkillNumber, skillId, subSkillId } from '../ids.ts'
import { SkillParams } from '../schema.ts'
import { joinJson, type SerialisedJson, sendJson } from '../serialised-json.ts'
import { publicSkill, publicSkillJson } from '../skill-json.ts'
import { skillsUnder } from '../skill-pages.ts'
import type { MasterSkill, Snapshot, SubSkill as SubSkillEntry } from '../snapshot.ts'
import { type PageRequest, pageWindow } from './page-numbers.ts'
import {
  KeywordQuery,
  Master,
  NamedSelectedSkill,
  PageQuery,
  PublicSkill,
  paginatedResponse,
  SelectedSkill,
  SelectionBody,
  SelectionParams,
  SelectionsQuery,
  SkillsQuery,
  SubSkill,
  SubSkillsQuery,
  singleResponse,
  WholePublicSkill,
} from './schema.ts'
import { deleteSelection, getSelection, listSelections, type Selection, selectSkill } from './selections.ts'

/** Public skill routes: no API key, rate-limited by IP address. */
export function publicSkillRoutes(app: App, context: Context): void {
  const tags = ['Skills']
  const config = { visitors: 'skills' } as const

  app.get(
    '/skills/search',
    {
      config: { visitors: 'search' },
      schema: {
        operationId: 'searchSkills',
        tags,
        summary: 'Search skills by name',
        description: 'Best matches first. At most 15 requests per minute from one IP address.',
        querystring: KeywordQuery,
        response: { 200: paginatedResponse(PublicSkill) },
      },
    },
    ({ query }, reply) => {
      const { current } = context.catalogue
      const { keyword, page, limit } = query
      const { skills, total } = current.index.search(keyword, { offset: (page - 1) * limit, limit })
      pageWindow(query, total)
      const items = skills.map(({ number }) => publicSkillJson(current.skill(number)!))
      sendJson(reply, pageJson(items, query, total))
    },
  )

  app.get(
    '/skills',
    {
      config,
      schema: {
        operationId: 'listSkills',
        tags,
        summary: 'List skills',
        description: 'Sorted by ID.',
        querystring: SkillsQuery,
        response: { 200: paginatedResponse(PublicSkill) },
      },
    },
    async ({ query }, reply) => {
      const skills = skillsUnder(context.catalogue.current, query)
      const { offset, limit } = pageWindow(query, skills.length)
      const items = skills.slice(offset, offset + limit).map(publicSkillJson)
      return sendJson(reply, pageJson(items, query, skills.length))
    },
  )

  app.get(
    '/skills/masters',
    {
      config,
      schema: {
        operationId: 'listMasterSkills',
        tags,
        summary: 'List master skills',
        description: 'Sorted by ID.',
        querystring: PageQuery,
        response: { 200: paginatedResponse(Master) },
      },
    },
    async ({ query }) => paginate(context.catalogue.current.masters, query, masterSkillRecord),
  )

  app.get(
    '/skills/sub-skills',
    {
      config,
      schema: {
        operationId: 'listSubSkills',
        tags,
        summary: 'List sub-skills',
        description: 'Sorted by ID. Lists the sub-skills of one master skill or of all.',
        querystring: SubSkillsQuery,
        response: { 200: paginatedResponse(SubSkill) },
      },
    },
    async ({ query }) => {
      const { subSkills } = context.catalogue.current
      const { master_skill_id: id } = query
      const number = id === undefined ? undefined : masterSkillNumber(id)
      const found = id === undefined ? subSkills : subSkills.filter(({ master }) => master.number === number)
      return paginate(found, query, subSkillRecord)
    },
  )

  app.get(
    '/skills/:skill_id',
    {
      config,
      schema: {
        operationId: 'getSkill',
        tags,
        summary: 'Get a skill',
        description: 'Includes the description and aliases.',
        params: SkillParams,
        response: { 200: singleResponse(WholePublicSkill) },
      },
    },
    async ({ params }) => {
      const skill = (await context.catalogue.load({ ids: [params.skill_id] })).byId(params.skill_id)
      if (!skill) throw problem('NOT_FOUND', `Skill ${params.skill_id} not found.`)
      const { description, aliases } = skill
      return { success: true as const, message: 'Skill', data: { ...publicSkill(skill), description, aliases } }
    },
  )
}

/** Routes for the skills that users have selected. Callers who know a user's ID can read and change them. */
export function selectedSkillRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Selected skills']
  const config = { visitors: 'other' } as const

  app.post(
    '/selected-skills',
    {
      config,
      schema: {
        operationId: 'selectSkill',
        tags,
        summary: 'Select a skill for a user',
        description:
          'Send the three IDs of one search result. Returns 404 if the skill does not exist, 400 if the IDs do not belong together, and 409 if the user has already selected the skill.',
        body: SelectionBody,
        response: { 201: singleResponse(SelectedSkill) },
      },
    },
    async ({ body }, reply) => {
      const skills = await context.catalogue.load({ ids: [body.skill_id] })
      const created = await db.transaction((tx) => selectSkill(tx, skills, clock, body))
      return reply.status(201).send({ success: true, message: 'Skill selected', data: selectedSkill(created) })
    },
  )

  app.get(
    '/selected-skills',
    {
      config,
      schema: {
        operationId: 'listSelectedSkills',
        tags,
        summary: "List a user's selected skills",
        description: 'Newest first.',
        querystring: SelectionsQuery,
        response: { 200: paginatedResponse(NamedSelectedSkill) },
      },
    },
    async ({ query }) => {
      const { user_id, page, limit } = query
      const error = unstorable(user_id)
      if (error) throw invalid([{ path: 'query.user_id', message: error }])
      const { selections, count } = await listSelections(db.queries, user_id, { offset: (page - 1) * limit, limit })
      pageWindow(query, count)
      const data = selections.map((selection) => namedSelectedSkill(context.catalogue.current, selection))
      return { data, page, limit, count }
    },
  )

  app.get(
    '/selected-skills/:selected_skill_id',
    {
      config,
      schema: {
        operationId: 'getSelectedSkill',
        tags,
        summary: 'Get a selected skill',
        params: SelectionParams,
        response: { 200: singleResponse(NamedSelectedSkill) },
      },
    },
    async ({ params }) => {
      const found = await getSelection(db.queries, params.selected_skill_id)
      const data = namedSelectedSkill(context.catalogue.current, found)
      return { success: true as const, message: 'Selected skill', data }
    },
  )

  app.delete(
    '/selected-skills/:selected_skill_id',
    {
      config,
      schema: {
        operationId: 'deleteSelectedSkill',
        tags,
        summary: 'Delete a selected skill',
        params: SelectionParams,
        response: { 200: singleResponse(SelectedSkill) },
      },
    },
    async ({ params }) => {
      const deleted = await db.transaction((tx) => deleteSelection(tx, params.selected_skill_id))
      return { success: true as const, message: 'Selection deleted', data: selectedSkill(deleted) }
    },
  )
}

function masterSkillRecord({ number, name, skills }: MasterSkill) {
  return { master_skill_id: masterSkillId(number), master_skill_name: name, skills }
}

function subSkillRecord({ number, name, master, skills }: SubSkillEntry) {
  return {
    sub_skill_id: subSkillId(number),
    sub_skill_name: name,
    master_skill_id: masterSkillId(master.number),
    master_skill_name: master.name,
    skills,
  }
}

function selectedSkill(selection: Selection) {
  return {
    selected_skill_id: selection.selected_skill_id,
    user_id: selection.user_id,
    skill_id: skillId(selection.skill_number),
    sub_skill_id: subSkillId(selection.sub_number),
    master_skill_id: masterSkillId(selection.master_number),
    createdAt: selection.created_at.toISOString(),
    updatedAt: selection.updated_at.toISOString(),
  }
}

function namedSelectedSkill(snapshot: Snapshot, selection: Selection) {
  return {
    ...selectedSkill(selection),
    skill_name: snapshot.skill(selection.skill_number)?.name ?? '',
    sub_skill_name: snapshot.subSkill(selection.sub_number)?.name ?? '',
    master_skill_name: snapshot.master(selection.master_number)?.name ?? '',
  }
}

function paginate<Entry, Item>(all: Entry[], paging: PageRequest, toItem: (entry: Entry) => Item) {
  const { offset, limit } = pageWindow(paging, all.length)
  return { data: all.slice(offset, offset + limit).map(toItem), page: paging.page, limit, count: all.length }
}

/** Returns the response body of a page whose items are already serialised. */
function pageJson(items: SerialisedJson[], { page, limit }: PageRequest, count: number): string | Buffer {
  return joinJson('{"data":', items, `,"page":${page},"limit":${limit},"count":${count}}`)
}
