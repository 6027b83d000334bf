import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { perform } from '../access/idempotency.ts'
import type { Refusal } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { seconds } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { invalid } from '../platform/http/validation.ts'
import { skillId, skillNumber } from './ids.ts'
import { recentBodies } from './response-cache.ts'
import {
  BrowseQuery,
  ExtractBody,
  ExtractData,
  FoundSkill,
  LookupBody,
  LookupData,
  MatchBody,
  MatchData,
  SearchQuery,
  SkillParams,
  SkillRecord,
  SkillRequestBody,
  SkillRequestParams,
  SkillRequestRecord,
  SkillRequestsQuery,
} from './schema.ts'
import { joinJson, scoredRecordJson, sendJson, skillRecord, skillRecordJson, type WrittenJson } from './skill-json.ts'
import { type SearchPosition, searchPage, skillsAfter, skillsUnder } from './skill-pages.ts'
import { getRequest, listRequests, requestRecord, requestSkill } from './skill-requests.ts'
import type { Skill, Snapshot } from './snapshot.ts'

/** Milliseconds. */
const LONGEST_TURN = 10

/** The partner's view of the catalogue. */
export function skillRoutes(app: App, context: Context): void {
  const { vault } = context
  const reading = { scope: 'skills:read' } as const
  const searches = recentBodies<{ body: string | Buffer; numbers: number[] }>()

  app.get(
    '/skills',
    {
      config: { ...reading, limit: 'skillsSearch' },
      schema: {
        operationId: 'browseSkills',
        tags: ['Skills'],
        summary: 'Browse the catalogue by id',
        description:
          'Each page counts towards the browse pages of the hour, each new skill towards the different skills of the day.',
        querystring: BrowseQuery,
        response: { 200: success(listOf(SkillRecord)) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, master_skill_id, sub_skill_id } = request.query
      const list = `skills ${master_skill_id ?? ''} ${sub_skill_id ?? ''}`
      const after = readCursor<number>(vault, list, cursor) ?? 0
      await countBrowsePage(context, request)
      const skills = skillsUnder(context.catalogue.current, request.query)
      const { page, more } = skillsAfter(skills, after, limit)
      const numbers = page.map(({ number }) => number)
      await countSeenSkills(context, request, numbers)
      const next = more ? writeCursor(vault, list, numbers.at(-1)!) : null
      return sendJson(reply, listJson('Skills', page.map(skillRecordJson), next))
    },
  )

  app.get(
    '/skills/search',
    {
      config: { ...reading, limit: 'skillsSearch' },
      schema: {
        operationId: 'searchSkills',
        tags: ['Skills'],
        summary: 'Search skills by name',
        description:
          'Best first. Beginnings of words, typos, swapped words and other names of a skill find it too. Each new skill counts towards the different skills of the day.',
        querystring: SearchQuery,
        response: { 200: success(listOf(FoundSkill)) },
      },
    },
    (request, reply) => {
      const { q, limit, cursor } = request.query
      const { current } = context.catalogue
      const { numbers, body } = searches.answer(current, JSON.stringify([q, limit, cursor]), () => {
        const list = `skills called ${q}`
        const from = readCursor<SearchPosition>(vault, list, cursor)
        const { found, next } = searchPage(current, q, limit, from)
        const items = found.map(({ skill, score }) => scoredRecordJson(skill, score))
        const next_cursor = next ? writeCursor(vault, list, next) : null
        return { numbers: found.map(({ skill }) => skill.number), body: listJson('Skills found', items, next_cursor) }
      })
      const counting = countSeenSkills(context, request, numbers)
      if (!counting) sendJson(reply, body)
      else
        counting.then(
          () => sendJson(reply, body),
          (error) => reply.send(error),
        )
    },
  )

  app.get(
    '/skills/:skill_id',
    {
      config: { ...reading, limit: 'skillsLookup' },
      schema: {
        operationId: 'getSkill',
        tags: ['Skills'],
        summary: 'One skill',
        params: SkillParams,
        response: { 200: success(SkillRecord) },
      },
    },
    async ({ params }) => {
      await context.catalogue.learn({ numbers: [skillNumber(params.skill_id)] })
      const skill = skillOf(context.catalogue.current, params.skill_id)
      if (!skill) throw problem('NOT_FOUND', `There is no skill ${params.skill_id}.`)
      return { success: true as const, message: 'Skill', data: skillRecord(skill) }
    },
  )

  app.post(
    '/skills/lookup',
    {
      config: { ...reading, limit: 'skillsLookup' },
      schema: {
        operationId: 'lookUpSkills',
        tags: ['Skills'],
        summary: 'Look up skills by id or by name',
        description:
          'Send either `skill_ids` or `names`. A name is the skill’s own, compared without case and spacing. What is asked for twice is answered once.',
        body: LookupBody,
        response: { 200: success(LookupData) },
      },
    },
    async ({ body }) => {
      const { skill_ids, names } = body
      if ((skill_ids === undefined) === (names === undefined)) {
        throw invalid([{ path: 'body', message: 'must have either skill_ids or names, one of the two' }])
      }
      await context.catalogue.learn({ numbers: skill_ids?.map(skillNumber) ?? [], names: names ?? [] })
      const { current } = context.catalogue
      const data = skill_ids
        ? lookUp(skill_ids, (id) => skillOf(current, id))
        : lookUp(names!, (name) => current.named(name))
      return { success: true as const, message: 'Skills', data }
    },
  )

  app.post(
    '/skills/match',
    {
      config: { ...reading, limit: 'skillsMatch' },
      schema: {
        operationId: 'matchSkills',
        tags: ['Skills'],
        summary: 'Find the skills that phrases mean',
        description:
          'For each phrase the likeliest skills, best first. A score of 0.8 means right about eight times in ten.',
        body: MatchBody,
        response: { 200: success(MatchData) },
      },
    },
    async ({ body }) => {
      const { phrases, limit = 3 } = body
      const { current } = context.catalogue
      const matches = []
      let since = performance.now()
      for (const phrase of phrases) {
        // Fifty long phrases of misspelt words take a while; other calls get their turn in between.
        if (performance.now() - since > LONGEST_TURN) {
          await setImmediate()
          since = performance.now()
        }
        const candidates = current.index
          .match(phrase, limit)
          .map(({ number, name, score, method }) => ({ skill_id: skillId(number), name, score, method }))
        matches.push({ phrase, candidates })
      }
      return { success: true as const, message: 'Matches', data: { matches } }
    },
  )

  app.post(
    '/skills/extract',
    {
      config: { ...reading, limit: 'skillsMatch' },
      schema: {
        operationId: 'extractSkills',
        tags: ['Skills'],
        summary: 'Find the skills that a text mentions',
        description: 'Best first, each with the places where the text mentions it.',
        body: ExtractBody,
        response: { 200: success(ExtractData) },
      },
    },
    async ({ body }) => {
      const { text, limit = 25 } = body
      const { current } = context.catalogue
      const skills = current.index
        .extract(text, limit)
        .map(({ number, name, score, mentions }) => ({ skill_id: skillId(number), name, score, mentions }))
      return { success: true as const, message: 'Skills found in the text', data: { skills } }
    },
  )
}

/** Wishes for skills that the catalogue lacks. */
export function skillRequestRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const tags = ['Skill requests']

  app.post(
    '/skill-requests',
    {
      config: { scope: 'skills:request', limit: 'skillRequests', idempotent: 'optional' },
      schema: {
        operationId: 'requestSkill',
        tags,
        summary: 'Ask for a skill to be added',
        description:
          '201 for a new request. 200 where there is nothing to ask for: `duplicate` with the `skill_id` of a skill that has this name, or the request for it that is still open.',
        body: SkillRequestBody,
        response: { 200: success(SkillRequestRecord), 201: success(SkillRequestRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { request: asked, made } = await requestSkill(tx, caller, clock, request.body)
        const message = made ? 'Requested' : asked.status === 'duplicate' ? 'There is such a skill' : 'Requested before'
        return { status: made ? 201 : 200, body: { success: true, message, data: requestRecord(asked) } }
      })
    },
  )

  app.get(
    '/skill-requests',
    {
      config: { scope: 'skills:request', limit: 'reads' },
      schema: {
        operationId: 'listSkillRequests',
        tags,
        summary: 'Skill requests, newest first',
        querystring: SkillRequestsQuery,
        response: { 200: success(listOf(SkillRequestRecord)) },
      },
    },
    async ({ caller, query }) => {
      const { status, limit, cursor } = query
      const list = `skill requests ${caller.orgId} ${caller.mode} ${status ?? ''}`
      const after = readCursor<string>(vault, list, cursor)
      const found = await listRequests(db.queries, caller, { status, after, limit: limit + 1 })
      const items = found.slice(0, limit).map(requestRecord)
      const next_cursor = found.length > limit ? writeCursor(vault, list, items.at(-1)!.request_id) : null
      return { success: true as const, message: 'Skill requests', data: { items, next_cursor } }
    },
  )

  app.get(
    '/skill-requests/:request_id',
    {
      config: { scope: 'skills:request', limit: 'reads' },
      schema: {
        operationId: 'getSkillRequest',
        tags,
        summary: 'One skill request',
        params: SkillRequestParams,
        response: { 200: success(SkillRequestRecord) },
      },
    },
    async ({ caller, params }) => ({
      success: true as const,
      message: 'Skill request',
      data: requestRecord(await getRequest(db.queries, caller, params.request_id)),
    }),
  )
}

function skillOf(snapshot: Snapshot, id: string): Skill | undefined {
  const number = skillNumber(id)
  return number === undefined ? undefined : snapshot.skill(number)
}

/** Each skill once, in the order asked. */
function lookUp(asked: string[], find: (text: string) => Skill | undefined) {
  const found = new Set<Skill>()
  const missing = new Set<string>()
  for (const text of asked) {
    const skill = find(text)
    if (skill) found.add(skill)
    else missing.add(text)
  }
  return { found: [...found].map(skillRecord), missing: [...missing] }
}

/** A list made of JSON that is there already. */
function listJson(message: string, items: WrittenJson[], next: string | null): string | Buffer {
  const after = `,"next_cursor":${next === null ? 'null' : `"${next}"`}}}`
  return joinJson(`{"success":true,"message":"${message}","data":{"items":`, items, after)
}

async function countBrowsePage({ limits, clock }: Context, { caller }: FastifyRequest) {
  const refused = await limits.limiter.browsePage(caller.keyId, caller.key.limits, clock.now())
  const most = caller.key.limits.browsePagesPerHour
  if (refused) throw refusal(refused, `This key rests (cooldown): it may browse ${most} pages (GET /skills) in an hour`)
}

/** Answers at once but where the counts are kept elsewhere. */
function countSeenSkills(
  { limits, clock }: Context,
  { caller: { key, keyId } }: FastifyRequest,
  numbers: number[],
): undefined | Promise<void> {
  const most = key.limits.skillsPerDay
  const counted = limits.limiter.seeSkills(keyId, key.limits, numbers, clock.now())
  if (counted instanceof Promise) return counted.then((refused) => refuseNewSkills(refused, most))
  return refuseNewSkills(counted, most)
}

function refuseNewSkills(refused: Refusal | undefined, most: number): undefined {
  if (!refused) return
  throw refusal(
    refused,
    `Search and browse return ${most} different skills to this key between two midnights IST, and this call would return more; those seen today stay readable`,
  )
}

function refusal({ code, retryAfter }: Refusal, cause: string) {
  return problem(code, `${cause}. Try again in ${seconds(retryAfter)}.`, { retryAfter })
}
