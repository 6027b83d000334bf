import { setImmediate } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { runIdempotent } from '../access/idempotency.ts'
import type { LimitError } from '../access/limits/limiter.ts'
import type { KeyLimits } from '../access/limits/table.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatWait } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { skillId } from './ids.ts'
import {
  BrowseQuery,
  ExtractBody,
  ExtractData,
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
  SkillSearchResult,
} from './schema.ts'
import { joinJson, type SerialisedJson, sendJson } from './serialised-json.ts'
import { scoredRecordJson, skillForOrganisation, skillRecord, skillRecordJson } from './skill-json.ts'
import { filterSkills, type SearchPosition, searchPage, skillsAfter } from './skill-pages.ts'
import { getRequest, listRequests, requestRecord, requestSkill } from './skill-requests.ts'
import type { SnapshotSkill } from './snapshot.ts'

/** After this time, the match route pauses so that the event loop can process other requests. */
const MAX_BLOCKING_TIME_MS = 10

/** Skill routes of the partner API. */
export function skillRoutes(app: App, context: Context): void {
  const { vault, ownSkills } = context
  const readScope = { scope: 'skills:read' } as const
  const forCaller = ({ caller }: Pick<FastifyRequest, 'caller'>, skill: SnapshotSkill) =>
    skillForOrganisation(skill, ownSkills.of(caller.orgId))

  app.get(
    '/skills',
    {
      config: { ...readScope, limit: 'skillsSearch' },
      schema: {
        operationId: 'browseSkills',
        tags: ['Skills'],
        summary: 'Browse skills',
        description:
          'Skills are sorted by ID. Each page counts towards the hourly limit of browse pages, and each skill that this key has not received today counts towards the daily limit of different skills.',
        querystring: BrowseQuery,
        response: { 200: success(listOf(SkillRecord)) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, master_skill_id, sub_skill_id } = request.query
      const listName = `skills ${master_skill_id ?? ''} ${sub_skill_id ?? ''}`
      const lastNumber = readCursor<number>(vault, listName, cursor) ?? 0
      await countBrowsePage(context, request)
      const skills = filterSkills(context.catalogue.current, request.query)
      const { page, hasMore } = skillsAfter(skills, lastNumber, limit)
      const numbers = page.map(({ number }) => number)
      await countReturnedSkills(context, request, numbers)
      const nextCursor = hasMore ? writeCursor(vault, listName, numbers.at(-1)!) : null
      return sendJson(
        reply,
        listJson(
          'Skills',
          page.map((skill) => skillRecordJson(forCaller(request, skill))),
          nextCursor,
        ),
      )
    },
  )

  app.get(
    '/skills/search',
    {
      config: { ...readScope, limit: 'skillsSearch' },
      schema: {
        operationId: 'searchSkills',
        tags: ['Skills'],
        summary: 'Search skills by name',
        description:
          'Returns the best matches first. Also matches word prefixes, typos, reordered words and aliases. Each skill that this key has not received today counts towards the daily limit of different skills.',
        querystring: SearchQuery,
        response: { 200: success(listOf(SkillSearchResult)) },
      },
    },
    (request, reply) => {
      const { q, verifiable, limit, cursor } = request.query
      const { current } = context.catalogue
      const listName = verifiable === undefined ? `skills called ${q}` : `skills called ${q} ${verifiable}`
      const position = readCursor<SearchPosition>(vault, listName, cursor)
      const own = ownSkills.of(request.caller.orgId)
      const filter =
        verifiable === undefined
          ? undefined
          : (number: number) => (current.skill(number)!.verifiable || own.has(number)) === verifiable
      const { results, next: nextPosition } = searchPage(current, q, { limit, position, filter })
      const items = results.map(({ skill, score }) => scoredRecordJson(forCaller(request, skill), score))
      const next_cursor = nextPosition ? writeCursor(vault, listName, nextPosition) : null
      const body = listJson('Skills found', items, next_cursor)
      const numbers = results.map(({ skill }) => skill.number)
      const limitCheck = countReturnedSkills(context, request, numbers)
      if (!limitCheck) sendJson(reply, body)
      else
        limitCheck.then(
          () => sendJson(reply, body),
          (error) => reply.send(error),
        )
    },
  )

  app.get(
    '/skills/:skill_id',
    {
      config: { ...readScope, limit: 'skillsLookup' },
      schema: {
        operationId: 'getSkill',
        tags: ['Skills'],
        summary: 'Get a skill',
        params: SkillParams,
        response: { 200: success(SkillRecord) },
      },
    },
    async (request) => {
      const { params } = request
      const skill = (await context.catalogue.load({ ids: [params.skill_id] })).byId(params.skill_id)
      if (!skill) throw problem('NOT_FOUND', `Skill ${params.skill_id} not found.`)
      return { success: true as const, message: 'Skill', data: skillRecord(forCaller(request, skill)) }
    },
  )

  app.post(
    '/skills/lookup',
    {
      config: { ...readScope, limit: 'skillsLookup' },
      schema: {
        operationId: 'lookUpSkills',
        tags: ['Skills'],
        summary: 'Look up skills by ID or name',
        description:
          'Send either `skill_ids` or `names`. Names must be skill names, not aliases; case and white space are ignored. Repeated IDs or names are returned once.',
        body: LookupBody,
        response: { 200: success(LookupData) },
      },
    },
    async (request) => {
      const { skill_ids, names } = request.body
      if ((skill_ids === undefined) === (names === undefined)) {
        throw invalid([{ path: 'body', message: 'must have exactly one of skill_ids and names' }])
      }
      const loadedSkills = await context.catalogue.load({ ids: skill_ids ?? [], names: names ?? [] })
      const data = skill_ids
        ? lookUpSkills(skill_ids, (id) => loadedSkills.byId(id))
        : lookUpSkills(names!, (name) => loadedSkills.byName(name))
      const found = data.found.map((skill) => skillRecord(forCaller(request, skill)))
      return { success: true as const, message: 'Skills', data: { ...data, found } }
    },
  )

  app.post(
    '/skills/match',
    {
      config: { ...readScope, limit: 'skillsMatch' },
      schema: {
        operationId: 'matchSkills',
        tags: ['Skills'],
        summary: 'Match phrases to skills',
        description:
          'Returns the most likely skills for each phrase, best match first. A match with a score of 0.8 is correct about eight times in ten.',
        body: MatchBody,
        response: { 200: success(MatchData) },
      },
    },
    async ({ body }) => {
      const { phrases, limit = 3 } = body
      const { current } = context.catalogue
      const matches = []
      let startedAt = performance.now()
      for (const phrase of phrases) {
        // Matching fifty long phrases with typos is slow, so other requests are processed in between.
        if (performance.now() - startedAt > MAX_BLOCKING_TIME_MS) {
          await setImmediate()
          startedAt = performance.now()
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
      config: { ...readScope, limit: 'skillsMatch' },
      schema: {
        operationId: 'extractSkills',
        tags: ['Skills'],
        summary: 'Extract skills from a text',
        description: 'Returns the best matches first, each with its positions in the text.',
        body: ExtractBody,
        response: { 200: success(ExtractData) },
      },
    },
    async ({ body }) => {
      const { text, limit = 25 } = body
      const { current } = context.catalogue
      const extractedSkills = await current.index.extractInSlices(text, limit)
      const skills = extractedSkills.map(({ number, name, score, requirement, mentions }) => ({
        skill_id: skillId(number),
        name,
        score,
        requirement,
        mentions,
      }))
      return { success: true as const, message: 'Skills found in the text', data: { skills } }
    },
  )
}

/** Routes for requests to add skills that are missing in the catalogue. */
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
        summary: 'Request a skill',
        description:
          'Requests a skill that is missing from the catalogue. Returns 201 for a new request. Returns 200 if no new request is needed: either `duplicate` with the `skill_id` of the existing skill, or the request that is already open.',
        body: SkillRequestBody,
        response: { 200: success(SkillRequestRecord), 201: success(SkillRequestRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { request: skillRequest, created } = await requestSkill(tx, caller, clock, request.body)
        const isDuplicate = skillRequest.status === 'duplicate'
        const message = created ? 'Skill requested' : isDuplicate ? 'Skill already exists' : 'Skill already requested'
        return { status: created ? 201 : 200, body: { success: true, message, data: requestRecord(skillRequest) } }
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
        summary: 'List skill requests',
        description: 'The newest requests come first.',
        querystring: SkillRequestsQuery,
        response: { 200: success(listOf(SkillRequestRecord)) },
      },
    },
    async ({ caller, query }) => {
      const { status, limit, cursor } = query
      const listName = `skill requests ${caller.orgId} ${caller.mode} ${status ?? ''}`
      const lastRequestId = readCursor<string>(vault, listName, cursor)
      const requests = await listRequests(db.queries, caller, { status, after: lastRequestId, limit: limit + 1 })
      const items = requests.slice(0, limit).map(requestRecord)
      const next_cursor = requests.length > limit ? writeCursor(vault, listName, items.at(-1)!.request_id) : null
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
        summary: 'Get a skill request',
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

/** Looks up skills by ID or name. Returns each skill once, in the order of the request. */
function lookUpSkills(idsOrNames: string[], find: (idOrName: string) => SnapshotSkill | undefined) {
  const foundSkills = new Set<SnapshotSkill>()
  const missing = new Set<string>()
  for (const idOrName of idsOrNames) {
    const skill = find(idOrName)
    if (skill) foundSkills.add(skill)
    else missing.add(idOrName)
  }
  return { found: [...foundSkills], missing: [...missing] }
}

/** Returns the response body of a list whose items are already serialised. */
function listJson(message: string, items: SerialisedJson[], nextCursor: string | null): string | Buffer {
  const closingJson = `,"next_cursor":${nextCursor === null ? 'null' : `"${nextCursor}"`}}}`
  return joinJson(`{"success":true,"message":"${message}","data":{"items":`, items, closingJson)
}

/** Counts a page towards the hourly limit of browse pages. Throws if the limit is exceeded. */
async function countBrowsePage({ limits, clock }: Context, { caller }: FastifyRequest) {
  const error = await limits.limiter.recordPage(caller.keyId, caller.key.limits, clock.now())
  if (!error) return
  const { browsePagesPerHour, shared } = caller.key.limits
  throw limitProblem(
    error,
    error.shared
      ? `All keys of your organisation are in cooldown: together they may browse at most ${shared!.limits.browsePagesPerHour} pages (GET /skills) per hour. Try again in ${formatWait(error.retryAfter)}.`
      : `This key is in cooldown: it may browse at most ${browsePagesPerHour} pages (GET /skills) per hour. Try again in ${formatWait(error.retryAfter)}.`,
  )
}

/**
 * Counts the skills towards the daily limit. Throws if the limit is exceeded. Returns a promise only if the counts are not in
 * memory, because creating a promise for every search is slow.
 */
function countReturnedSkills(
  { limits, clock }: Context,
  { caller: { key, keyId } }: FastifyRequest,
  numbers: number[],
): undefined | Promise<void> {
  const error = limits.limiter.recordSkills(keyId, key.limits, numbers, clock.now())
  if (error instanceof Promise) return error.then((resolved) => throwIfDailyLimitExceeded(resolved, key.limits))
  return throwIfDailyLimitExceeded(error, key.limits)
}

function throwIfDailyLimitExceeded(error: LimitError | undefined, { skillsPerDay, shared }: KeyLimits): undefined {
  if (!error) return
  const allowance = error.shared
    ? `${shared!.limits.skillsPerDay} different skills per day to all keys of your organisation together`
    : `${skillsPerDay} different skills per day to this key`
  throw limitProblem(
    error,
    `Daily limit exceeded: search and browse return at most ${allowance}. Skills that were already returned today stay readable. Try again in ${formatWait(error.retryAfter)}, at midnight IST.`,
  )
}

function limitProblem({ code, retryAfter }: LimitError, message: string) {
  return problem(code, message, { retryAfter })
}
