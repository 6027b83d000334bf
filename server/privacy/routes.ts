import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import { findBrand } from '../branding/branding.ts'
import { pageBrand } from '../branding/schema.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import { candidateResponse } from '../campaigns/candidate-page/schema.ts'
import type { Context } from '../context.ts'
import { noticeTexts, renderNotice, type SubjectKind } from '../notices/notice.ts'
import { exportPerson } from '../people/export.ts'
import { renderExport } from '../people/export-html.ts'
import { getPerson } from '../people/people.ts'
import { formatSeconds } from '../platform/clock.ts'
import { readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { type App, validateRequest } from '../platform/http/server.ts'
import { acceptedLanguage, LANGUAGES, type Language } from '../platform/text/languages.ts'
import { hashToken } from '../platform/token-hash.ts'
import { prompt } from '../questions/prompts.ts'
import { findClock } from '../test-clocks/test-clocks.ts'
import { findConsent, recordConsent } from './consents.ts'
import { listContactAddresses, maskAddress } from './contact-addresses.ts'
import { confirmRequest, erasedProblem, startRequest } from './requests.ts'
import {
  ConfirmationBody,
  ConfirmedRequest,
  ConsentBody,
  LanguageQuery,
  PrivacyRequestBody,
  RequestParams,
  StartedRequest,
  SubjectParams,
  YourDataView,
} from './schema.ts'
import { findSubject, type Subject } from './subjects.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The subject that the link token identifies. Set by the `preParsing` hook of these routes. */
    privacySubject: Subject
  }
}

const MAX_BODY_BYTES = 16 * 1024
const ADDRESS_RULE: Rule = { name: 'your-data-address', kind: 'fixed', limit: 300, seconds: 60 }
const TOKEN_RULE: Rule = { name: 'your-data-token', kind: 'tokens', limit: 20, seconds: 10 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-your-data-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/**
 * The API of the page on which candidates, students and reviewers read the notice and use their rights.
 *
 * The token of the personal link identifies the person, and gives access to the notice only. Each request to read or change data is
 * confirmed with a code that is sent to a stored address. The routes work while the service is off and after the link has expired.
 */
export function yourDataRoutes(app: App, context: Context): void {
  const { db, clock, limits } = context
  app.setSerializerCompiler((() => JSON.stringify) as never)
  app.decorateRequest('privacySubject', null as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await enforceRateLimit(callerAddress(request.ip), ADDRESS_RULE, reply)
    // Authenticate before reading the body, so that a caller without a valid link cannot occupy a connection.
    request.privacySubject = await authenticate(request, reply)
    request.rawBody = await readBody(request.raw, MAX_BODY_BYTES)
  })
  app.addHook('preValidation', async (request) => {
    if (request.is404) return
    if (request.rawBody.length > 0) request.body = parseJson(request.rawBody)
    validateRequest(request, request.routeOptions.config)
  })

  app.get(
    '/your-data/:kind',
    {
      schema: { params: SubjectParams, querystring: LanguageQuery, response: { 200: candidateResponse(YourDataView) } },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const language = request.query.lang ?? acceptedLanguage(request.headers['accept-language'])
      return { success: true as const, data: await viewOf(request.privacySubject, language) }
    },
  )

  app.post(
    '/your-data/:kind/consent',
    { schema: { params: SubjectParams, body: ConsentBody, response: { 200: candidateResponse(YourDataView) } } },
    async ({ privacySubject: subject, body }) => {
      if (subject.isErased) throw erasedProblem()
      await db.transaction(async (tx) =>
        recordConsent(tx, await findClock(tx, clock, subject.testClockId), subject, body.language),
      )
      return { success: true as const, data: await viewOf(subject, body.language) }
    },
  )

  app.post(
    '/your-data/:kind/requests',
    {
      schema: { params: SubjectParams, body: PrivacyRequestBody, response: { 200: candidateResponse(StartedRequest) } },
    },
    async ({ privacySubject, body: { action, channel, email, language } }) => {
      const request = { action, channel, newEmail: email, language }
      const data = await db.transaction((tx) => startRequest(tx, context, privacySubject, request))
      return { success: true as const, data }
    },
  )

  app.post(
    '/your-data/:kind/requests/:request_id/confirm',
    {
      schema: { params: RequestParams, body: ConfirmationBody, response: { 200: candidateResponse(ConfirmedRequest) } },
    },
    async ({ privacySubject: subject, params, body }, reply) => {
      const { code, new_code: newCode, name, email } = body
      const action = await confirmRequest(db, context, subject, params.request_id, { code, newCode, name, email })
      reply.header('cache-control', 'no-store')
      return {
        success: true as const,
        data: { action, export: action === 'export' ? await exportBoth(subject) : null },
      }
    },
  )

  async function exportBoth({ scope, personId }: Subject) {
    const person = await getPerson(db.queries, scope, personId!)
    // The reason of a legal hold is internal to the organisation.
    const legalHold = person.legal_hold === null ? null : 'The organisation must keep the data for a legal reason.'
    const exported = await exportPerson(db.queries, context, { ...person, legal_hold: legalHold })
    return { json: JSON.stringify(exported, null, 2), html: renderExport(exported) }
  }

  async function viewOf(subject: Subject, language: Language) {
    const consent = await findConsent(db.queries, subject)
    const brand = await findBrand(db.queries, subject.scope.orgId)
    const candidate = subject.kind === 'candidate' ? await findCandidacy(db.queries, subject.id) : undefined
    return {
      kind: subject.kind,
      language,
      languages: LANGUAGES.map((code) => ({ code, name: prompt('language_name', code) })),
      texts: { ...noticeTexts(language), language: prompt('page_language', language) },
      notice: await renderNotice(db.queries, subject.scope.orgId, subject.kind, language, candidate?.flow.company_name),
      consent: consent
        ? {
            version: consent.notice_version,
            given_at: consent.given_at.toISOString(),
            withdrawn_at: consent.withdrawn_at?.toISOString() ?? null,
          }
        : null,
      addresses: subject.isErased
        ? []
        : (await listContactAddresses(db.queries, context, subject)).map((address) => ({
            kind: address.kind,
            masked: maskAddress(address),
          })),
      erased: subject.isErased,
      ...(brand ? { brand: pageBrand(brand) } : {}),
    }
  }

  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<Subject> {
    const { kind } = request.params as { kind: SubjectKind }
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined)
      throw problem('UNAUTHORIZED', 'Send the token of your personal link as `Authorization: Bearer TOKEN`.')
    await enforceRateLimit(hashToken(token).toString('base64url'), TOKEN_RULE, reply)
    const subject = SubjectParams.properties.kind.enum.includes(kind)
      ? await findSubject(db.queries, kind, token)
      : undefined
    if (subject) return subject
    await enforceRateLimit(callerAddress(request.ip), UNKNOWN_TOKEN_RULE, reply)
    throw problem('NOT_FOUND', 'This link is not valid.')
  }

  async function enforceRateLimit(caller: string, rule: Rule, reply: FastifyReply) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(caller, [rule], clock.now())
    if (rejectedBy === undefined) return
    reply.header('retry-after', retryAfter)
    throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}
