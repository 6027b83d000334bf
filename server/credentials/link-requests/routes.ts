import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { describeLimit } from '../../access/limits/messages.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatWait } from '../../platform/clock.ts'
import { readBody } from '../../platform/http/body.ts'
import { parseJson } from '../../platform/http/json.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { acceptedLanguage } from '../../platform/text/languages.ts'
import { isEmail } from '../../verification/fields.ts'
import { languageParameter } from '../pages/texts.ts'
import { LinkRequestBody } from '../schema.ts'
import { requestHolderLinks } from './link-requests.ts'

const MAX_BODY_BYTES = 2048
const ADDRESS_RULE: Rule = { name: 'link-requests', kind: 'fixed', limit: 10, seconds: 600 }
/** Protects a mailbox from a flood of emails. */
const MAILBOX_RULE: Rule = { name: 'link-requests-of-mailbox', kind: 'fixed', limit: 3, seconds: 3600 }

/** The public route with which a person who lost the link to their credentials asks for a new one. */
export function linkRequestRoutes(app: App, context: Context): void {
  const { db, clock, limits, mailboxes } = context
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await limitVisitor(request, reply)
    request.rawBody = await readBody(request.raw, MAX_BODY_BYTES)
  })

  app.post(
    '/credentials/links',
    { schema: { body: LinkRequestBody } },
    async (request: FastifyRequest, reply: FastifyReply) => {
      request.body = parseJson(request.rawBody)
      validateRequest(request, request.routeOptions.config)
      const body = request.body as LinkRequestBody
      const email = body.email.trim()
      if (!isEmail(email))
        throw invalid([{ path: 'email', message: 'must be an email address, such as asha@example.com' }])
      const language = languageParameter(body.language) ?? acceptedLanguage(request.headers['accept-language'])
      const mailbox = mailboxes.hash(email).toString('base64url')
      const { rejectedBy } = await limits.limiter.take(mailbox, [MAILBOX_RULE], clock.now())
      // The same response for every address: it must not show whether the address has credentials.
      if (rejectedBy === undefined) await db.transaction((tx) => requestHolderLinks(tx, context, { email, language }))
      return reply.status(202).header('cache-control', 'no-store').send({ success: true, data: {} })
    },
  )

  async function limitVisitor(request: FastifyRequest, reply: FastifyReply) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(request.ip), [ADDRESS_RULE], clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    const message = `Too many requests: the limit is ${describeLimit(ADDRESS_RULE)}. Try again in ${formatWait(retryAfter)}.`
    throw problem('RATE_LIMITED', message, { retryAfter })
  }
}
