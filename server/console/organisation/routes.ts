import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { getOrganisation } from '../../access/organisations.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatSeconds } from '../../platform/clock.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { listAuditEntries } from '../audit.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { addMember, changeRole, listMembers, memberRecord, removeMember } from '../auth/members.ts'
import { MemberRoleSchema } from '../auth/schema.ts'
import { sendInvitation } from '../auth/sign-in-emails.ts'
import { paginate } from '../paginate.ts'
import { AuditEntry, closed, EmailAddress, successResponse } from '../schema.ts'
import { MemberRecord, OrganisationSummary, OrganisationWithRole } from './schema.ts'
import { organisationSummary } from './summary.ts'

const MemberParams = Type.Object({ member_id: Type.String({ pattern: '^MB_[A-Z0-9]{10,40}$' }) })

/** Limits the emails to one address when a member is added and removed repeatedly. */
const INVITATIONS_PER_ADDRESS: Rule = { name: 'console-invitations-to', kind: 'fixed', limit: 3, seconds: 3600 }

/** An organisation, its members and its audit log. */
export function organisationRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewer = { role: 'viewer' } as const
  const owner = { role: 'owner' } as const

  app.get(
    '/orgs/:org',
    { config: viewer, schema: { response: { 200: success(OrganisationWithRole) } } },
    async ({ orgAccess }) => {
      const { created_at, ...organisation } = await getOrganisation(db.queries, orgAccess.orgId)
      return successResponse('Organisation', {
        ...organisation,
        created_at: created_at.toISOString(),
        role: orgAccess.role,
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/summary',
    { config: viewer, schema: { response: { 200: success(OrganisationSummary) } } },
    async ({ caller }) => successResponse('Summary', await organisationSummary(context, caller)),
  )

  app.get(
    '/orgs/:org/members',
    { config: viewer, schema: { querystring: PageQuery, response: { 200: success(listOf(MemberRecord)) } } },
    async ({ orgAccess, query }) => {
      const page = await paginate(
        vault,
        `members of ${orgAccess.orgId}`,
        query,
        (before: string | undefined, limit) => listMembers(db.queries, orgAccess.orgId, { before, limit }),
        ({ member_id }) => member_id,
        memberRecord,
      )
      return successResponse('Members', page)
    },
  )

  app.post(
    '/orgs/:org/members',
    {
      config: owner,
      schema: {
        body: Type.Object({ email: EmailAddress, role: MemberRoleSchema }, closed),
        response: { 201: success(MemberRecord) },
      },
    },
    async (request, reply) => {
      const { orgAccess, body } = request
      await limitInvitations(body.email)
      const member = await db.transaction(async (tx) => {
        const { name } = await getOrganisation(tx, orgAccess.orgId)
        const created = await addMember(tx, clock, orgAccess.orgId, body)
        await sendInvitation(tx, context, created, name)
        await recordRequestAudit(tx, context, request, 'member.add', created.member_id, body)
        return created
      })
      reply.status(201)
      return successResponse('Member added', memberRecord(member))
    },
  )

  app.put(
    '/orgs/:org/members/:member_id',
    {
      config: owner,
      schema: {
        params: MemberParams,
        body: Type.Object({ role: MemberRoleSchema }, closed),
        response: { 200: success(MemberRecord) },
      },
    },
    async (request) => {
      const { orgAccess, params, body } = request
      const member = await db.transaction(async (tx) => {
        const changed = await changeRole(tx, orgAccess.orgId, params.member_id, body.role)
        const { email } = changed
        await recordRequestAudit(tx, context, request, 'member.change', changed.member_id, { email, role: body.role })
        return changed
      })
      return successResponse('Role changed', memberRecord(member))
    },
  )

  app.delete(
    '/orgs/:org/members/:member_id',
    { config: owner, schema: { params: MemberParams, response: { 200: success(MemberRecord) } } },
    async (request) => {
      const { orgAccess, params } = request
      const member = await db.transaction(async (tx) => {
        const removed = await removeMember(tx, orgAccess.orgId, params.member_id)
        await recordRequestAudit(tx, context, request, 'member.remove', removed.member_id, { email: removed.email })
        return removed
      })
      return successResponse('Member removed', memberRecord(member))
    },
  )

  app.get(
    '/orgs/:org/audit',
    { config: owner, schema: { querystring: PageQuery, response: { 200: success(listOf(AuditEntry)) } } },
    async ({ orgAccess, query }) => {
      const page = await paginate(
        vault,
        `changes of ${orgAccess.orgId}`,
        query,
        (before: string | undefined, limit) => listAuditEntries(db.queries, { orgId: orgAccess.orgId, before, limit }),
        ({ audit_id }) => audit_id,
        (entry) => entry,
      )
      return successResponse('Audit log', page)
    },
  )

  async function limitInvitations(email: string) {
    const addressHash = hashToken(email.toLowerCase()).toString('base64url')
    const { rejectedBy, retryAfter } = await context.limits.limiter.take(
      addressHash,
      [INVITATIONS_PER_ADDRESS],
      clock.now(),
    )
    if (rejectedBy === undefined) return
    throw problem('RATE_LIMITED', `This address was invited too often. Try again in ${formatSeconds(retryAfter)}.`, {
      retryAfter,
    })
  }
}
