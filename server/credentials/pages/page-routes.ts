import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import { findBrand } from '../../branding/branding.ts'
import { brandedLook } from '../../branding/page-parts.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import type { App } from '../../platform/http/server.ts'
import { acceptedLanguage, type Language } from '../../platform/text/languages.ts'
import { jsonBlock, type Pages } from '../../web-assets/assets.ts'
import { bakeCredential } from '../check/baked-image.ts'
import { findProfile, findPublicCredential } from '../credentials.ts'
import { baseUrl } from '../issuers/issuers.ts'
import { renderCredentialPage, renderMessagePage, renderTop } from './credential-html.ts'
import { Drawings } from './drawings.ts'
import { renderProfilePage } from './profile-html.ts'
import { languageParameter, pickTexts, translator } from './texts.ts'

/** High, because many phones share the address of their mobile network. */
const PAGE_RULE: Rule = { name: 'credential-pages', kind: 'fixed', limit: 300, seconds: 60 }
/** Drawing a picture or a PDF file takes much longer than a page. */
const DRAWING_RULE: Rule = { name: 'credential-drawings', kind: 'fixed', limit: 20, seconds: 60 }

/** `png` is the picture with the credential in it; `preview.png` is the same picture without, for previews of links. */
type Format = 'json' | 'jwt' | 'pdf' | 'png' | 'preview.png' | 'html'

/** Media types of the signed JSON, for clients that do not want the page. */
const JSON_TYPES = /application\/(?:json|ld\+json|vc(?:\+ld\+json)?)\b/

/** Serves the public pages about credentials. Everything that they show is embedded, also the style sheet. */
export function credentialPageRoutes(
  app: App,
  context: Pick<Context, 'db' | 'clock' | 'config' | 'limits'>,
  pages: Pages,
): void {
  const { db, clock, config, limits } = context
  const drawings = new Drawings()
  app.addHook('onClose', () => drawings.close())

  app.get('/credentials/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    const { file } = request.params as { file: string }
    const { id, format } = parseFileName(file, request.headers.accept)
    const isDrawing = format === 'pdf' || format === 'png' || format === 'preview.png'
    const language = languageOf(request)
    const retryAfter = await countRequest(request, isDrawing ? [PAGE_RULE, DRAWING_RULE] : [PAGE_RULE])
    if (retryAfter !== undefined) return rejectRequest(request, reply, format, language, retryAfter)
    const credential = await findPublicCredential(db.queries, id)
    if (!credential) {
      if (format !== 'html') throw problem('NOT_FOUND', `Credential ${id} not found.`)
      const t = translator(language)
      return sendMessage(request, reply, t('unknown_title'), t('unknown_text'), language, 404)
    }
    if (credential.id !== id) return redirect(request, reply, credential.id, format)
    const options = { url: `${baseUrl(config)}/credentials/${credential.id}`, language, now: clock.now() }
    reply.header('cache-control', 'no-cache')
    if (format === 'html') {
      const brand = await findBrand(db.queries, credential.organisation.id)
      const parts = await renderCredentialPage(credential, { ...options, brand })
      const icon = brand?.logo ? { icon: brand.logo.url } : {}
      return pages.send(request, reply, 'credential', { ...parts, ...icon, language, inlineStyles: true })
    }
    if (isDrawing) {
      const brand = await findBrand(db.queries, credential.organisation.id)
      const look = brand && { name: brand.name, colour: brand.colours?.light }
      const drawing = await drawings.draw(format === 'pdf' ? 'pdf' : 'png', credential, { ...options, look })
      if (format === 'pdf') return reply.type('application/pdf').send(drawing)
      const json = JSON.stringify(credential.credential)
      return reply.type('image/png').send(format === 'png' ? bakeCredential(drawing, json) : drawing)
    }
    reply.headers({ 'access-control-allow-origin': '*', vary: 'accept' })
    return format === 'jwt'
      ? reply.type('application/vc+jwt').send(credential.jwt)
      : reply.type('application/vc').send(JSON.stringify(credential.credential))
  })

  app.get('/profiles/:slug', async (request: FastifyRequest, reply: FastifyReply) => {
    const { slug } = request.params as { slug: string }
    const language = languageOf(request)
    const retryAfter = await countRequest(request, [PAGE_RULE])
    if (retryAfter !== undefined) return rejectRequest(request, reply, 'html', language, retryAfter)
    const profile = await findProfile(db.queries, slug, clock.now())
    if (!profile) {
      const t = translator(language)
      return sendMessage(request, reply, t('unknown_title'), t('profile_unknown'), language, 404)
    }
    const brand = await findBrand(db.queries, profile.organisationId)
    const options = { url: `${baseUrl(config)}/profiles/${slug}`, language, now: clock.now(), brand }
    const parts = { ...(await renderProfilePage(profile, options)), ...brandedLook(brand) }
    return pages.send(request, reply, 'profile', { ...parts, language, inlineStyles: true })
  })

  app.get('/credentials/verify', async (request: FastifyRequest, reply: FastifyReply) =>
    sendApp(request, reply, 'check-credential', 'verify_title', [
      'verify_',
      'check_',
      'test_banner',
      'issued_',
      'valid_until',
      'failed',
      'rate_limited',
      'offline',
    ]),
  )

  app.get('/my-credentials', async (request: FastifyRequest, reply: FastifyReply) =>
    sendApp(request, reply, 'my-credentials', 'mine_title', [
      'mine_',
      'state_',
      'yes',
      'cancel',
      'failed',
      'rate_limited',
      'offline',
      'copy_link',
      'copied',
      'issued_',
      'valid_until',
    ]),
  )

  app.get('/credentials/texts/:language', async (request: FastifyRequest, reply: FastifyReply) => {
    const language = languageParameter((request.params as { language: string }).language)
    if (!language) throw problem('NOT_FOUND', 'There are no texts in this language.')
    const texts = pickTexts(language, ['consent_', 'failed', 'yes', 'cancel', 'copy_link', 'copied', 'state_'])
    return reply.header('cache-control', 'public, max-age=3600').send({ success: true, data: texts })
  })

  /** Sends a page whose content comes from its script. */
  function sendApp(request: FastifyRequest, reply: FastifyReply, page: string, title: string, prefixes: string[]) {
    const language = languageOf(request)
    const t = translator(language)
    return pages.send(request, reply, page, {
      head: `<title>${t(title)} · Attestry</title>`,
      body: `<div class="sheet">${renderTop(t, language)}<main id="root" class="stack"></main></div>${jsonBlock('texts', pickTexts(language, prefixes))}`,
      language,
      inlineStyles: true,
    })
  }

  function sendMessage(
    request: FastifyRequest,
    reply: FastifyReply,
    title: string,
    text: string,
    language: Language,
    status: number,
  ) {
    const parts = renderMessagePage(title, text, language)
    return pages.send(request, reply, 'credential', { ...parts, language, status, inlineStyles: true })
  }

  /** Returns the number of seconds to wait if the address has sent too many requests. */
  async function countRequest(request: FastifyRequest, rules: Rule[]): Promise<number | undefined> {
    const decision = await limits.limiter.take(callerAddress(request.ip), rules, clock.now())
    return decision.rejectedBy === undefined ? undefined : decision.retryAfter
  }

  function rejectRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    format: Format,
    language: Language,
    retryAfter: number,
  ) {
    reply.header('retry-after', retryAfter)
    if (format !== 'html')
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    const t = translator(language)
    return sendMessage(request, reply, t('unknown_title'), t('rate_limited'), language, 429)
  }
}

/** Splits a name such as `crd_1.json`. Without an extension, the Accept header decides between the page and the JSON. */
function parseFileName(file: string, accept: string | undefined): { id: string; format: Format } {
  const [, id, extension] = /^(.+?)\.(json|jwt|pdf|png|preview\.png)$/.exec(file) ?? []
  if (id && extension) return { id, format: extension as Format }
  const wantsJson = accept !== undefined && JSON_TYPES.test(accept) && !accept.includes('text/html')
  return { id: file, format: wantsJson ? 'json' : 'html' }
}

/** Leads from a credential to the one that replaces it, in the same format and language. */
function redirect({ raw }: FastifyRequest, reply: FastifyReply, id: string, format: Format) {
  const query = raw.url!.split('?')[1]
  return reply.redirect(`/credentials/${id}${format === 'html' ? '' : `.${format}`}${query ? `?${query}` : ''}`, 302)
}

function languageOf({ query, headers }: FastifyRequest): Language {
  return languageParameter((query as { lang?: unknown }).lang) ?? acceptedLanguage(headers['accept-language'])
}
