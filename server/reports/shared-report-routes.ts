import type { FastifyReply, FastifyRequest } from 'fastify'
import { findCandidacy } from '../campaigns/candidacy.ts'
import type { Context } from '../context.ts'
import type { App } from '../platform/http/server.ts'
import { candidateReport } from './report-content.ts'
import { countOpened, findReportLink, sharedReportPath } from './report-links.ts'
import { parseReportFile, type ReportView } from './report-view.ts'

const TOKEN_PATTERN = /^[A-Za-z0-9_-]{43}$/
const ASK_FOR_LINK = 'Ask the recruiter who sent it for a new link.'

/**
 * The report behind a link that a recruiter shared, as plain HTML and, with `.pdf` at the end of the address, as a PDF file: a hiring
 * manager opens it without an account.
 */
export function sharedReportRoutes(app: App, { db, clock, keyring }: Context, view: ReportView): void {
  app.get('/shared-reports/:file', async (request: FastifyRequest, reply: FastifyReply) => {
    const { token, isPdf } = parseReportFile(request)
    await view.limitRequests(request, isPdf)
    const link = TOKEN_PATTERN.test(token) ? await findReportLink(db.queries, token) : undefined
    if (!link) return view.sendMessage(reply, 404, 'Report not found', `This link is not valid. ${ASK_FOR_LINK}`)
    request.tenant.scope = { orgId: link.org_id, mode: link.mode }
    if (link.revoked_at !== null)
      return view.sendMessage(reply, 410, 'This link was revoked', `The report is no longer shared. ${ASK_FOR_LINK}`)
    if (clock.now() >= link.expires_at.getTime())
      return view.sendMessage(reply, 410, 'This link has expired', ASK_FOR_LINK)
    await keyring.refreshIfStale()
    if (keyring.isServicePaused(link.org_id))
      return view.sendMessage(reply, 503, 'Report not available', 'The service is paused. Try again later.')
    const candidate = await findCandidacy(db.queries, link.candidate_id)
    if (!candidate || candidate.person_key === null || candidate.is_restricted)
      return view.sendMessage(reply, 404, 'Report not available', 'The report can no longer be shown.')
    await db.transaction((tx) => countOpened(tx, clock, link.link_id))
    const report = {
      orgId: link.org_id,
      content: candidateReport(candidate, link.expires_at.getTime()),
      path: sharedReportPath(token),
      fileName: `report-${candidate.candidate_id}.pdf`,
    }
    return isPdf ? view.sendPdf(reply, report) : view.sendPage(reply, report)
  })
}
