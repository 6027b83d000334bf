import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { unstorableReason } from '../../platform/http/json.ts'
import type { App } from '../../platform/http/server.ts'
import { masterSkillId, masterSkillNumber, skillId, subSkillId } from '../ids.ts'
import { SkillParams } from '../schema.ts'
import { joinJson, type SerialisedJson, sendJson } from '../serialised-json.ts'
import { publicSkillJson, publicSkillRecord } from '../skill-json.ts'
import { filterGroupsByName, filterSkills } from '../skill-pages.ts'
import type { MasterSkill, Snapshot, SubSkill as SubSkillEntry } from '../snapshot.ts'
import { type PageRequest, pageWindow, rejectPageAfterLast } from './page-numbers.ts'
import {
  KeywordQuery,
  MasterSkillRecord,
  MasterSkillsQuery,
  NamedSelectedSkill,
  PublicSkill,
  PublicSkillDetails,
  paginatedResponse,
  SelectedSkill,
  SelectionBody,
  SelectionParams,
  SelectionsQuery,
  SkillsQuery,
  SubSkillRecord,
  SubSkillsQuery,
  singleResponse,
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
        description: 'Returns the best matches first. At most 15 requests per minute are accepted from one IP address.',
        querystring: KeywordQuery,
        response: { 200: paginatedResponse(PublicSkill) },
      },
    },
    ({ query }, reply) => {
      const { current } = context.catalogue
      const { keyword, page, limit } = query
      const { skills, total } = current.index.search(keyword, { offset: (page - 1) * limit, limit })
      rejectPageAfterLast(query, total)
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
        description: 'Skills are sorted by ID.',
        querystring: SkillsQuery,
        response: { 200: paginatedResponse(PublicSkill) },
      },
    },
    async ({ query }, reply) => {
      const skills = filterSkills(context.catalogue.current, query)
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
        description: 'Lists all master skills, or with `keyword` those with this name. Master skills are sorted by ID.',
        querystring: MasterSkillsQuery,
        response: { 200: paginatedResponse(MasterSkillRecord) },
      },
    },
    async ({ query }) =>
      paginate(filterGroupsByName(context.catalogue.current.masters, query.keyword), query, masterSkillRecord),
  )

  app.get(
    '/skills/sub-skills',
    {
      config,
      schema: {
        operationId: 'listSubSkills',
        tags,
        summary: 'List sub-skills',
        description:
          'Lists the sub-skills of one master skill, or of all master skills without `master_skill_id`; with `keyword`, only those with this name. Sub-skills are sorted by ID.',
        querystring: SubSkillsQuery,
        response: { 200: paginatedResponse(SubSkillRecord) },
      },
    },
    async ({ query }) => {
      const { subSkills } = context.catalogue.current
      const { master_skill_id: id } = query
      const masterNumber = id === undefined ? undefined : masterSkillNumber(id)
      const matchingSubSkills =
        id === undefined ? subSkills : subSkills.filter(({ master }) => master.number === masterNumber)
      return paginate(filterGroupsByName(matchingSubSkills, query.keyword), query, subSkillRecord)
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
        description: 'The response includes the description and aliases of the skill.',
        params: SkillParams,
        response: { 200: singleResponse(PublicSkillDetails) },
      },
    },
    async ({ params }) => {
      const skill = (await context.catalogue.load({ ids: [params.skill_id] })).byId(params.skill_id)
      if (!skill) throw problem('NOT_FOUND', `Skill ${params.skill_id} not found.`)
      const { description, aliases } = skill
      return { success: true as const, message: 'Skill', data: { ...publicSkillRecord(skill), description, aliases } }
    },
  )
}

/** Routes for the skills that users have selected. Callers who know a user's ID can read and change that user's skills. */
export function selectedSkillRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Selected skills']
  const config = { visitors: 'other' } as const

  app.post(
    '/selected-skills',
    {
      config: { ...config, errors: ['NOT_FOUND', 'CONFLICT'] },
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
      const createdSelection = await db.transaction((tx) => selectSkill(tx, skills, clock, body))
      return reply.status(201).send({ success: true, message: 'Skill selected', data: selectedSkill(createdSelection) })
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
        description: 'The newest selections come first.',
        querystring: SelectionsQuery,
        response: { 200: paginatedResponse(NamedSelectedSkill) },
      },
    },
    async ({ query }) => {
      const { user_id, page, limit } = query
      const error = unstorableReason(user_id)
      if (error) throw invalid([{ path: 'query.user_id', message: error }])
      const { selections, count } = await listSelections(db.queries, user_id, { offset: (page - 1) * limit, limit })
      rejectPageAfterLast(query, count)
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
        description: 'Returns one selection of a user by its ID.',
        params: SelectionParams,
        response: { 200: singleResponse(NamedSelectedSkill) },
      },
    },
    async ({ params }) => {
      const selection = await getSelection(db.queries, params.selected_skill_id)
      const data = namedSelectedSkill(context.catalogue.current, selection)
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
        description: 'Removes the skill from the selection of its user. The skill itself stays in the catalogue.',
        params: SelectionParams,
        response: { 200: singleResponse(SelectedSkill) },
      },
    },
    async ({ params }) => {
      const deletedSelection = await db.transaction((tx) => deleteSelection(tx, params.selected_skill_id))
      return { success: true as const, message: 'Selection deleted', data: selectedSkill(deletedSelection) }
    },
  )
}

function masterSkillRecord({ number, name, skillCount: skills }: MasterSkill) {
  return { master_skill_id: masterSkillId(number), master_skill_name: name, skills }
}

function subSkillRecord({ number, name, master, skillCount: skills }: SubSkillEntry) {
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

function paginate<Entry, Item>(entries: Entry[], pageRequest: PageRequest, toItem: (entry: Entry) => Item) {
  const { offset, limit } = pageWindow(pageRequest, entries.length)
  return {
    data: entries.slice(offset, offset + limit).map(toItem),
    page: pageRequest.page,
    limit,
    count: entries.length,
  }
}

/** Returns the response body of a page whose items are already serialised. */
function pageJson(items: SerialisedJson[], { page, limit }: PageRequest, count: number): string | Buffer {
  return joinJson('{"data":', items, `,"page":${page},"limit":${limit},"count":${count}}`)
}
