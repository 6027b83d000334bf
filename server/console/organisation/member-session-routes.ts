import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { getMember } from '../auth/members.ts'
import { findOperator } from '../auth/operators.ts'
import { MemberSession, SessionParam } from '../auth/schema.ts'
import { endAllSessions, endOwnSession, listSessions, sessionRecord } from '../auth/sessions.ts'
import { successResponse } from '../schema.ts'
import { memberParams } from './schema.ts'

/** Routes with which owners see and end the sessions in which a member has opened the organisation. */
export function memberSessionRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const config = { role: 'owner' } as const

  app.get(
    '/orgs/:org/members/:member_id/sessions',
    { config, schema: { params: Type.Object(memberParams), response: { 200: success(listOf(MemberSession)) } } },
    async ({ orgAccess, params }) => {
      const { email } = await getMember(db.queries, orgAccess.orgId, params.member_id)
      // As in the audit log, an organisation does not see the addresses of operators.
      const isOperator = (await findOperator(db.queries, email)) !== undefined
      const sessions = (await listSessions(db.queries, clock, email, { orgId: orgAccess.orgId })).map(sessionRecord)
      const items = isOperator ? sessions.map((each) => ({ ...each, address: null, user_agent: null })) : sessions
      return successResponse('Sessions', { items, next_cursor: null })
    },
  )

  // These routes need no recent sign-in: ending a session of another person must be possible at once.
  app.delete(
    '/orgs/:org/members/:member_id/sessions',
    { config, schema: { params: Type.Object(memberParams) } },
    async (request) => {
      const { orgAccess, params } = request
      const ended = await db.transaction(async (tx) => {
        const { email } = await getMember(tx, orgAccess.orgId, params.member_id)
        const count = await endAllSessions(tx, email, { orgId: orgAccess.orgId })
        await recordRequestAudit(tx, context, request, 'member.end_sessions', params.member_id, { email, count })
        return count
      })
      return successResponse('Sessions ended', { ended })
    },
  )

  app.delete(
    '/orgs/:org/members/:member_id/sessions/:session_id',
    { config, schema: { params: Type.Object({ ...memberParams, session_id: SessionParam }) } },
    async (request) => {
      const { orgAccess, params } = request
      const { member_id, session_id } = params
      await db.transaction(async (tx) => {
        const { email } = await getMember(tx, orgAccess.orgId, member_id)
        if (!(await endOwnSession(tx, email, session_id, { orgId: orgAccess.orgId })))
          throw problem('NOT_FOUND', `Session ${session_id} of member ${member_id} not found.`)
        await recordRequestAudit(tx, context, request, 'member.end_session', member_id, { email, session_id })
      })
      return successResponse('Session ended', {})
    },
  )
}
