import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { named } from '../platform/http/named-schemas.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { acceptedLanguage } from '../platform/text/languages.ts'
import { guardianStates, readGuardianState } from './guardian-consents.ts'
import { askGuardian, confirmGuardian, stateAge } from './guardians.ts'
import { success } from './routes.ts'
import { Age, successResponse, TokenParams } from './schema.ts'
import { atSessionTime, getSession, lockSession } from './sessions.ts'

const AgeInput = named('AgeInput', Type.Object({ age: Age }))
const GuardianInput = named(
  'GuardianInput',
  Type.Object({
    name: Type.String({ maxLength: 200, pattern: NOT_BLANK_PATTERN }),
    email: Type.String({ maxLength: 254 }),
  }),
)
const GuardianCode = named('GuardianCode', Type.Object({ code: Type.String({ maxLength: 20 }) }))
const GuardianConsent = named(
  'GuardianConsent',
  Type.Object({
    guardianConsent: Type.Enum([...guardianStates], {
      description:
        '`not_required`; `age_required`: the student must state the age first; `required`: a guardian must be asked; `pending`: the guardian has received a code; `given`: the guardian has agreed.',
    }),
  }),
)

/** Routes for students below 18, whose guardian must agree if the organisation requires it. */
export function guardianRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Guardians']
  const response = { 200: successResponse(GuardianConsent) }

  app.post(
    '/verify/:sessionToken/age',
    {
      config: { auth: 'path', errors: ['SESSION_LOCKED'] },
      schema: {
        operationId: 'stateAge',
        tags,
        summary: 'State the age of the student',
        description:
          'Only whether the student is below 18 is stored. If the organisation requires it, a student below 18 needs the consent of a guardian before the next step.',
        params: TokenParams,
        body: AgeInput,
        response,
      },
    },
    async (request) => {
      const { sessionCaller, routeOptions } = request
      const state = await db.transaction(async (tx) => {
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope, { allowsMinor: true })
        validateRequest(request, routeOptions.config)
        return readGuardianState(tx, await stateAge(tx, session, request.body.age))
      })
      return success({ guardianConsent: state }, 'Age stored')
    },
  )

  app.post(
    '/verify/:sessionToken/guardian',
    {
      config: { auth: 'path' },
      schema: {
        operationId: 'askGuardian',
        tags,
        summary: 'Ask the guardian for consent',
        description: 'Emails the guardian a code. A guardian who agrees gives the code to the student.',
        params: TokenParams,
        body: GuardianInput,
        response,
      },
    },
    async (request) => {
      const { sessionCaller, headers, routeOptions } = request
      const state = await db.transaction(async (tx) => {
        const session = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope, { allowsMinor: true })
        validateRequest(request, routeOptions.config)
        const language = acceptedLanguage(headers['accept-language'])
        await askGuardian(tx, atSessionTime(context, session), session, { ...request.body, language })
        return readGuardianState(tx, session)
      })
      return success({ guardianConsent: state }, 'Guardian asked')
    },
  )

  app.post(
    '/verify/:sessionToken/guardian/confirm',
    {
      config: { auth: 'path', errors: ['FORBIDDEN'] },
      schema: {
        operationId: 'confirmGuardian',
        tags,
        summary: 'Confirm the consent of the guardian',
        description: 'Send the code that the guardian received. The session then continues.',
        params: TokenParams,
        body: GuardianCode,
        response,
      },
    },
    async (request) => {
      const { sessionCaller, routeOptions } = request
      const session = await getSession(db.queries, clock, sessionCaller.token!, sessionCaller.scope)
      validateRequest(request, routeOptions.config)
      await confirmGuardian(db, atSessionTime(context, session), session, request.body.code)
      return success({ guardianConsent: await readGuardianState(db.queries, session) }, 'Guardian has agreed')
    },
  )
}
