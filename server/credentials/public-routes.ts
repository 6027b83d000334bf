import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { describeLimit } from '../access/limits/messages.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatWait } from '../platform/clock.ts'
import type { App } from '../platform/http/server.ts'
import { findDidDocument, type Issuer, isOrganisationId, openSigningKey } from './issuers/issuers.ts'
import { findStatusList, isStatusListId } from './status-lists.ts'

/** A visitor of a credential's page loads the page, the DID document, the status list and a picture. */
const ADDRESS_RULE: Rule = { name: 'credential-address', kind: 'fixed', limit: 300, seconds: 60 }

/** Limits the requests of an IP address to the public routes of credentials. */
async function limitVisitor(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(request.ip), [ADDRESS_RULE], clock.now())
  if (rejectedBy === undefined) return
  reply.header('retry-after', retryAfter)
  throw problem(
    'RATE_LIMITED',
    `Too many requests from this IP address: the limit is ${describeLimit(ADDRESS_RULE)}. Try again in ${formatWait(retryAfter)}.`,
    { retryAfter },
  )
}

/** Sends a document that verifiers anywhere may read, also scripts of other sites. */
function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: { type: string; body: string; etag?: string },
): FastifyReply {
  reply.header('access-control-allow-origin', '*')
  // Always asked for again: a revocation is visible at once.
  reply.header('cache-control', 'no-cache')
  if (document.etag !== undefined) {
    reply.header('etag', document.etag)
    if (request.headers['if-none-match'] === document.etag) return reply.status(304).send()
  }
  return reply.type(document.type).send(document.body)
}

/** Serves DID documents and status lists, which verifiers fetch. */
export function issuerRoutes(app: App, context: Context): void {
  const { db, config, clock } = context

  for (const [path, issuer] of [
    ['/.well-known/did.json', 'deployment'],
    ['/test/did.json', 'deployment_test'],
  ] as const)
    app.get(path, async (request, reply) => {
      await limitVisitor(context, request, reply)
      const document = await findDidDocument(db.queries, config, issuer)
      if (document) return sendDidDocument(request, reply, document)
      await db.transaction((tx) => openSigningKey(tx, config, clock, issuer)) // creates the first key
      return sendDidDocument(request, reply, (await findDidDocument(db.queries, config, issuer))!)
    })

  for (const mode of ['live', 'test'] as const)
    app.get(
      `/organisations/:org_id${mode === 'test' ? '/test' : ''}/did.json`,
      async (request: FastifyRequest, reply: FastifyReply) => {
        await limitVisitor(context, request, reply)
        const { org_id: orgId } = request.params as { org_id: string }
        const issuer: Issuer = { orgId, mode }
        const document = isOrganisationId(orgId) ? await findDidDocument(db.queries, config, issuer) : undefined
        if (!document)
          throw problem('NOT_FOUND', `There is no issuer of ${mode === 'test' ? 'TEST ' : ''}credentials with this ID.`)
        return sendDidDocument(request, reply, document)
      },
    )

  app.get('/credentials/status/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    await limitVisitor(context, request, reply)
    const { file } = request.params as { file: string }
    const listId = file.replace(/\.jwt$/, '')
    const list = isStatusListId(listId) ? await findStatusList(context, listId) : undefined
    if (!list) throw problem('NOT_FOUND', 'There is no status list with this ID.')
    const isJwt = file !== listId || acceptsJwt(request)
    reply.header('vary', 'accept')
    return sendDocument(request, reply, {
      type: isJwt ? 'application/vc+jwt' : 'application/vc; charset=utf-8',
      body: isJwt ? list.jwt : list.credential,
      etag: `"${list.version}-${isJwt ? 'jwt' : 'json'}"`,
    })
  })
}

function acceptsJwt({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').split(',').some((part) => part.trim().startsWith('application/vc+jwt'))
}

function sendDidDocument(request: FastifyRequest, reply: FastifyReply, document: object): FastifyReply {
  return sendDocument(request, reply, { type: 'application/did+json; charset=utf-8', body: JSON.stringify(document) })
}
