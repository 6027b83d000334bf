import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import { findBrand } from '../../branding/branding.ts'
import { plainBrandParts } from '../../branding/page-parts.ts'
import { findCandidacy } from '../../campaigns/candidacy.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { DrawingThread } from '../../platform/drawing/drawing-thread.ts'
import type { App } from '../../platform/http/server.ts'
import { escapeHtml } from '../../platform/text/escape-html.ts'
import { createPlainPageSender } from '../../web-assets/plain-page.ts'
import { openCredentials } from '../connections.ts'
import { findOrderById } from '../orders.ts'
import { isSignedBy, parseReportToken } from './links.ts'
import { type ReportContent, type ReportSection, reportContent } from './report-content.ts'
import type { ReportPdfInput } from './report-pdf.ts'

/** A high limit, because the people of one company share an address. */
const ADDRESS_RULE: Rule = { name: 'report-address', kind: 'fixed', limit: 300, seconds: 60 }
/** Drawing a PDF file takes much longer than a page. */
const DRAWING_RULE: Rule = { name: 'report-drawings', kind: 'fixed', limit: 30, seconds: 60 }

/**
 * The page behind the link in a report, as plain HTML and, with `.pdf` at the end of the address, as a PDF file: a hiring manager opens it
 * without an account. It shows the result, without phone number and email address.
 */
export function reportPageRoutes(app: App, context: Context): void {
  const { db, clock, config, limits, vault, keyring } = context
  const drawings = new DrawingThread<ReportPdfInput>(new URL('report-drawing-worker.ts', import.meta.url))
  app.addHook('onClose', () => drawings.close())

  app.get('/reports/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    const [, tokenText, extension] = /^(.*?)(\.pdf)?$/.exec((request.params as { file: string }).file)!
    const isPdf = extension !== undefined
    const { rejectedBy, retryAfter } = await limits.limiter.take(
      callerAddress(request.ip),
      isPdf ? [ADDRESS_RULE, DRAWING_RULE] : [ADDRESS_RULE],
      clock.now(),
    )
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    const token = parseReportToken(tokenText!)
    const order = token && (await findOrderById(db.queries, token.orderId))
    const isValid = order && isSignedBy(token, (await openCredentials(db.queries, vault, order.connection_id)).linkKey)
    if (!isValid)
      return sendMessage(reply, 404, 'Report not found', 'This link is not valid. Open the report from your ATS again.')
    request.tenant.scope = { orgId: order.org_id, mode: order.mode }
    if (clock.now() >= token.expiresAtSeconds * 1000)
      return sendMessage(
        reply,
        410,
        'This link has expired',
        'Ask the recruiter to send the report again from Attestry. Your ATS then shows a new link.',
      )
    await keyring.refreshIfStale()
    if (keyring.isServicePaused(order.org_id))
      return sendMessage(reply, 503, 'Report not available', 'The service is paused. Try again later.')
    const candidate = order.candidate_id === null ? undefined : await findCandidacy(db.queries, order.candidate_id)
    const content = reportContent(order, candidate, token.expiresAtSeconds)
    if (!isPdf)
      return sendPage(reply, 200, {
        ...plainBrandParts(await findBrand(db.queries, order.org_id)),
        language: 'en',
        title: content.title,
        body: renderReport(content, tokenText!),
      })
    const bytes = await drawings.draw({
      content,
      url: `${config.publicUrl ?? ''}/reports/${tokenText}`,
      createdAt: clock.now(),
    })
    return reply
      .type('application/pdf')
      .headers({
        'content-disposition': `inline; filename="report-${order.order_id}.pdf"`,
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
      })
      .send(bytes)
  })
}

function renderReport(content: ReportContent, token: string): string {
  const { testNotice, job, summary, sections, linkExpiry } = content
  return [
    testNotice ? `<p class="notice">${escapeHtml(testNotice)}</p>` : '',
    job ? `<p>${escapeHtml(job)}</p>` : '',
    `<p class="verdict">${escapeHtml(summary)}</p>`,
    `<p class="screen"><a href="${token}.pdf">Open as PDF</a></p>`,
    ...sections.map(renderSection),
    `<p class="small">This link works until ${escapeHtml(linkExpiry)}.</p>`,
  ].join('\n')
}

function renderSection({ heading, paragraphs = [], list = [], skills = [], facts = [] }: ReportSection): string {
  return [
    `<h2>${escapeHtml(heading)}</h2>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    list.length > 0 ? `<ul>${list.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>` : '',
    skills.length > 0 ? renderSkills(skills) : '',
    facts.length > 0
      ? `<dl>${facts.map(({ name, value }) => `<dt>${escapeHtml(name)}</dt><dd dir="auto">${escapeHtml(value)}</dd>`).join('\n')}</dl>`
      : '',
  ].join('\n')
}

function renderSkills(skills: NonNullable<ReportSection['skills']>): string {
  const rows = skills.map(
    ({ name, verdict, evidence, questions }) => `<tr><th scope="row">${escapeHtml(name)}</th>
<td>${escapeHtml(verdict)}</td>
<td>${escapeHtml(evidence)}</td>
<td>${escapeHtml(questions)}</td></tr>`,
  )
  return `<div class="wide" role="region" aria-label="Skills" tabindex="0"><table><thead><tr><th scope="col">Skill</th><th scope="col">Verdict</th><th scope="col">Evidence</th><th scope="col">Questions</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`
}

const sendPage = createPlainPageSender(`
h2{font-size:1.1em;margin:1.6em 0 .3em}
.verdict{padding:12px 16px;border-left:4px solid #1d5fbf;background:#eef4fc;font-weight:600}
.notice{padding:8px 16px;border:1px solid #8d6708;border-radius:6px;background:#fff8e1;color:#5b4300}
.wide{overflow-x:auto}table{width:100%;border-collapse:collapse}th,td{padding:6px 10px 6px 0;border-bottom:1px solid #9aa5b1;text-align:left;vertical-align:top}
dl{margin:0}dt{font-weight:600;margin-top:.5em}dd{margin:0}.small{font-size:.85em}
.wide:focus-visible{outline:3px solid #f0b429;outline-offset:2px}
@media (max-width:520px){thead{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid #9aa5b1}tbody th,td{display:block;padding:0;border:0}}
@media (prefers-color-scheme:dark){.verdict{background:#1f2f42;border-color:#6ea8fe}.notice{background:#3b2f0b;color:#ffe9a8;border-color:#d9a406}}
@media print{.screen{display:none}.verdict,.notice{background:none;color:#000}.wide{overflow:visible}h2,dt{break-after:avoid}tr,dd,li{break-inside:avoid}}`)

function sendMessage(reply: FastifyReply, status: number, title: string, text: string) {
  return sendPage(reply, status, { language: 'en', title, body: `<p>${escapeHtml(text)}</p>` })
}
