import { invalid } from '../../api/invalid.ts'
import { changeBranding, getBranding } from '../../branding/branding.ts'
import { checkColour, isColour } from '../../branding/colour.ts'
import { BrandingBody, BrandingRecord, ColourCheckRecord, ColourQuery } from '../../branding/schema.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { successResponse } from '../schema.ts'

/** Routes for the name, logo, colour, reply address and footer on the pages and emails of an organisation. */
export function brandingRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const viewerConfig = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/branding',
    { config: viewerConfig, schema: { response: { 200: success(BrandingRecord) } } },
    async ({ orgAccess }) => successResponse('Branding', await getBranding(db.queries, orgAccess.orgId)),
  )

  app.put(
    '/orgs/:org/branding',
    { config: { role: 'owner' }, schema: { body: BrandingBody, response: { 200: success(BrandingRecord) } } },
    async (request) => {
      const { orgAccess, body } = request
      const branding = await db.transaction(async (tx) => {
        await changeBranding(tx, clock, orgAccess.orgId, body)
        const { logo, reply_to, ...fields } = body
        const changed = await getBranding(tx, orgAccess.orgId)
        await recordRequestAudit(tx, context, request, 'branding.change', orgAccess.orgId, {
          fields: Object.keys(body),
          ...fields,
          ...(logo === undefined ? {} : { logo: changed.logo?.url ?? null }),
        })
        return changed
      })
      return successResponse('Branding changed', branding)
    },
  )

  app.get(
    '/orgs/:org/branding/colour',
    { config: viewerConfig, schema: { querystring: ColourQuery, response: { 200: success(ColourCheckRecord) } } },
    async ({ query: { colour } }) => {
      if (!isColour(colour))
        throw invalid([{ path: 'colour', message: 'must be a colour in hexadecimal form, such as #1d5fbf' }])
      return successResponse('Contrast of the colour', checkColour(colour))
    },
  )
}
