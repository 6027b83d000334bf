import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import type { Context } from '../context.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { fieldOf, isMissing, requireField } from './fields.ts'
import { storedItems } from './items.ts'
import {
  answerOf,
  FoundSkills,
  FullSession,
  IdParams,
  ItemsInput,
  MethodInput,
  methods,
  OpenedSession,
  SearchQuery,
  SessionEmail,
  SessionInput,
  SkillsInput,
  StoredItems,
  StoredMethod,
  StoredSkills,
  TokenParams,
  Verification,
} from './schema.ts'
import { readFullSession, readVerification } from './session-responses.ts'
import {
  belongsTo,
  findVerification,
  getSession,
  lockSession,
  openSession,
  skillAnswer,
  verificationNotFound,
} from './sessions.ts'
import { chooseMethod, storeItems, storeSkills } from './steps.ts'

/** Opening and reading sessions. */
export function sessionRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Sessions']

  app.post(
    '/verify',
    {
      config: { entry: 'key' },
      schema: {
        operationId: 'openSession',
        tags,
        summary: 'Open a session for a student',
        description:
          'With at least one project, work experience or certificate to verify skills against. The token in the answer is shown this once; hand it to the student’s browser as `/session#token=…`. The session lives 24 hours from its last step.',
        security: [{ key: [] }],
        body: SessionInput,
        response: { 201: answerOf(OpenedSession) },
      },
    },
    async (request, reply) => {
      validateRequest(request, request.routeOptions.config)
      const data = await openSession(db.queries, request.guest.scope!, clock, request.body)
      return reply.status(201).send({ success: true, data, message: 'Session opened' })
    },
  )

  app.get(
    '/verify/:sessionToken',
    {
      config: { entry: 'path' },
      schema: {
        operationId: 'getSession',
        tags,
        summary: 'The full session',
        params: TokenParams,
        response: { 200: answerOf(FullSession) },
      },
    },
    async ({ guest }) => {
      const now = clock.now()
      const session = await getSession(db.queries, guest.token!, guest.scope, now)
      return success(await readFullSession(db.queries, session, now), 'Session')
    },
  )

  app.get(
    '/verification/:serviceVerificationId',
    {
      config: { entry: 'key' },
      schema: {
        operationId: 'getVerification',
        tags,
        summary: 'State and outcomes of a verification, also after its session ended',
        security: [{ key: [] }],
        params: IdParams,
        response: { 200: answerOf(Verification) },
      },
    },
    async ({ guest, params }) => {
      const session = await findVerification(db.queries, storable(params.serviceVerificationId))
      if (!session || !belongsTo(session, guest.scope!)) throw verificationNotFound()
      return success(await readVerification(db.queries, session, clock.now()), 'Verification')
    },
  )

  app.get(
    '/step3/store-verification-items/:sessionToken/email',
    {
      config: { entry: 'nobody' },
      schema: {
        operationId: 'getSessionEmail',
        tags,
        summary: "The student's name and address, without a key",
        params: TokenParams,
        response: { 200: SessionEmail },
      },
    },
    async ({ params }) => {
      const { student, userId } = await getSession(db.queries, params.sessionToken, undefined, clock.now())
      return { success: true as const, email: student.email, name: student.name, serviceUserId: userId }
    },
  )

  app.get(
    '/skills/search',
    {
      config: { entry: 'header' },
      schema: {
        operationId: 'searchSkills',
        tags,
        summary: 'Search the catalogue as the student types',
        security: [{ session: [] }],
        querystring: SearchQuery,
        response: { 200: answerOf(FoundSkills) },
      },
    },
    async (request) => {
      const { guest } = request
      await getSession(db.queries, guest.token!, guest.scope, clock.now())
      validateRequest(request, request.routeOptions.config)
      const { current } = context.catalogue
      const found = current.index.search(request.query.q, { offset: 0, limit: request.query.limit })
      const skills = found.skills.map(({ number }) => {
        const { name, sub, verifiable } = current.skill(number)!
        return { skillId: skillId(number), name, subSkill: sub.name, masterSkill: sub.master.name, verifiable }
      })
      return success({ skills }, 'Skills')
    },
  )
}

/** The three steps that a session is built in. */
export function stepRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Steps']
  const security: Record<string, string[]>[] = [{ session: [] }, { key: [], session: [] }]

  app.post(
    '/step1/storeskills/store',
    {
      config: { entry: 'body' },
      schema: {
        operationId: 'storeSkills',
        tags,
        summary: 'Step 1: the skills to verify',
        description: '1 to 10 different skills of the catalogue. What was stored before is replaced.',
        body: SkillsInput,
        response: { 200: answerOf(StoredSkills) },
      },
    },
    async (request) => {
      const { guest, body, routeOptions } = request
      const skills = fieldOf(body, 'skills')
      if (skills === undefined || skills === null || (Array.isArray(skills) && skills.length === 0)) {
        throw problem('NO_SKILLS', 'skills: at least one is required.')
      }
      validateRequest(request, routeOptions.config)
      const session = await db.transaction(async (tx) => {
        const current = await lockSession(tx, guest.token!, guest.scope, clock.now())
        return storeSkills(tx, context, current, body)
      })
      const { id, endorsementType } = session
      return success(
        { serviceVerificationId: id, skills: session.skills.map(skillAnswer), endorsementType },
        'Skills stored',
      )
    },
  )

  app.post(
    '/step2/verification-method',
    {
      config: { entry: 'header' },
      schema: {
        operationId: 'chooseMethod',
        tags,
        summary: 'Step 2: by a person or by an assessment',
        security,
        body: MethodInput,
        response: { 200: answerOf(StoredMethod) },
      },
    },
    async (request) => {
      const { guest, body, routeOptions } = request
      const session = await db.transaction(async (tx) => {
        const current = await lockSession(tx, guest.token!, guest.scope, clock.now())
        requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
        requireField(body, 'verificationMethod', 'MISSING_VERIFICATION_METHOD')
        if (!methods.includes(body.verificationMethod)) {
          throw problem('INVALID_VERIFICATION_METHOD', 'verificationMethod must be human or assessment.')
        }
        validateRequest(request, routeOptions.config)
        return chooseMethod(tx, context, current, body)
      })
      return success({ serviceVerificationId: session.id, verificationMethod: session.method! }, 'Method stored')
    },
  )

  app.post(
    '/step3/store-verification-items/store',
    {
      config: { entry: 'body' },
      schema: {
        operationId: 'storeItems',
        tags,
        summary: 'Step 3: the projects, experience and certificates to verify against',
        description:
          'Ids are the external ones that were given to `POST /verify`. Items that were stored earlier and are not in this call are dropped. Where a reviewer is stored already, the mail goes out.',
        body: ItemsInput,
        response: { 200: answerOf(StoredItems) },
      },
    },
    async (request) => {
      const { guest, body, routeOptions } = request
      if (itemLists.every((name) => isEmptyList(fieldOf(body, name)))) {
        throw problem('NO_ITEMS_SELECTED', 'Select at least one project, work experience or certificate.')
      }
      validateRequest(request, routeOptions.config)
      const session = await db.transaction(async (tx) => {
        const current = await lockSession(tx, guest.token!, guest.scope, clock.now())
        return storeItems(tx, context, current, body)
      })
      const stored = storedItems(session.userId, session.items, session.sources)
      return success(
        { serviceVerificationId: session.id, serviceUserId: session.userId, stored },
        'Verification items stored',
      )
    },
  )
}

const itemLists = ['projectIds', 'workExperienceIds', 'credentialIds']

function isEmptyList(value: unknown): boolean {
  return isMissing(value) || (Array.isArray(value) && value.length === 0)
}

/** An id with a NUL names nothing, and the database would not take it. */
export function storable(id: string): string {
  return id.includes('\0') ? '' : id
}

export function success<T>(data: T, message: string) {
  return { success: true as const, data, message }
}
