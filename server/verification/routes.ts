import type { FastifyRequest } from 'fastify'
import { invalid } from '../api/invalid.ts'
import { type Detail, Problem, problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { notifyAfterCommit, type Tx } from '../platform/database/database.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { TEST_CLOCK_DUE } from '../test-clocks/test-clocks.ts'
import { NOT_ASSESSABLE_REASON } from './assessments/assessable-skills.ts'
import { originOf, recordOrigin } from './endorsements/origins.ts'
import { fieldOf, isMissing, requireField } from './fields.ts'
import { itemRecords } from './items.ts'
import { REVIEW_REQUEST_ERRORS } from './reviews/review-requests.ts'
import {
  FullSession,
  IdParams,
  ItemsInput,
  MethodInput,
  methods,
  OpenedSession,
  SearchQuery,
  SessionEmail,
  SessionInput,
  SkillSuggestions,
  SkillsInput,
  StoredItems,
  StoredMethod,
  StoredSkills,
  successResponse,
  TokenParams,
  Verification,
} from './schema.ts'
import { type BatchedStep, batchOpenings, batchSteps } from './session-batches.ts'
import { studentEmailErrors } from './session-input.ts'
import { readFullSession, readNotAssessable, readVerification } from './session-responses.ts'
import {
  atSessionTime,
  belongsTo,
  findVerification,
  getSession,
  lockSession,
  openSession,
  type Session,
  skillRecord,
  verificationNotFoundProblem,
} from './sessions.ts'
import { chooseMethod, itemsChange, methodChange, skillsChange, storeItems, storeSkills } from './steps.ts'
import { skillIdsOf } from './test-scripts/script-rules.ts'
import { TEST_STUDENT_DUE } from './test-scripts/test-students.ts'

/** Routes that open and read sessions. */
export function sessionRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const openInBatch = batchOpenings(context)
  const tags = ['Sessions']

  app.post(
    '/verify',
    {
      config: { auth: 'key' },
      schema: {
        operationId: 'openSession',
        tags,
        summary: 'Open a session',
        description:
          'Requires at least one project, work experience or certificate to verify skills against. The response contains the session token, which is not returned again; send the student’s browser to `/session#token=…`. The session expires 24 hours after its last step. In TEST mode, the students pass@test.attestry.example, fail@test.attestry.example and inconclusive@test.attestry.example get questions whose right option is first; other addresses of this domain, and all of them in LIVE mode, are rejected. With `testScript`, the student and the reviewer act automatically.',
        security: [{ key: [] }],
        body: SessionInput,
        response: { 201: successResponse(OpenedSession) },
      },
    },
    async (request, reply) => {
      const { body: input, sessionCaller } = request
      try {
        validateRequest(request, request.routeOptions.config)
      } catch (error) {
        throw withEmailErrors(error, studentEmailErrors(fieldOf(input, 'email'), sessionCaller.scope!.mode))
      }
      const { body } = request
      const { testClockId, testScript } = body
      const loaded = testScript && (await context.catalogue.load({ ids: skillIdsOf(testScript) }))
      const data =
        (await openInBatch(sessionCaller.scope!, body, request.rawBody.length)) ??
        (await db.transaction(async (tx) => {
          const opened = await openSession(tx, sessionCaller.scope!, clock, body, loaded)
          if (testScript?.student) notifyAfterCommit(tx, testClockId === undefined ? TEST_STUDENT_DUE : TEST_CLOCK_DUE)
          return opened
        }))
      return reply.status(201).send({ success: true, data, message: 'Session opened' })
    },
  )

  app.get(
    '/verify/:sessionToken',
    {
      config: { auth: 'path' },
      schema: {
        operationId: 'getSession',
        tags,
        summary: 'Get a session',
        description:
          'Returns the session of the token in the path, with everything that the student has chosen so far.',
        params: TokenParams,
        response: { 200: successResponse(FullSession) },
      },
    },
    async ({ sessionCaller }) => {
      const session = await getSession(db.queries, clock, sessionCaller.token!, sessionCaller.scope)
      return success(await readFullSession(db.queries, context, session), 'Session')
    },
  )

  app.get(
    '/verification/:serviceVerificationId',
    {
      config: { auth: 'key', errors: ['VERIFICATION_NOT_FOUND'] },
      schema: {
        operationId: 'getVerification',
        tags,
        summary: 'Get a verification',
        description:
          'Returns the status of the verification and the outcome of each skill, also after the session has ended.',
        security: [{ key: [] }],
        params: IdParams,
        response: { 200: successResponse(Verification) },
      },
    },
    async ({ sessionCaller, params }) => {
      const session = await findVerification(db.queries, clock, toStorableId(params.serviceVerificationId))
      if (!session || !belongsTo(session, sessionCaller.scope!)) throw verificationNotFoundProblem()
      return success(await readVerification(db.queries, session), 'Verification')
    },
  )

  app.get(
    '/step3/store-verification-items/:sessionToken/email',
    {
      config: { auth: 'none', errors: ['SESSION_NOT_FOUND', 'DATA_ERASED'] },
      schema: {
        operationId: 'getSessionEmail',
        tags,
        summary: "Get the student's name and email address",
        description: 'Requires no session key.',
        params: TokenParams,
        response: { 200: SessionEmail },
      },
    },
    async ({ params }) => {
      const { student, userId } = await getSession(db.queries, clock, params.sessionToken, undefined)
      return { success: true as const, email: student.email, name: student.name, serviceUserId: userId }
    },
  )

  app.get(
    '/skills/search',
    {
      config: { auth: 'header' },
      schema: {
        operationId: 'searchSkills',
        tags,
        summary: 'Search skills',
        description:
          'Returns the skills that match a part of a name, the best match first, for a search field that suggests skills.',
        security: [{ session: [] }],
        querystring: SearchQuery,
        response: { 200: successResponse(SkillSuggestions) },
      },
    },
    async (request) => {
      const { sessionCaller } = request
      await getSession(db.queries, clock, sessionCaller.token!, sessionCaller.scope)
      validateRequest(request, request.routeOptions.config)
      const { current } = context.catalogue
      const searchResults = current.index.search(request.query.q, { offset: 0, limit: request.query.limit })
      const skills = searchResults.skills.map(({ number }) => {
        const { name, sub, verifiable } = current.skill(number)!
        return { skillId: skillId(number), name, subSkill: sub.name, masterSkill: sub.master.name, verifiable }
      })
      return success({ skills }, 'Skills')
    },
  )
}

/** Adds the errors of the email address, which other rules check, to schema errors, so that one response lists them all. */
function withEmailErrors(error: unknown, emailErrors: Detail[]): unknown {
  if (!(error instanceof Problem) || error.code !== 'VALIDATION_FAILED') return error
  if (emailErrors.length === 0 || error.details.some(({ path }) => path === 'email')) return error
  return invalid([...error.details, ...emailErrors])
}

/** Routes of the three steps of a session. */
export function stepRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const runBatched = batchSteps(context)
  const tags = ['Steps']
  const security: Record<string, string[]>[] = [{ session: [] }, { key: [], session: [] }]

  app.post(
    '/step1/storeskills/store',
    {
      config: { auth: 'body', errors: [...REVIEW_REQUEST_ERRORS, 'NO_SKILLS', 'INVALID_SKILL', 'SESSION_LOCKED'] },
      schema: {
        operationId: 'storeSkills',
        tags,
        summary: 'Store the skills to verify (step 1)',
        description: 'Requires 1 to 10 different skills of the catalogue. Replaces the skills that were stored before.',
        body: SkillsInput,
        response: { 200: successResponse(StoredSkills) },
      },
    },
    async (request) => {
      const { sessionCaller, body, routeOptions } = request
      const skills = fieldOf(body, 'skills')
      if (skills === undefined || skills === null || (Array.isArray(skills) && skills.length === 0)) {
        throw problem('NO_SKILLS', 'skills: at least one skill is required.')
      }
      validateRequest(request, routeOptions.config)
      const loaded = await context.catalogue.load({ ids: body.skills.map(({ skillId: id }) => id) })
      const session =
        (await runInBatch(request, (current) => skillsChange(current, body, loaded))) ??
        (await db.transaction(async (tx) => {
          const current = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
          if (!sessionCaller.scope) await recordOrigin(tx, context, current, 'student', request)
          return storeSkills(tx, atSessionTime(context, current), current, body, loaded)
        }))
      const { id, endorsementType } = session
      return success(
        { serviceVerificationId: id, skills: session.skills.map(skillRecord), endorsementType },
        'Skills stored',
      )
    },
  )

  app.post(
    '/step2/verification-method',
    {
      config: {
        auth: 'header',
        errors: [
          ...REVIEW_REQUEST_ERRORS,
          'MISSING_VERIFICATION_ID',
          'MISSING_VERIFICATION_METHOD',
          'INVALID_VERIFICATION_METHOD',
          'VERIFICATION_NOT_FOUND',
          'SESSION_LOCKED',
        ],
      },
      schema: {
        operationId: 'chooseMethod',
        tags,
        summary: 'Choose the verification method (step 2)',
        description:
          'With the method `assessment`, `notAssessable` lists the chosen skills that cannot be assessed, because there are too few questions about them. If none of the skills can be assessed, the method is rejected with `INVALID_VERIFICATION_METHOD`.',
        security,
        body: MethodInput,
        response: { 200: successResponse(StoredMethod) },
      },
    },
    async (request) => {
      const { sessionCaller, body, routeOptions } = request
      const validate = () => {
        requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
        requireField(body, 'verificationMethod', 'MISSING_VERIFICATION_METHOD')
        if (!methods.includes(body.verificationMethod)) {
          throw problem('INVALID_VERIFICATION_METHOD', 'verificationMethod must be human or assessment.')
        }
        validateRequest(request, routeOptions.config)
      }
      const batchedSession =
        body?.verificationMethod === 'human'
          ? await runInBatch(request, (current) => {
              validate()
              return methodChange(current, body)
            })
          : undefined
      const chooseInTransaction = async (tx: Tx) => {
        const current = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        validate()
        if (!sessionCaller.scope) await recordOrigin(tx, context, current, 'student', request)
        const changed = await chooseMethod(tx, atSessionTime(context, current), current, body)
        const { notAssessable } = await readNotAssessable(tx, context, changed)
        if (changed.status === 'open' && notAssessable?.length && notAssessable.length === changed.skills.length)
          throw problem(
            'INVALID_VERIFICATION_METHOD',
            `None of the chosen skills can be assessed: for each, ${NOT_ASSESSABLE_REASON}. Choose the method human, or other skills.`,
          )
        return { session: changed, notAssessable }
      }
      const { session, notAssessable } = batchedSession
        ? { session: batchedSession, notAssessable: undefined }
        : await db.transaction(chooseInTransaction)
      return success(
        {
          serviceVerificationId: session.id,
          verificationMethod: session.method!,
          ...(notAssessable ? { notAssessable } : {}),
        },
        'Method stored',
      )
    },
  )

  app.post(
    '/step3/store-verification-items/store',
    {
      config: {
        auth: 'body',
        errors: [
          ...REVIEW_REQUEST_ERRORS,
          'NO_ITEMS_SELECTED',
          'UNKNOWN_ITEM',
          'VERIFICATION_METHOD_NOT_SET',
          'SESSION_LOCKED',
          'ASSESSMENT_ALREADY_PASSED',
        ],
      },
      schema: {
        operationId: 'storeItems',
        tags,
        summary: 'Store the items to verify against (step 3)',
        description:
          'Items are projects, work experience and certificates. Send the external IDs from `POST /verify`. Items that an earlier request stored and that this request omits are removed. If skills and a reviewer are already stored, the reviewer receives an email with a link.',
        body: ItemsInput,
        response: { 200: successResponse(StoredItems) },
      },
    },
    async (request) => {
      const { sessionCaller, body, routeOptions } = request
      if (itemListFields.every((name) => isEmptyList(fieldOf(body, name)))) {
        throw problem('NO_ITEMS_SELECTED', 'Select at least one project, work experience or certificate.')
      }
      validateRequest(request, routeOptions.config)
      const session =
        (await runInBatch(request, (current, { hasRelatedSessions }) =>
          current.method === 'human' && !hasRelatedSessions ? itemsChange(current, body) : undefined,
        )) ??
        (await db.transaction(async (tx) => {
          const current = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
          if (!sessionCaller.scope) await recordOrigin(tx, context, current, 'student', request)
          return storeItems(tx, atSessionTime(context, current), current, body)
        }))
      const selectedItems = itemRecords(session.userId, session.items, session.sources)
      return success(
        { serviceVerificationId: session.id, serviceUserId: session.userId, stored: selectedItems },
        'Verification items stored',
      )
    },
  )

  /** Runs a step together with concurrent steps. Returns undefined if the step needs a transaction of its own. */
  function runInBatch(request: FastifyRequest, change: BatchedStep['change']): Promise<Session | undefined> {
    const { token, scope } = request.sessionCaller
    const origin = scope ? undefined : originOf(context, request)
    return runBatched({ token: token!, scope, origin, change })
  }
}

const itemListFields = ['projectIds', 'workExperienceIds', 'credentialIds']

function isEmptyList(value: unknown): boolean {
  return isMissing(value) || (Array.isArray(value) && value.length === 0)
}

/** Replaces an ID that contains a NUL character, which PostgreSQL rejects, with one that matches nothing. */
export function toStorableId(id: string): string {
  return id.includes('\0') ? '' : id
}

export function success<T>(data: T, message: string) {
  return { success: true as const, data, message }
}
