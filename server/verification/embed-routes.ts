import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Context } from '../context.ts'
import { createEmbedSession } from '../embeds/embed-sessions.ts'
import { Origin } from '../embeds/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { success, toStorableId } from './routes.ts'
import { IdParams, successResponse } from './schema.ts'
import {
  belongsTo,
  dataErasedProblem,
  findVerification,
  requireUnrestricted,
  sessionNotFoundProblem,
  verificationNotFoundProblem,
} from './sessions.ts'

const StudentEmbedInput = named(
  'StudentEmbedInput',
  Type.Object(
    {
      origin: Origin,
      language: Type.Optional(
        Type.Enum(['en', 'hi'], {
          description: 'Language in which the page starts; by default, that of the browser. The student can change it.',
          examples: ['hi'],
        }),
      ),
    },
    { additionalProperties: false },
  ),
)

const StudentEmbedSession = named(
  'StudentEmbedSession',
  Type.Object({
    embedId: Type.String({ description: 'ID of the embed session.', examples: ['EMB_01KK5Z6D00YB3V0T7Q2M8N4R6S'] }),
    view: Type.Literal('student', { description: 'The embedded page.' }),
    origin: Type.String({
      description: 'The only origin that can show the page in a frame.',
      examples: ['https://students.example.com'],
    }),
    url: Type.String({
      description:
        'Address of the frame. It contains a secret token in its fragment and can be opened once. Send it to the browser of the student who is signed in to your website, and do not store or log it.',
      examples: [
        'https://attestry.example.com/embed/EMB_01KK5Z6D00YB3V0T7Q2M8N4R6S#token=Zx3kQ0c1bV9sT7uW5yA2dF4gH6jK8lM0nP2qR4tV6xY',
      ],
    }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Time until which the URL can be opened: ISO 8601, UTC. The opened page works for two hours.',
      examples: ['2026-03-11T06:35:00.000Z'],
    }),
  }),
)

/** The route of the verification API with which a website shows the page of a student in a frame. */
export function studentEmbedRoutes(app: App, context: Context): void {
  const { db, clock } = context

  app.post(
    '/verification/:serviceVerificationId/embed-sessions',
    {
      config: { auth: 'key', errors: ['VERIFICATION_NOT_FOUND', 'SESSION_NOT_FOUND', 'DATA_ERASED'] },
      schema: {
        operationId: 'createStudentEmbedSession',
        tags: ['Sessions'],
        summary: "Create an embed session for a student's page",
        description:
          'Returns the URL of a frame in which the student verifies skills on your website. Create it when the student is signed in to your website and opens the page. Anyone who opens the URL acts as the student. The origin must be on the list of allowed origins. The URL can be opened once, within five minutes; the opened page works for two hours.',
        security: [{ key: [] }],
        params: IdParams,
        body: StudentEmbedInput,
        response: { 201: successResponse(StudentEmbedSession) },
      },
    },
    async (request, reply) => {
      validateRequest(request, request.routeOptions.config)
      const { sessionCaller, params, body } = request
      const created = await db.transaction(async (tx) => {
        const session = await findVerification(tx, clock, toStorableId(params.serviceVerificationId))
        if (!session || !belongsTo(session, sessionCaller.scope!)) throw verificationNotFoundProblem()
        // Locked, so that an erasure waits and then ends the new embed session, too.
        const { rows } = await sql`
          select 1 from people where person_id = ${session.personId} and erased_at is null for update`.execute(tx)
        if (rows.length === 0) throw dataErasedProblem()
        if (session.clock.now() >= session.expiresAt) throw sessionNotFoundProblem()
        await requireUnrestricted(tx, session)
        const target = { view: 'student', targetId: session.id, personId: session.personId } as const
        return createEmbedSession(tx, context, session.scope, target, body)
      })
      const { embedId, origin, url, expiresAt } = created
      const data = { embedId, view: 'student' as const, origin, url, expiresAt: expiresAt.toISOString() }
      return reply.status(201).send(success(data, 'Embed session created'))
    },
  )
}
