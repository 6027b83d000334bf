import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from '../access/client-address.ts'
import type { Rule } from '../access/limits/limiter.ts'
import { problem } from '../api/problem.ts'
import { findBrand, getPublicName } from '../branding/branding.ts'
import { plainBrandParts } from '../branding/page-parts.ts'
import type { Context } from '../context.ts'
import { formatSeconds } from '../platform/clock.ts'
import { DrawingThread } from '../platform/drawing/drawing-thread.ts'
import type { App } from '../platform/http/server.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { CARD_STYLE, createPlainPageSender } from '../web-assets/plain-page.ts'
import { type ReportContent, type ReportSection, sectionsBelowSummary } from './report-content.ts'
import type { ReportPdfInput } from './report-pdf.ts'

/** A high limit, because the people of one company share an address. */
const ADDRESS_RULE: Rule = { name: 'report-address', kind: 'fixed', limit: 300, seconds: 60 }
/** Drawing a PDF file takes much longer than a page. */
const DRAWING_RULE: Rule = { name: 'report-drawings', kind: 'fixed', limit: 30, seconds: 60 }

/** A report to send. */
export interface Report {
  orgId: string
  content: ReportContent
  /** Address of the report page without the host; undefined for a report without a link. */
  path: string | undefined
  /** Name of the PDF file. */
  fileName: string
}

export type ReportView = ReturnType<typeof openReportView>

const PDF_EXTENSION = '.pdf'

/** Reads the last part of the address of a report: its token and, for a PDF file, the extension. */
export function parseReportFile({ params }: FastifyRequest): { token: string; isPdf: boolean } {
  const { file } = params as { file: string }
  const isPdf = file.endsWith(PDF_EXTENSION)
  return { token: isPdf ? file.slice(0, -PDF_EXTENSION.length) : file, isPdf }
}

/**
 * Sends reports as plain HTML and as PDF files, with the branding of the organisation. They show the result, without phone number and
 * email address.
 */
export function openReportView(app: App, { db, clock, config, limits }: Context) {
  const drawings = new DrawingThread<ReportPdfInput>(new URL('report-drawing-worker.ts', import.meta.url))
  app.addHook('onClose', () => drawings.close())
  return {
    async limitRequests({ ip }: FastifyRequest, isPdf: boolean): Promise<void> {
      const rules = isPdf ? [ADDRESS_RULE, DRAWING_RULE] : [ADDRESS_RULE]
      const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(ip), rules, clock.now())
      if (rejectedBy !== undefined)
        throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    },
    async sendPage(reply: FastifyReply, { orgId, content, path }: Report) {
      return sendPage(reply, 200, {
        ...plainBrandParts((await findBrand(db.queries, orgId)) ?? { name: await getPublicName(db.queries, orgId) }),
        language: 'en',
        title: content.title,
        body: renderReport(content, path),
      })
    },
    async sendPdf(reply: FastifyReply, { orgId, content, path, fileName }: Report) {
      const bytes = await drawings.draw({
        content,
        brandName: (await findBrand(db.queries, orgId))?.name,
        url: path === undefined ? undefined : `${config.publicUrl ?? ''}${path}`,
        createdAt: clock.now(),
      })
      return reply
        .type('application/pdf')
        .headers({
          'content-disposition': `inline; filename="${fileName}"`,
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex',
        })
        .send(bytes)
    },
    sendMessage(reply: FastifyReply, status: number, title: string, text: string) {
      return sendPage(reply, status, { language: 'en', title, body: `<p>${escapeHtml(text)}</p>` })
    },
  }
}

function renderReport(content: ReportContent, path: string | undefined) {
  const { testNotice, job, summary, linkExpiry } = content
  return [
    testNotice ? `<p class="notice">${escapeHtml(testNotice)}</p>` : '',
    job ? `<p>${escapeHtml(job)}</p>` : '',
    `<p class="verdict">${escapeText(summary)}</p>`,
    path ? `<p class="screen"><a href="${path.slice(path.lastIndexOf('/') + 1)}.pdf">Open as PDF</a></p>` : '',
    ...sectionsBelowSummary(content).map(renderSection),
    linkExpiry ? `<p class="small">This link works until ${escapeHtml(linkExpiry)}.</p>` : '',
  ].join('\n')
}

function renderSection({ heading, paragraphs = [], list = [], skills = [], facts = [] }: ReportSection): string {
  return [
    `<h2>${escapeHtml(heading)}</h2>`,
    ...paragraphs.map((text) => `<p>${escapeText(text)}</p>`),
    list.length > 0 ? `<ul>${list.map((text) => `<li>${escapeText(text)}</li>`).join('')}</ul>` : '',
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
<td>${escapeText(evidence)}</td>
<td>${escapeText(questions)}</td></tr>`,
  )
  return `<div class="wide" role="region" aria-label="Skills" tabindex="0"><table><thead><tr><th scope="col">Skill</th><th scope="col">Verdict</th><th scope="col">Evidence</th><th scope="col">Questions</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`
}

/** Escapes a text. A number stays on the line of its unit: “97 % certain”, “14 s”. */
function escapeText(text: string): string {
  return escapeHtml(text.replace(/(\d) (%|s\b)( certain)?/g, (words) => words.replaceAll(' ', '\u00a0')))
}

const sendPage = createPlainPageSender(`${CARD_STYLE}
:root{--rule:#d9d7cf}
h2{font-size:1.1em;margin:1.6em 0 .3em}
.verdict{padding:12px 16px;border-left:4px solid var(--accent);background:var(--accent-tint);font-weight:600}
.notice{padding:8px 16px;border:1px solid #8d6708;border-radius:6px;background:#fff8e1;color:#5b4300}
.wide{overflow-x:auto}table{width:100%;border-collapse:collapse}th,td{padding:6px 20px 6px 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}th:last-child,td:last-child{padding-right:0}
dl{margin:0}dt{font-weight:600;margin-top:.5em}dd{margin:0}
@media (min-width:36rem){dl{display:grid;grid-template-columns:16rem minmax(0,1fr);gap:.4em 1.5em}dt{margin:0}}.small{font-size:.85em}
.wide:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
@media (max-width:520px){thead{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid var(--rule)}tbody th,td{display:block;padding:0;border:0}}
@media (prefers-color-scheme:dark){:root{--rule:#333b37}.notice{background:#3b2f0b;color:#ffe9a8;border-color:#d9a406}}
@media print{.screen{display:none}.verdict,.notice{background:none;color:#000}.wide{overflow:visible}h2,dt{break-after:avoid}tr,dd,li{break-inside:avoid}}`)
