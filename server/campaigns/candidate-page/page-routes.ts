import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { acceptedLanguage } from '../../platform/text/languages.ts'
import { findClock } from '../../test-clocks/test-clocks.ts'
import { jsonBlock, type Pages } from '../../web-assets/assets.ts'
import { findCandidacy } from '../candidacy.ts'
import { candidateGuards, EndedLinkProblem } from './guards.ts'
import { pageLabels } from './page-labels.ts'
import type { CandidatePageError } from './schema.ts'
import { candidateView } from './view.ts'

/** Serves the page that messages link to. The initial data is embedded, so that no API request is needed to show it. */
export function candidatePageRoutes(app: App, context: Context, pages: Pages): void {
  const { db, clock } = context
  const { authenticate, limitAddress } = candidateGuards(context)

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
      const candidate = (await findCandidacy(db.queries, await authenticate(request, reply)))!
      const { test_clock_id } = candidate
      const view = await candidateView(db.queries, candidate, (await findClock(db.queries, clock, test_clock_id)).now())
      const lines = view.prompts.map(({ text }) => text)
      const body = jsonBlock('state', view) + renderPreview(view.title, view.company, lines)
      return pages.send(request, reply, 'candidate', { body, language: view.language })
    } catch (error) {
      const pageError = error instanceof Problem && pageErrorOf(error)
      if (!pageError) throw error
      const language = acceptedLanguage(request.headers['accept-language'])
      const labels = pageLabels(language)
      const state: CandidatePageError = { language, labels, wrong: pageError.kind }
      const body = jsonBlock('state', state) + renderPreview('', '', [labels[pageError.kind]])
      return pages.send(request, reply, 'candidate', { body, language, status: pageError.status })
    }
  })
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
function renderPreview(title: string, company: string, lines: string[]): string {
  const heading = title
    ? `<header class="head"><div><h1>${escapeHtml(title)}</h1><p>${escapeHtml(company)}</p></div></header>`
    : ''
  const paragraphs = lines.map((text) => `<p class="message us" dir="auto">${escapeHtml(text)}</p>`).join('')
  return `<div class="conversation" id="preview">${heading}<main><div class="log">${paragraphs}</div></main></div>`
}
