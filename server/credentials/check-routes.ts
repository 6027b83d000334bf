import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { describeLimit } from '../access/limits/messages.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { PHONE_FORMAT_MESSAGE, PHONE_PATTERN } from '../campaigns/phone-number.ts'
import type { Context } from '../context.ts'
import { formatWait } from '../platform/clock.ts'
import { readRawBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { findExcess } from '../platform/http/json-limits.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../platform/json.ts'
import { type Contact, hashIdentity } from './build-credential.ts'
import { readCredentialFile } from './check/baked-image.ts'
import { checkCredential } from './check/check.ts'
import { MAX_CREDENTIAL_BYTES } from './check/credential-text.ts'
import { createDocumentFetcher } from './check/fetch-document.ts'
import { findPublicCredential, isCredentialId } from './credentials.ts'
import { respondToPreflight } from './cross-origin.ts'
import { localIssuer } from './issuers/local-issuer.ts'
import { HolderCheckBody } from './schema.ts'

const CHECK_RULE: Rule = { name: 'credential-checks', kind: 'fixed', limit: 30, seconds: 60 }
/** Phone numbers could otherwise be tried one after the other. */
const HOLDER_CHECK_RULE: Rule = { name: 'credential-holder-checks', kind: 'fixed', limit: 10, seconds: 60 }
const HOLDER_CHECKS_PER_CREDENTIAL: Rule = { name: 'checks-of-one-holder', kind: 'fixed', limit: 30, seconds: 3600 }

/** Public routes that check credentials of any issuer, and whether a credential belongs to a person. */
export function credentialCheckRoutes(app: App, context: Context): void {
  const { db, clock, limits } = context
  const local = localIssuer(context)
  // WEBHOOK_ALLOW does not apply: otherwise anyone could send requests to these private addresses.
  const fetchDocument = createDocumentFetcher({ rules: { allow: [], onLoopback: false } })
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404 || request.method === 'OPTIONS') return
    reply.header('access-control-allow-origin', '*') // also on error responses
    const isHolderCheck = request.routeOptions.url?.endsWith('/holder') === true
    await enforceRateLimit(reply, callerAddress(request.ip), isHolderCheck ? HOLDER_CHECK_RULE : CHECK_RULE)
    request.rawBody = await readRawBody(request.raw, MAX_CREDENTIAL_BYTES)
  })
  // The routes read the raw body themselves.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))

  respondToPreflight(app, '/credentials/verify')
  respondToPreflight(app, '/credentials/:credential_id/holder')

  app.post('/credentials/verify', async (request: FastifyRequest, reply: FastifyReply) => {
    const input = readSubmission(readCredentialFile(request.rawBody))
    const data = await checkCredential(input, { now: new Date(clock.now()), local, fetchDocument })
    return reply.header('cache-control', 'no-store').send({ success: true, data })
  })

  app.post(
    '/credentials/:credential_id/holder',
    { schema: { body: HolderCheckBody } },
    async (request: FastifyRequest, reply: FastifyReply) => {
      request.body = parseJson(request.rawBody)
      validateRequest(request, request.routeOptions.config)
      const contact = readContact(request.body as HolderCheckBody)
      const { credential_id: id } = request.params as { credential_id: string }
      await enforceRateLimit(reply, id.slice(0, 40), HOLDER_CHECKS_PER_CREDENTIAL)
      const identity = isCredentialId(id) ? await findIdentity(id) : undefined
      if (!identity) throw problem('NOT_FOUND', 'There is no credential with this ID, or the person has withdrawn it.')
      const matches = identity.kind === contact.kind && hashIdentity(contact, identity.salt) === identity.hash
      return reply.header('cache-control', 'no-store').send({ success: true, data: { matches } })
    },
  )

  async function findIdentity(id: string) {
    const { rows } = await sql<{ kind: Contact['kind']; salt: string }>`
      select h.contact_kind as kind, c.identity_salt as salt
      from credentials c join credential_holders h using (holder_id)
      where c.credential_id = ${id} and c.credential is not null`.execute(db.queries)
    const subject = (await findPublicCredential(db.queries, id))?.credential.credentialSubject
    const identifiers = isJsonObject(subject) ? (subject.identifier as JsonObject[] | undefined) : undefined
    return rows[0] && { ...rows[0], hash: identifiers?.[0]?.identityHash }
  }

  async function enforceRateLimit(reply: FastifyReply, caller: string, rule: Rule) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(caller, [rule], clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    const message = `Too many requests: the limit is ${describeLimit(rule)}. Try again in ${formatWait(retryAfter)}.`
    throw problem('RATE_LIMITED', message, { retryAfter })
  }
}

/** Returns the submitted credential: the body itself, or its field `credential`. */
function readSubmission(text: string): string | JsonObject {
  if (text.trim() === '')
    throw invalid([
      {
        path: 'body',
        message: 'must be a credential: JSON with a proof, a VC-JWT, or a PNG or SVG image that contains one',
      },
    ])
  // The check states what is wrong with other texts, and with those that take long to parse.
  if (!text.trimStart().startsWith('{') || findExcess(Buffer.from(text))) return text
  const body = parseJsonOrUndefined(text)
  if (!isJsonObject(body)) return text
  if ('@context' in body || !('credential' in body)) return body
  const { credential } = body
  if (typeof credential === 'string' || isJsonObject(credential)) return credential
  throw invalid([{ path: 'credential', message: 'must be a JSON object or a text' }])
}

function readContact({ email, phone }: HolderCheckBody): Contact {
  if ((email === undefined) === (phone === undefined))
    throw invalid([{ path: 'email', message: 'send either email or phone' }])
  if (email !== undefined) return { kind: 'email', value: email.trim() }
  const value = phone!.replace(/[\s()-]/g, '')
  if (!new RegExp(PHONE_PATTERN).test(value)) throw invalid([{ path: 'phone', message: PHONE_FORMAT_MESSAGE }])
  return { kind: 'phone', value }
}
