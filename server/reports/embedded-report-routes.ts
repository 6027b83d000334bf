import { Type } from 'typebox'
import { servicePausedProblem } from '../access/service-switch.ts'
import { problem } from '../api/problem.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import type { Context } from '../context.ts'
import { findOpenedPage, pageEnd } from '../embeds/embed-sessions.ts'
import { embedResponse } from '../embeds/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { candidateReport } from './report-content.ts'
import type { ReportView } from './report-view.ts'

const text = Type.String()
const ReportSection = named(
  'ReportSection',
  Type.Object({
    heading: text,
    paragraphs: Type.Optional(Type.Array(text)),
    list: Type.Optional(Type.Array(text)),
    skills: Type.Optional(
      Type.Array(named('ReportSkill', Type.Object({ name: text, verdict: text, evidence: text, questions: text }))),
    ),
    facts: Type.Optional(Type.Array(named('ReportFact', Type.Object({ name: text, value: text })))),
  }),
)
const EmbeddedReport = named(
  'EmbeddedReport',
  Type.Object({
    title: text,
    testNotice: Type.Optional(text),
    job: Type.Optional(text),
    summary: text,
    sections: Type.Array(ReportSection),
  }),
)

/** The report that an embedded page shows. The token of the page is the only credential. */
export function embeddedReportRoutes(app: App, { db, clock, keyring }: Context, view: ReportView): void {
  app.get(
    '/embedded-report',
    { schema: { response: { 200: embedResponse(EmbeddedReport) } } },
    async (request, reply) => {
      await view.limitRequests(request, false)
      const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
      if (token === undefined)
        throw problem('UNAUTHORIZED', 'Send the token of the page as `Authorization: Bearer TOKEN`.')
      const page = await findOpenedPage(db.queries, 'report', token)
      if (!page) throw problem('NOT_FOUND', 'This link is not valid.')
      request.tenant.scope = { orgId: page.org_id, mode: page.mode }
      const end = pageEnd(page, clock)
      if (end === 'erased') throw problem('DATA_ERASED', 'The data of this person was erased.')
      if (end !== undefined)
        throw problem('LINK_EXPIRED', 'This embedded page has ended. Reload the page that contains it.')
      await keyring.refreshIfStale()
      if (keyring.isServicePaused(page.org_id)) throw servicePausedProblem()
      const candidate = await findCandidacy(db.queries, page.target_id)
      if (!candidate || candidate.person_key === null || candidate.is_restricted)
        throw problem('NOT_FOUND', 'The report can no longer be shown.')
      const { linkExpiry: _, ...report } = candidateReport(candidate, undefined)
      reply.header('cache-control', 'no-store')
      return { success: true as const, data: report }
    },
  )
}
