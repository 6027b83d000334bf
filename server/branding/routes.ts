import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import type { App } from '../platform/http/server.ts'
import { findLogo } from './branding.ts'

/** High, because many phones share the address of their mobile network, and email providers fetch images for all their users. */
const ADDRESS_RULE: Rule = { name: 'brand-logos', kind: 'fixed', limit: 1200, seconds: 60 }

/**
 * Serves the logos of organisations. The address contains a hash of the logo, so that it can be cached for a long time. The address of an
 * earlier logo, for example in an email, leads to the current one.
 */
export function brandRoutes(app: App, { db, clock, limits }: Pick<Context, 'db' | 'clock' | 'limits'>): void {
  app.get('/brand/:org/logo/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(request.ip), [ADDRESS_RULE], clock.now())
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    const { org, file } = request.params as { org: string; file: string }
    const logo = /^ORG_[A-Z0-9]+$/.test(org) ? await findLogo(db.queries, org) : undefined
    if (!logo) throw problem('NOT_FOUND', 'Logo not found.')
    if (!logo.path.endsWith(`/${file}`)) return reply.header('cache-control', 'no-cache').redirect(logo.path)
    return reply
      .type(logo.type)
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "default-src 'none'; sandbox",
        'content-disposition': 'inline',
        'x-content-type-options': 'nosniff',
        // Email programs and previews of links show the logo on other origins.
        'cross-origin-resource-policy': 'cross-origin',
      })
      .send(logo.bytes)
  })
}
