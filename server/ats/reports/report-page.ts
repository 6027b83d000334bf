import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  describeEvidence,
  describeQualified,
  describeQuestions,
  describeReasons,
  describeVerifiedSkills,
} from '../../../sdk/verdict-texts.ts'
import { callerAddress } from '../../access/client-address.ts'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import { type Candidacy, findCandidacy } from '../../campaigns/candidacy.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import type { App } from '../../platform/http/server.ts'
import { resultOutput } from '../../results/record.ts'
import { escapeHtml } from '../../web-assets/assets.ts'
import { openCredentials } from '../connections.ts'
import { type AtsOrder, findOrderById } from '../orders.ts'
import { questionTextOf } from '../outcome.ts'
import { isSignedBy, parseReportToken } from './links.ts'

/** A high limit, because the people of one company share an address. */
const ADDRESS_RULE: Rule = { name: 'report-address', kind: 'fixed', limit: 300, seconds: 60 }

/**
 * The page behind the link in a report, as plain HTML: a hiring manager opens it without an account, and prints it or saves it as PDF. It
 * shows the result, without phone number and email address.
 */
export function reportPageRoutes(app: App, context: Context): void {
  const { db, clock, limits, vault, keyring } = context
  app.get('/reports/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    const { rejectedBy, retryAfter } = await limits.limiter.take(callerAddress(request.ip), [ADDRESS_RULE], clock.now())
    if (rejectedBy !== undefined)
      throw problem('RATE_LIMITED', `Too many requests. Try again in ${formatSeconds(retryAfter)}.`, { retryAfter })
    const token = parseReportToken((request.params as { token: string }).token)
    const order = token && (await findOrderById(db.queries, token.orderId))
    const isValid = order && isSignedBy(token, (await openCredentials(db.queries, vault, order.connection_id)).linkKey)
    if (!isValid)
      return sendPage(
        reply,
        404,
        'Report not found',
        '<p>This link is not valid. Open the report from your ATS again.</p>',
      )
    request.tenant.scope = { orgId: order.org_id, mode: order.mode }
    if (clock.now() >= token.expiresAtSeconds * 1000)
      return sendPage(
        reply,
        410,
        'This link has expired',
        '<p>Ask the recruiter to send the report again from Attestry. Your ATS then shows a new link.</p>',
      )
    await keyring.refreshIfStale()
    if (keyring.isServicePaused(order.org_id))
      return sendPage(reply, 503, 'Report not available', '<p>The service is paused. Try again later.</p>')
    const candidate = order.candidate_id === null ? undefined : await findCandidacy(db.queries, order.candidate_id)
    return sendPage(
      reply,
      200,
      `Report: ${order.candidate_name}`,
      renderReport(order, candidate, token.expiresAtSeconds),
    )
  })
}

function renderReport(order: AtsOrder, candidate: Candidacy | undefined, expiresAtSeconds: number): string {
  const { outcome } = order
  const job = candidate && `${candidate.flow.title}, ${candidate.flow.company_name}`
  const expiry = formatDate(new Date(expiresAtSeconds * 1000))
  return [
    order.mode === 'test' ? '<p class="notice">TEST: this is not the report of a real person.</p>' : '',
    job ? `<p>${escapeHtml(job)}</p>` : '',
    outcome
      ? `<p class="verdict">${escapeHtml(outcome.summary)}</p>${candidate ? renderResult(candidate) : ''}`
      : `<p class="verdict">${order.state === 'started' ? 'The candidate has started and not finished yet.' : 'The candidate has not started yet.'} This page shows the result when it is ready.</p>`,
    candidate ? renderFacts(candidate) : '',
    '<h2>What this shows</h2>',
    '<p>A verdict is given only if the answers show it with a certainty of at least 95 %. Otherwise the skill is inconclusive: neither verdict is certain enough. Questions are drawn for each candidate.</p>',
    `<p class="small">This link works until ${expiry}. To save the report as PDF, print the page.</p>`,
  ].join('\n')
}

function renderResult(candidate: Candidacy): string {
  const output = resultOutput(candidate)
  const skills = output.skills ?? []
  const parts: string[] = []
  if (candidate.status === 'completed') {
    const reasons = describeReasons(output, {
      withEvidence: true,
      questionText: (key) => questionTextOf(candidate, key),
    })
    parts.push(`<h2>Verdict</h2><p>${capitalise(describeQualified(output.qualified))}</p>`)
    if (reasons.length > 0)
      parts.push(`<ul>${reasons.map((reason) => `<li>${escapeHtml(capitalise(reason))}</li>`).join('')}</ul>`)
  }
  if (skills.length > 0) {
    const rows = skills.map(
      ({ name, verdict, evidence, ...counts }) => `<tr><th scope="row">${escapeHtml(name)}</th>
<td>${escapeHtml(capitalise(verdict.replace('_', ' ')))}</td>
<td>${escapeHtml(describeEvidence({ verdict, ...counts }))}</td>
<td>${escapeHtml(evidence ? describeQuestions(evidence) : '–')}</td></tr>`,
    )
    parts.push(`<h2>Skills</h2><p>${escapeHtml(describeVerifiedSkills(skills))}</p>
<div class="wide" role="region" aria-label="Skills" tabindex="0"><table><thead><tr><th scope="col">Skill</th><th scope="col">Verdict</th><th scope="col">Evidence</th><th scope="col">Questions</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`)
  }
  const answers = Object.entries(output.enrichment ?? {})
  if (answers.length > 0) {
    const items = answers.map(
      ([key, { answer, knocked_out }]) =>
        `<dt>${escapeHtml(questionTextOf(candidate, key) ?? key)}</dt><dd dir="auto">${escapeHtml(withoutContactData(capitalise(answer)))}${knocked_out ? ' (required answer not given)' : ''}</dd>`,
    )
    parts.push(`<h2>Answers</h2><dl>${items.join('\n')}</dl>`)
  }
  if (output.interest)
    parts.push(
      `<h2>Interest</h2><p>${output.interest === 'interested' ? 'Interested in the job.' : 'Not interested in the job.'}</p>`,
    )
  return parts.join('\n')
}

function renderFacts(candidate: Candidacy): string {
  const languageName = new Intl.DisplayNames('en', { type: 'language' }).of(candidate.state.language)
  const facts: [string, string | undefined][] = [
    ['Invited', formatDate(candidate.created_at)],
    ['Finished', candidate.completed_at ? formatDate(candidate.completed_at) : undefined],
    ['Language', languageName],
  ]
  const rows = facts.flatMap(([name, value]) => (value ? [`<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`] : []))
  return `<h2>Dates</h2><dl>${rows.join('\n')}</dl>`
}

/** Removes email addresses and phone numbers that a candidate wrote into an answer. */
function withoutContactData(text: string): string {
  return text.replace(/[^\s@]+@[^\s@]+\.[^\s@]+/g, '[email address]').replace(/\+?\d(?:[\s().-]?\d){7,14}/g, '[number]')
}

function formatDate(date: Date): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'Asia/Kolkata' }).format(date)
}

function capitalise(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

const STYLE = `:root{color-scheme:light dark}
body{margin:0;padding:24px 16px;font:17px/1.5 system-ui,'Noto Sans',sans-serif;color:#1f2933;background:#fff}
main{max-width:46rem;margin:0 auto}h1{font-size:1.5em;line-height:1.3;margin:0 0 .3em}h2{font-size:1.1em;margin:1.6em 0 .3em}
.verdict{padding:12px 16px;border-left:4px solid #1d5fbf;background:#eef4fc;font-weight:600}
.notice{padding:8px 16px;border:1px solid #8d6708;border-radius:6px;background:#fff8e1;color:#5b4300}
.wide{overflow-x:auto}table{width:100%;border-collapse:collapse}th,td{padding:6px 10px 6px 0;border-bottom:1px solid #9aa5b1;text-align:left;vertical-align:top}
dl{margin:0}dt{font-weight:600;margin-top:.5em}dd{margin:0}.small{font-size:.85em}
.wide:focus-visible{outline:3px solid #f0b429;outline-offset:2px}
@media (max-width:520px){thead{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid #9aa5b1}tbody th,td{display:block;padding:0;border:0}}
@media (prefers-color-scheme:dark){body{color:#e4e7eb;background:#16202b}.verdict{background:#1f2f42;border-color:#6ea8fe}
.notice{background:#3b2f0b;color:#ffe9a8;border-color:#d9a406}}
@media print{:root{color-scheme:light}body{padding:0;font-size:11pt;color:#000;background:#fff}.verdict{background:none;color:#000}.wide{overflow:visible}
h2{break-after:avoid}tr,dd{break-inside:avoid}}`

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** `body` is escaped markup. */
function sendPage(reply: FastifyReply, status: number, title: string, body: string) {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`
  return reply.status(status).type('text/html; charset=utf-8').headers(HEADERS).send(html)
}
