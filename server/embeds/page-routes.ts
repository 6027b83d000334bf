import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { servicePausedProblem } from '../access/service-switch.ts'
import { problem } from '../api/problem.ts'
import { findBrand } from '../branding/branding.ts'
import { brandedParts } from '../branding/page-parts.ts'
import { pageBrand } from '../branding/schema.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import { readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { jsonBlock, type Pages } from '../web-assets/assets.ts'
import { findEmbedFrame, linkNotFoundProblem, openEmbedSession } from './embed-sessions.ts'
import { type EmbedSettings, embedResponse, OpenBody, OpenedEmbedPage } from './schema.ts'

/** High, because the visitors of a website can share the address of their network. */
const ADDRESS_RULE: Rule = { name: 'embed-address', kind: 'fixed', limit: 600, seconds: 60 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-embed-tokens', kind: 'fixed', limit: 60, seconds: 60 }
const MAX_BODY_BYTES = 4 * 1024

const EMBED_ID_PATTERN = /^EMB_[A-Z0-9]{26}$/

type Deps = Pick<Context, 'db' | 'clock' | 'limits' | 'config'>

/** Serves the page in the frame, which only the origin of its session may show, and the script that creates the frame. */
export function embedPageRoutes(app: App, { db, clock, limits, config }: Deps, pages: Pages): void {
  app.get('/embed.js', (request: FastifyRequest, reply: FastifyReply) =>
    pages.sendScript(request, reply, 'embed-script'),
  )

  // The token is in the fragment, which is not sent to the server.
  app.get('/embed/:embed_id', async (request: FastifyRequest, reply: FastifyReply) => {
    await limitAddress({ clock, limits }, request, ADDRESS_RULE)
    const { embed_id } = request.params as { embed_id: string }
    const frame = EMBED_ID_PATTERN.test(embed_id) ? await findEmbedFrame(db.queries, embed_id) : undefined
    if (!frame) throw linkNotFoundProblem()
    const { org_id, view, origin, language } = frame
    request.tenant.scope = { orgId: org_id, mode: frame.mode }
    const settings = { view, origin, language } as EmbedSettings
    const brand = await findBrand(db.queries, org_id)
    const { style, icon } = brandedParts(config, brand, { title: '', description: '' })
    return pages.send(request, reply, 'embed', {
      body: jsonBlock('embed', settings) + (brand ? jsonBlock('brand', pageBrand(brand)) : ''),
      style,
      ...(icon === undefined ? {} : { icon }),
      frameAncestor: origin,
    })
  })
}

/** The API with which the page in the frame is opened. */
export function embedRoutes(app: App, { db, clock, limits, keyring }: Context): void {
  app.setSerializerCompiler((() => JSON.stringify) as never)
  app.addHook('preParsing', async (request) => {
    if (request.is404) return
    await limitAddress({ clock, limits }, request, ADDRESS_RULE)
    request.rawBody = await readBody(request.raw, MAX_BODY_BYTES)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })

  app.post(
    '/embed/:embed_id/open',
    { schema: { body: OpenBody, response: { 200: embedResponse(OpenedEmbedPage) } } },
    async (request) => {
      const { embed_id } = request.params as { embed_id: string }
      try {
        if (!EMBED_ID_PATTERN.test(embed_id)) throw linkNotFoundProblem()
        await keyring.refreshIfStale()
        const opened = await db.transaction(async (tx) => {
          const page = await openEmbedSession(tx, clock, embed_id, request.body.token)
          // Thrown in the transaction, so that the URL can be opened when the service is on again.
          if (keyring.isServicePaused(page.orgId)) throw servicePausedProblem()
          return page
        })
        const { pageToken, expiresAt } = opened
        return { success: true as const, data: { pageToken, expiresAt: expiresAt.toISOString() } }
      } catch (error) {
        if ((error as { code?: string }).code === 'NOT_FOUND')
          await limitAddress({ clock, limits }, request, UNKNOWN_TOKEN_RULE)
        throw error
      }
    },
  )
}

async function limitAddress({ clock, limits }: Pick<Deps, 'clock' | 'limits'>, { ip }: FastifyRequest, rule: Rule) {
  const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(ip), [rule], clock.now())
  if (rejectedBy !== undefined)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
}
