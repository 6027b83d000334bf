import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Brand, findBrand } from '../branding/branding.ts'
import { brandedParts } from '../branding/page-parts.ts'
import { pageBrand } from '../branding/schema.ts'
import type { Context } from '../context.ts'
import type { Queries } from '../platform/database/database.ts'
import type { App } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { jsonBlock, type Pages } from '../web-assets/assets.ts'
import { toStorableId } from './routes.ts'

const REVIEW_PREVIEW = 'Confirm skills from work that you have seen. It takes about a minute.'
const SESSION_PREVIEW = 'Verify your skills.'

/** Serves the pages of reviewers and students, with the look of the organisation. They call the API like any other client. */
export function verificationPageRoutes(app: App, { db, config }: Pick<Context, 'db' | 'config'>, pages: Pages): void {
  app.get('/verify/:id', async (request: FastifyRequest, reply: FastifyReply) => {
    const { id } = request.params as { id: string }
    const dataUrl = escapeHtml(`/api/v1/humanverification/verify-page/${encodeURIComponent(id)}`)
    // Fetched in parallel with the script, which saves a round trip.
    const preloadLink = `<link rel="preload" as="fetch" href="${dataUrl}" crossorigin="anonymous">`
    const orgId = await findOrganisationId(db.queries, toStorableId(id))
    const brand = orgId === undefined ? undefined : await findBrand(db.queries, orgId)
    const { head, ...parts } = partsOf(brand, REVIEW_PREVIEW)
    return pages.send(request, reply, 'reviewer', { ...parts, head: preloadLink + head })
  })

  // The token is in the fragment, which is not sent to the server. A link with `?org=…` has the preview of the organisation.
  app.get('/session', async (request: FastifyRequest, reply: FastifyReply) => {
    const { org } = request.query as { org?: unknown }
    const brand = typeof org === 'string' ? await findBrand(db.queries, toStorableId(org)) : undefined
    return pages.send(request, reply, 'student', partsOf(brand, SESSION_PREVIEW))
  })

  function partsOf(brand: Brand | undefined, description: string) {
    const body = brand ? jsonBlock('brand', pageBrand(brand)) : ''
    return { ...brandedParts(config, brand, { title: brand?.name ?? '', description }), body }
  }
}

async function findOrganisationId(queries: Queries, verificationId: string): Promise<string | undefined> {
  const { rows } = await sql<{ org_id: string }>`
    select org_id from verification_sessions where verification_id = ${verificationId}`.execute(queries)
  return rows[0]?.org_id
}
