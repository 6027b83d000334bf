import type { FastifyReply, FastifyRequest } from 'fastify'
import { findCandidacy } from '../../campaigns/candidacy.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { reportContent } from '../../reports/report-content.ts'
import { parseReportFile, type ReportView } from '../../reports/report-view.ts'
import { describePending } from '../../reports/summary.ts'
import { openCredentials } from '../connections.ts'
import { findOrderById } from '../orders.ts'
import { isSignedBy, parseReportToken } from './links.ts'

/**
 * The page behind the link in a report, as plain HTML and, with `.pdf` at the end of the address, as a PDF file: a hiring manager opens it
 * without an account.
 */
export function reportPageRoutes(app: App, { db, clock, vault, keyring }: Context, view: ReportView): void {
  app.get('/reports/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    const { token: tokenText, isPdf } = parseReportFile(request)
    await view.limitRequests(request, isPdf)
    const token = parseReportToken(tokenText)
    const order = token && (await findOrderById(db.queries, token.orderId))
    const isValid = order && isSignedBy(token, (await openCredentials(db.queries, vault, order.connection_id)).linkKey)
    if (!isValid)
      return view.sendMessage(
        reply,
        404,
        'Report not found',
        'This link is not valid. Open the report from your ATS again.',
      )
    request.tenant.scope = { orgId: order.org_id, mode: order.mode }
    const expiresAt = token.expiresAtSeconds * 1000
    if (clock.now() >= expiresAt)
      return view.sendMessage(
        reply,
        410,
        'This link has expired',
        'Ask the recruiter to send the report again from Attestry. Your ATS then shows a new link.',
      )
    await keyring.refreshIfStale()
    if (keyring.isServicePaused(order.org_id))
      return view.sendMessage(reply, 503, 'Report not available', 'The service is paused. Try again later.')
    const candidate = order.candidate_id === null ? undefined : await findCandidacy(db.queries, order.candidate_id)
    const report = {
      orgId: order.org_id,
      content: reportContent({
        name: order.candidate_name,
        mode: order.mode,
        summary: order.outcome?.summary ?? describePending(order.state === 'started'),
        candidate,
        hasResult: order.outcome !== null,
        linkExpiresAt: expiresAt,
      }),
      path: `/reports/${tokenText}`,
      fileName: `report-${order.order_id}.pdf`,
    }
    return isPdf ? view.sendPdf(reply, report) : view.sendPage(reply, report)
  })
}
