import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../api/problem.ts'
import { findBrand, getPublicName } from '../../branding/branding.ts'
import { brandedParts } from '../../branding/page-parts.ts'
import { type PageBrand, pageBrand } from '../../branding/schema.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { acceptedLanguage } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { findClock } from '../../test-clocks/test-clocks.ts'
import { jsonBlock, type Pages } from '../../web-assets/assets.ts'
import { findCandidacy } from '../candidacy.ts'
import { candidateGuards, EndedLinkProblem } from './guards.ts'
import { pageLabels } from './page-labels.ts'
import type { CandidatePageError } from './schema.ts'
import { candidateView } from './view.ts'

/** Serves the page that messages link to. The initial data is embedded, so that no API request is needed to show it. */
export function candidatePageRoutes(app: App, context: Context, pages: Pages): void {
  const { db, clock, config } = context
  const { authenticate, limitAddress, findEndedLink } = candidateGuards(context)

  // A short link for messages. The token moves to the fragment, which later requests do not contain.
  app.get('/c/:token/data', async (request: FastifyRequest, reply: FastifyReply) => {
    const { token } = request.params as { token: string }
    return reply
      .header('referrer-policy', 'no-referrer')
      .redirect(`/your-data/candidate#token=${encodeURIComponent(token)}`)
  })

  app.get('/c/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      await limitAddress(request, reply)
      const candidate = (await findCandidacy(db.queries, await authenticate(request, reply, { linkOnly: true })))!
      const { test_clock_id } = candidate
      const view = await candidateView(db.queries, candidate, (await findClock(db.queries, clock, test_clock_id)).now())
      const lines = view.prompts.map(({ text }) => text)
      const body = jsonBlock('state', view) + renderPreview(view, lines)
      const { title, company, brand, language } = view
      const parts = brandedParts(config, brand, {
        title: `${title} · ${company}`,
        description: [brand?.name, brand?.footer].filter(Boolean).join(' · '),
      })
      return pages.send(request, reply, 'candidate', { ...parts, body, language })
    } catch (error) {
      const pageError = error instanceof Problem && pageErrorOf(error)
      if (!pageError) throw error
      const state = await errorState(request, pageError.kind)
      const { language, labels, help, title, company, brand } = state
      const lines = [labels[pageError.kind], ...(help ? [help] : [])]
      const body = jsonBlock('state', state) + renderPreview(company ? { title, company, brand } : undefined, lines)
      const parts = company
        ? brandedParts(config, brand, {
            title: [title, company].filter(Boolean).join(' · '),
            description: brand?.name ?? '',
          })
        : {}
      return pages.send(request, reply, 'candidate', { ...parts, body, language, status: pageError.status })
    }
  })

  /**
   * Returns what the page says about an error: with the organisation, if the link was valid, and in the language of the candidate, if it is
   * known, else in that of the browser.
   */
  async function errorState(request: FastifyRequest, wrong: CandidatePageError['wrong']): Promise<CandidatePageError> {
    const language = acceptedLanguage(request.headers['accept-language'])
    const base = (known: typeof language) => ({ wrong, language: known, labels: pageLabels(known) })
    if (wrong === 'failed') return base(language)
    const link = await findEndedLink(request)
    if (!link) return { ...base(language), help: prompt('page_ask_sender', language) }
    const brand = await findBrand(db.queries, link.org_id)
    const look = {
      ...(brand ? { brand: pageBrand(brand) } : {}),
      ...(brand?.replyTo ? { contact_email: brand.replyTo } : {}),
    }
    const candidate = link.is_erased ? undefined : await findCandidacy(db.queries, link.candidate_id)
    if (!candidate) return { ...base(language), ...look, company: await getPublicName(db.queries, link.org_id) }
    const { flow, state } = candidate
    const company = flow.company_name
    const ownLanguage = state.languageKnown ? state.language : language
    return {
      ...base(ownLanguage),
      ...look,
      title: flow.title,
      company,
      help: prompt('page_ask_company', ownLanguage, { company }),
    }
  }
}

/** Returns how the page explains an error to the candidate. */
function pageErrorOf(error: Problem) {
  return error instanceof EndedLinkProblem ? { kind: error.reason, status: 410 } : pageErrors[error.code]
}

const pageErrors: Partial<Record<string, { kind: CandidatePageError['wrong']; status: number }>> = {
  NOT_FOUND: { kind: 'unknown', status: 404 },
  RATE_LIMITED: { kind: 'failed', status: 429 },
  SERVICE_DISABLED: { kind: 'paused', status: 503 },
}

/** Renders plain text to read while the script loads; the page then replaces it. */
function renderPreview(
  view: { title?: string | undefined; company: string; brand?: PageBrand | undefined } | undefined,
  lines: string[],
): string {
  const heading = view
    ? `<header class="head">${renderLogo(view.brand)}<div><h1>${escapeHtml(view.title ?? companyLine(view))}</h1>${view.title ? `<p>${escapeHtml(companyLine(view))}</p>` : ''}</div></header>`
    : ''
  const paragraphs = lines.map((text) => `<p class="message us" dir="auto">${escapeHtml(text)}</p>`).join('')
  return `<div class="conversation" id="preview">${heading}<main><div class="log">${paragraphs}</div></main></div>`
}

/** Renders the logo like `BrandLogo` in `web/branding/`, so that nothing moves when the script replaces the preview. */
function renderLogo(brand: PageBrand | undefined): string {
  if (!brand?.logo) return ''
  const { url, width, height } = brand.logo
  return `<img class="brand-logo" src="${escapeHtml(url)}" width="${width}" height="${height}" alt="" loading="lazy">`
}

/** Returns the company of the vacancy, and the organisation that asks on its behalf if it has another name. */
function companyLine({ company, brand }: { company: string; brand?: PageBrand | undefined }): string {
  return brand && brand.name !== company ? `${company} · ${brand.name}` : company
}
