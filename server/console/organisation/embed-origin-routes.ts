import type { Context } from '../../context.ts'
import { changeOrigins } from '../../embeds/allowed-origins.ts'
import { getOrigins } from '../../embeds/origins.ts'
import { EmbedOrigins, EmbedOriginsBody } from '../../embeds/schema.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { successResponse } from '../schema.ts'

/** Routes for the origins of the websites that may show pages of an organisation in a frame. */
export function embedOriginRoutes(app: App, context: Context): void {
  const { db, clock } = context

  app.get(
    '/orgs/:org/:mode/embed-origins',
    { config: { role: 'owner' }, schema: { response: { 200: success(EmbedOrigins) } } },
    async ({ caller }) => successResponse('Allowed origins', { origins: await getOrigins(db.queries, caller) }),
  )

  app.put(
    '/orgs/:org/:mode/embed-origins',
    {
      config: { role: 'owner', recentSignIn: true },
      schema: { body: EmbedOriginsBody, response: { 200: success(EmbedOrigins) } },
    },
    async (request) => {
      const { caller, body } = request
      const origins = await db.transaction(async (tx) => {
        const changed = await changeOrigins(tx, clock, caller, body.origins)
        await recordRequestAudit(tx, context, request, 'embed_origins.change', caller.orgId, { origins: changed })
        return changed
      })
      return successResponse('Allowed origins changed', { origins })
    },
  )
}
