import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { candidateReport } from '../../reports/report-content.ts'
import {
  createReportLink,
  listReportLinks,
  type ReportLink as ReportLinkRow,
  revokeReportLink,
} from '../../reports/report-links.ts'
import { openReportView } from '../../reports/report-view.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { getCandidate } from '../phone/phone.ts'
import { successResponse } from '../schema.ts'
import { CandidateParams, NewReportLink, ReportLink, ReportLinkInput } from './schema.ts'

const LinkParams = Type.Object({
  ...CandidateParams.properties,
  link_id: Type.String({ pattern: '^RL_[A-Z0-9]{10,40}$' }),
})

/** The report of a candidate as a PDF file, and the links with which it is shared. Everyone who sees results can share them. */
export function candidateReportRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const view = openReportView(app, context)

  app.get(
    '/orgs/:org/:mode/candidates/:candidate_id/report.pdf',
    { config: { role: 'viewer', recordsRead: true }, schema: { params: CandidateParams } },
    async (request, reply) => {
      const { caller, params } = request
      const candidate = await getCandidate(db.queries, caller, params.candidate_id)
      await view.limitRequests(request, true)
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'report.download', candidate.candidate_id))
      return view.sendPdf(reply, {
        orgId: caller.orgId,
        content: candidateReport(candidate, undefined),
        path: undefined,
        fileName: `report-${candidate.candidate_id}.pdf`,
      }) as never
    },
  )

  app.get(
    '/orgs/:org/:mode/candidates/:candidate_id/report-links',
    {
      config: { role: 'viewer' },
      schema: { params: CandidateParams, response: { 200: success(Type.Object({ items: Type.Array(ReportLink) })) } },
    },
    async ({ caller, params: { candidate_id } }) => {
      const links = await listReportLinks(db.queries, clock, caller, candidate_id)
      return successResponse('Links to the report', { items: links.map(linkRecord) })
    },
  )

  app.post(
    '/orgs/:org/:mode/candidates/:candidate_id/report-links',
    {
      config: { role: 'viewer' },
      schema: { params: CandidateParams, body: ReportLinkInput, response: { 200: success(NewReportLink) } },
    },
    async (request) => {
      const { caller, params, body, session } = request
      const { url, ...link } = await db.transaction(async (tx) => {
        const created = await createReportLink(tx, context, caller, {
          candidateId: params.candidate_id,
          days: body.days,
          createdBy: session.email,
        })
        const details = { link_id: created.link_id, days: body.days }
        await recordRequestAudit(tx, context, request, 'report.share', params.candidate_id, details)
        return created
      })
      return successResponse('Link created', { ...linkRecord(link), url })
    },
  )

  app.delete(
    '/orgs/:org/:mode/candidates/:candidate_id/report-links/:link_id',
    { config: { role: 'viewer' }, schema: { params: LinkParams, response: { 200: success(Type.Object({})) } } },
    async (request) => {
      const { candidate_id, link_id } = request.params
      await db.transaction(async (tx) => {
        if (await revokeReportLink(tx, clock, request.caller, candidate_id, link_id))
          await recordRequestAudit(tx, context, request, 'report.revoke', candidate_id, { link_id })
      })
      return successResponse('Link revoked', {})
    },
  )
}

function linkRecord({ candidate_id: _, created_at, expires_at, last_opened_at, ...link }: ReportLinkRow) {
  return {
    ...link,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    last_opened_at: last_opened_at?.toISOString() ?? null,
  }
}
