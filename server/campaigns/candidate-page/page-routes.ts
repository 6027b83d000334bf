import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { LANGUAGES, type Language } from '../../questions/questions.ts'
import { escapeHtml, jsonBlock, type Pages } from '../../web-assets/assets.ts'
import { findCandidacy } from '../candidacy.ts'
import { openDoor } from './guards.ts'
import { pageLabels } from './page-labels.ts'
import { candidateView } from './view.ts'

/** The page behind the link in every message. What it shows first comes with it: no call is waited for. */
export function candidatePageRoutes(app: App, context: Context, pages: Pages): void {
  const { db } = context
  const { admit, chargeAddress } = openDoor(context)

  app.get('/c/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      await chargeAddress(request, reply)
      const candidate = (await findCandidacy(db.queries, await admit(request, reply)))!
      const view = await candidateView(db.queries, candidate)
      const lines = view.prompts.map(({ text }) => text)
      const body = jsonBlock('state', view) + outline(view.title, view.company, lines)
      return pages.send(request, reply, 'candidate', { body, language: view.language })
    } catch (error) {
      const wrong = error instanceof Problem && wrongs[error.code]
      if (!wrong) throw error
      const language = languageOf(request)
      const labels = pageLabels(language)
      const body = jsonBlock('state', { language, labels, wrong: wrong.kind }) + outline('', '', [labels[wrong.kind]])
      return pages.send(request, reply, 'candidate', { body, language, status: wrong.status })
    }
  })
}

/** What a person can be told kindly on the page itself. */
const wrongs: Partial<Record<string, { kind: 'unknown' | 'failed'; status: number }>> = {
  NOT_FOUND: { kind: 'unknown', status: 404 },
  RATE_LIMITED: { kind: 'failed', status: 429 },
}

/** The words alone, to be read while the script is on its way; the page takes their place. */
function outline(title: string, company: string, lines: string[]): string {
  const head = title
    ? `<header class="head"><div><h1>${escapeHtml(title)}</h1><p>${escapeHtml(company)}</p></div></header>`
    : ''
  const said = lines.map((text) => `<p class="said us" dir="auto">${escapeHtml(text)}</p>`).join('')
  return `<div class="talk" id="outline">${head}<main><div class="log">${said}</div></main></div>`
}

/** For somebody whom no link tells us anything about: the first of our languages that the browser asks for. */
function languageOf({ headers }: FastifyRequest): Language {
  const wanted = String(headers['accept-language'] ?? '')
    .toLowerCase()
    .matchAll(/(?:^|,)\s*([a-z]{2,3})\b/g)
  for (const [, code] of wanted) {
    const known = LANGUAGES.find((language) => language === code)
    if (known) return known
  }
  return 'en'
}
