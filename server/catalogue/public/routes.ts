import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { unstorable } from '../../platform/http/json.ts'
import type { App } from '../../platform/http/server.ts'
import { invalid } from '../../platform/http/validation.ts'
import { masterSkillId, masterSkillNumber, skillId, skillNumber, subSkillId } from '../ids.ts'
import { recentBodies, recentFinds } from '../response-cache.ts'
import { SkillParams } from '../schema.ts'
import { joinJson, publicSkill, publicSkillJson, sendJson, type WrittenJson } from '../skill-json.ts'
import { skillsUnder } from '../skill-pages.ts'
import type { MasterSkill, Skill, Snapshot, SubSkill as SubSkillEntry } from '../snapshot.ts'
import { type Paging, pageWithin } from './page-numbers.ts'
import {
  KeywordQuery,
  Master,
  NamedSelectedSkill,
  PageQuery,
  PublicSkill,
  pageOf,
  SelectedSkill,
  SelectionBody,
  SelectionParams,
  SelectionsQuery,
  SkillsQuery,
  SubSkill,
  SubSkillsQuery,
  single,
  WholePublicSkill,
} from './schema.ts'
import { deleteSelection, getSelection, listSelections, type Selection, selectSkill } from './selections.ts'

/** The catalogue for everybody: no key, limited by address. */
export function publicSkillRoutes(app: App, context: Context): void {
  const tags = ['Skills']
  const config = { visitors: 'skills' } as const
  const answers = recentBodies()
  const finds = recentFinds<{ found: Skill[]; total: number }>()

  app.get(
    '/skills/search',
    {
      config: { visitors: 'search' },
      schema: {
        operationId: 'searchSkills',
        tags,
        summary: 'Search skills by name',
        description: 'Best first. At most 15 calls a minute from one address.',
        querystring: KeywordQuery,
        response: { 200: pageOf(PublicSkill) },
      },
    },
    ({ query }, reply) => {
      const { current } = context.catalogue
      const { keyword, page, limit } = query
      const question = `${page} ${limit} ${keyword}`
      const { body } = answers.answer(current, question, () => {
        const { found, total } = finds.answer(current, question, () => {
          const { skills, total } = current.index.search(keyword, { offset: (page - 1) * limit, limit })
          pageWithin(query, total)
          return { found: skills.map(({ number }) => current.skill(number)!), total }
        })
        return { body: pageJson(found.map(publicSkillJson), query, total) }
      })
      sendJson(reply, body)
    },
  )

  app.get(
    '/skills',
    {
      config,
      schema: {
        operationId: 'listSkills',
        tags,
        summary: 'All skills, by id',
        querystring: SkillsQuery,
        response: { 200: pageOf(PublicSkill) },
      },
    },
    async ({ query }, reply) => {
      const skills = skillsUnder(context.catalogue.current, query)
      const { offset, limit } = pageWithin(query, skills.length)
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
        summary: 'Master skills, by id',
        querystring: PageQuery,
        response: { 200: pageOf(Master) },
      },
    },
    async ({ query }) => pageFrom(context.catalogue.current.masters, query, masterOf),
  )

  app.get(
    '/skills/sub-skills',
    {
      config,
      schema: {
        operationId: 'listSubSkills',
        tags,
        summary: 'Sub-skills, of one master skill or all, by id',
        querystring: SubSkillsQuery,
        response: { 200: pageOf(SubSkill) },
      },
    },
    async ({ query }) => {
      const { subSkills } = context.catalogue.current
      const { master_skill_id: id } = query
      const number = id === undefined ? undefined : masterSkillNumber(id)
      const found = id === undefined ? subSkills : subSkills.filter(({ master }) => master.number === number)
      return pageFrom(found, query, subSkillOf)
    },
  )

  app.get(
    '/skills/:skill_id',
    {
      config,
      schema: {
        operationId: 'getSkill',
        tags,
        summary: 'One skill, with its description and other names',
        params: SkillParams,
        response: { 200: single(WholePublicSkill) },
      },
    },
    async ({ params }) => {
      const number = skillNumber(params.skill_id)
      await context.catalogue.learn({ numbers: [number] })
      const skill = number === undefined ? undefined : context.catalogue.current.skill(number)
      if (!skill) throw problem('NOT_FOUND', `There is no skill ${params.skill_id}.`)
      const { description, aliases } = skill
      return { success: true as const, message: 'Skill', data: { ...publicSkill(skill), description, aliases } }
    },
  )
}

/** Which skills users have selected; whoever knows a user's id may read and change them. */
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
          'The three ids are those of one search result. 404 for a skill that does not exist, 400 where the ids do not belong together, 409 where the user has the skill already.',
        body: SelectionBody,
        response: { 201: single(SelectedSkill) },
      },
    },
    async ({ body }, reply) => {
      await context.catalogue.learn({ numbers: [skillNumber(body.skill_id)] })
      const made = await db.transaction((tx) => selectSkill(tx, context.catalogue.current, clock, body))
      return reply.status(201).send({ success: true, message: 'Skill selected', data: selectedSkill(made) })
    },
  )

  app.get(
    '/selected-skills',
    {
      config,
      schema: {
        operationId: 'listSelectedSkills',
        tags,
        summary: "A user's selected skills, newest first",
        querystring: SelectionsQuery,
        response: { 200: pageOf(NamedSelectedSkill) },
      },
    },
    async ({ query }) => {
      const { user_id, page, limit } = query
      const fault = unstorable(user_id)
      if (fault) throw invalid([{ path: 'query.user_id', message: fault }])
      const { selections, count } = await listSelections(db.queries, user_id, { offset: (page - 1) * limit, limit })
      pageWithin(query, count)
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
        summary: 'One selection',
        params: SelectionParams,
        response: { 200: single(NamedSelectedSkill) },
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
        summary: 'Take a selection back, for good',
        params: SelectionParams,
        response: { 200: single(SelectedSkill) },
      },
    },
    async ({ params }) => {
      const gone = await db.transaction((tx) => deleteSelection(tx, params.selected_skill_id))
      return { success: true as const, message: 'Selection deleted', data: selectedSkill(gone) }
    },
  )
}

function masterOf({ number, name, skills }: MasterSkill) {
  return { master_skill_id: masterSkillId(number), master_skill_name: name, skills }
}

function subSkillOf({ number, name, master, skills }: SubSkillEntry) {
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

function pageFrom<Entry, Item>(all: Entry[], paging: Paging, write: (entry: Entry) => Item) {
  const { offset, limit } = pageWithin(paging, all.length)
  return { data: all.slice(offset, offset + limit).map(write), page: paging.page, limit, count: all.length }
}

/** A page made of JSON that is there already. */
function pageJson(items: WrittenJson[], { page, limit }: Paging, count: number): string | Buffer {
  return joinJson('{"data":', items, `,"page":${page},"limit":${limit},"count":${count}}`)
}
