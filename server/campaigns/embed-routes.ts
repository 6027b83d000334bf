import { sql } from 'kysely'
import { runIdempotent } from '../access/idempotency.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { createEmbedSession } from '../embeds/embed-sessions.ts'
import { embedSessionRecord } from '../embeds/record.ts'
import { EmbedSessionBody, EmbedSessionRecord } from '../embeds/schema.ts'
import { success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { type CampaignOfLink, hasLinkExpired } from './candidate-page/link-expiry.ts'
import { lockCandidateToShow } from './candidate-to-show.ts'
import { CandidateParams } from './schema.ts'

/** The route of the partner API with which a website shows the conversation of a candidate in a frame. */
export function candidateEmbedRoutes(app: App, context: Context): void {
  app.post(
    '/campaigns/:campaign_id/candidates/:candidate_id/embed-sessions',
    {
      config: {
        scope: 'campaigns:write',
        // The opened page shows the answers that the candidate has given.
        furtherScope: 'results:read',
        limit: 'campaignWrites',
        idempotent: 'optional',
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'createCandidateEmbedSession',
        tags: ['Embedding'],
        summary: "Create an embed session for a candidate's conversation",
        description:
          'Returns the URL of a frame in which the candidate answers on your website. Create it when the candidate is signed in to your website and opens the page. Anyone who opens the URL answers as the candidate. The URL can be opened once, within five minutes; the opened page works for two hours. It ends when the link of the candidate is revoked, when the origin is removed from the list, and when the person is erased.',
        params: CandidateParams,
        body: EmbedSessionBody,
        response: { 201: success(EmbedSessionRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { campaign_id, candidate_id } = request.params
        const personId = await lockCandidateToShow(tx, caller, {
          campaignId: campaign_id,
          candidateId: candidate_id,
          notFound: `Candidate ${candidate_id} not found in campaign ${campaign_id}.`,
        })
        const { rows } = await sql<CampaignOfLink>`
          select org_id, hold, completed_at, test_clock_id from campaigns where campaign_id = ${campaign_id}`.execute(
          tx,
        )
        if (await hasLinkExpired(tx, context.clock, rows[0]!))
          throw problem('CONFLICT', 'The campaign has ended, so the page of this candidate can no longer be shown.')
        const target = { view: 'candidate', targetId: candidate_id, personId } as const
        const session = await createEmbedSession(tx, context, caller, target, request.body)
        const body = { success: true, message: 'Embed session created', data: embedSessionRecord(session) }
        return { status: 201, body, secret: true }
      })
    },
  )
}
