import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import { findBrand } from '../branding/branding.ts'
import { plainBrandParts } from '../branding/page-parts.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import { readRawBody } from '../platform/http/body.ts'
import type { App } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { hashToken } from '../platform/token-hash.ts'
import { createPlainPageSender, type PlainPage } from '../web-assets/plain-page.ts'
import type { FindUnsubscribeTarget, UnsubscribeTarget } from './unsubscribe.ts'
import { type PageLanguage, pageLanguageOf, UNKNOWN_LINK_TEXTS, type UnsubscribeTexts } from './unsubscribe-texts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body of a request to an unsubscribe link is read. */
    unsubscribeTarget: UnsubscribeTarget
  }
}

/** A POST request of one-click unsubscribing has a form with one field. */
const MAX_BODY_BYTES = 4 * 1024
/** A high limit, because an email provider sends the requests of all its users from few addresses. */
const ADDRESS_RULE: Rule = { name: 'unsubscribe-address', kind: 'fixed', limit: 600, seconds: 60 }
const UNKNOWN_TOKEN_RULE: Rule = { name: 'unknown-unsubscribe-tokens', kind: 'fixed', limit: 60, seconds: 60 }

/**
 * The page behind the unsubscribe link of an email, as plain HTML. GET only shows a form, because link scanners open every link. POST
 * stops the emails, without signing in: from the form, or by one click in the email program (RFC 8058).
 */
export function unsubscribeRoutes(app: App, context: Context, findTargetByToken: FindUnsubscribeTarget): void {
  const { db, clock, limits } = context
  app.decorateRequest('unsubscribeTarget', null as never)
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return
    await charge(request, ADDRESS_RULE)
    // Before the body is read, so that the sender of an unknown token cannot occupy a connection.
    const target = await findTarget(request)
    if (!target) return void sendUnknownLink(request, reply)
    request.unsubscribeTarget = target
    request.rawBody = await readRawBody(request.raw, MAX_BODY_BYTES)
  })

  app.get('/unsubscribe/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    const target = request.unsubscribeTarget
    const { language, texts } = inPageLanguage(target, request)
    const form = `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${escapeHtml(texts.button)}</button></form>`
    const page = { language, title: texts.title, body: `<p>${escapeHtml(texts.question)}</p>${form}` }
    return sendPage(reply, 200, {
      ...(await brandPartsOf(target)),
      ...page,
      otherLanguage: target.language === undefined ? otherLanguageOf(language) : undefined,
    })
  })

  app.post('/unsubscribe/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    const target = request.unsubscribeTarget
    await db.transaction((tx) => target.unsubscribe(tx))
    const { language, texts } = inPageLanguage(target, request)
    const body = `<p>${escapeHtml(texts.done)}</p>`
    return sendPage(reply, 200, { ...(await brandPartsOf(target)), language, title: texts.title, body })
  })

  async function brandPartsOf({ orgId }: UnsubscribeTarget) {
    return plainBrandParts(orgId === null ? undefined : await findBrand(db.queries, orgId))
  }

  async function findTarget(request: FastifyRequest): Promise<UnsubscribeTarget | undefined> {
    const { token } = request.params as { token: string }
    const target = await findTargetByToken(db.queries, hashToken(token))
    if (!target) await charge(request, UNKNOWN_TOKEN_RULE)
    return target
  }

  async function charge({ ip }: FastifyRequest, rule: Rule) {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(ip), [rule], clock.now())
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
  }
}

function inPageLanguage({ language, texts }: UnsubscribeTarget, request: FastifyRequest) {
  if (language !== undefined) return { language, texts: texts as UnsubscribeTexts }
  const pageLanguage = pageLanguageOf(request)
  return { language: pageLanguage, texts: (texts as Record<PageLanguage, UnsubscribeTexts>)[pageLanguage] }
}

function sendUnknownLink(request: FastifyRequest, reply: FastifyReply) {
  const language = pageLanguageOf(request)
  const { title, text } = UNKNOWN_LINK_TEXTS[language]
  return sendPage(reply, 404, { language, title, body: `<p>${escapeHtml(text)}</p>` })
}

interface Page extends PlainPage {
  otherLanguage?: { code: PageLanguage; name: string } | undefined
}

const sendPlainPage = createPlainPageSender()

function sendPage(reply: FastifyReply, status: number, { otherLanguage, ...page }: Page) {
  const languageLink = otherLanguage
    ? `<p><a href="?lang=${otherLanguage.code}" lang="${otherLanguage.code}">${escapeHtml(otherLanguage.name)}</a></p>`
    : ''
  return sendPlainPage(reply, status, { ...page, body: `${page.body}\n${languageLink}` })
}

function otherLanguageOf(language: string): { code: PageLanguage; name: string } {
  return language === 'hi' ? { code: 'en', name: 'English' } : { code: 'hi', name: 'हिन्दी' }
}
