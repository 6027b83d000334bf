import { runIdempotent } from '../access/idempotency.ts'
import { lockCandidateToShow } from '../campaigns/candidate-to-show.ts'
import type { Context } from '../context.ts'
import { createEmbedSession } from '../embeds/embed-sessions.ts'
import { embedSessionRecord } from '../embeds/record.ts'
import { EmbedSessionBody, EmbedSessionRecord } from '../embeds/schema.ts'
import { success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { getResult } from './results.ts'
import { ResultParams } from './schema.ts'

/** The route of the partner API with which a website shows the report about a candidate in a frame. */
export function resultEmbedRoutes(app: App, context: Context): void {
  app.post(
    '/results/:result_id/embed-sessions',
    {
      config: { scope: 'results:read', limit: 'reads', idempotent: 'optional', errors: ['CONFLICT'] },
      schema: {
        operationId: 'createReportEmbedSession',
        tags: ['Embedding'],
        summary: 'Create an embed session for the report of a result',
        description:
          'Returns the URL of a frame that shows the report on your website, without phone number and email address. Create it when a recruiter is signed in to your website and opens the page. The URL can be opened once, within five minutes; the opened page works for two hours. It ends when the origin is removed from the list, and when the person is erased.',
        params: ResultParams,
        body: EmbedSessionBody,
        response: { 201: success(EmbedSessionRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { candidate_id } = await getResult(tx, caller, request.params.result_id)
        const personId = await lockCandidateToShow(tx, caller, {
          candidateId: candidate_id,
          notFound: `Result ${request.params.result_id} not found.`,
        })
        const target = { view: 'report', targetId: candidate_id, personId } as const
        const session = await createEmbedSession(tx, context, caller, target, request.body)
        const body = { success: true, message: 'Embed session created', data: embedSessionRecord(session) }
        return { status: 201, body, secret: true }
      })
    },
  )
}
