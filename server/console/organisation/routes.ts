import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { getOrganisation } from '../../access/organisations.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatWait } from '../../platform/clock.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { MemberName, parseMemberName } from '../auth/member-names.ts'
import {
  addMember,
  changeMemberRole,
  findMemberByEmail,
  getMember,
  listMembers,
  lockMembers,
  memberRecord,
  removeMember,
} from '../auth/members.ts'
import { MemberRoleSchema } from '../auth/schema.ts'
import { inviterOf, sendInvitation } from '../auth/sign-in-emails.ts'
import { countOpenAssignments } from '../candidates/assignments.ts'
import { paginate } from '../paginate.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'
import { MemberRecord, memberParams, OrganisationSummary, OrganisationWithRole } from './schema.ts'
import { organisationSummary } from './summary.ts'

const MemberParams = Type.Object(memberParams)

/** Limits the invitation emails to one address when a member is added and removed repeatedly. */
const INVITATIONS_PER_ADDRESS: Rule = { name: 'console-invitations-to', kind: 'fixed', limit: 3, seconds: 3600 }

/** Routes for an organisation, its members and its audit log. */
export function organisationRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewerConfig = { role: 'viewer' } as const
  const memberChangeConfig = { role: 'owner', recentSignIn: true } as const

  app.get(
    '/orgs/:org',
    // The name of an organisation is not recorded as a read: an operator's page of the list contains it, too.
    { config: { ...viewerConfig, recordsRead: true }, schema: { response: { 200: success(OrganisationWithRole) } } },
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
    { config: viewerConfig, schema: { response: { 200: success(OrganisationSummary) } } },
    async ({ caller, session }) => {
      const member = await findMemberByEmail(db.queries, caller.orgId, session.email)
      return successResponse('Summary', {
        ...(await organisationSummary(context, caller)),
        assigned_to_me: member ? await countOpenAssignments(db.queries, caller, member.member_id) : 0,
      })
    },
  )

  app.get(
    '/orgs/:org/members',
    { config: viewerConfig, schema: { querystring: PageQuery, response: { 200: success(listOf(MemberRecord)) } } },
    async ({ orgAccess, query }) => {
      const resultPage = await paginate(
        vault,
        `members of ${orgAccess.orgId}`,
        query,
        (before: string | undefined, limit) => listMembers(db.queries, orgAccess.orgId, { before, limit }),
        ({ member_id }) => member_id,
        memberRecord,
      )
      return successResponse('Members', resultPage)
    },
  )

  app.post(
    '/orgs/:org/members',
    {
      config: memberChangeConfig,
      schema: {
        body: Type.Object({ email: EmailAddress, name: Type.Optional(MemberName), role: MemberRoleSchema }, closed),
        response: { 201: success(MemberRecord) },
      },
    },
    async (request, reply) => {
      const { orgAccess, body } = request
      const { email, role } = body
      const memberName = body.name?.trim() ? parseMemberName(body.name) : undefined
      await limitInvitations(email)
      const member = await db.transaction(async (tx) => {
        const { name } = await getOrganisation(tx, orgAccess.orgId)
        const createdMember = await addMember(tx, clock, orgAccess.orgId, { email, name: memberName, role })
        await sendInvitation(tx, context, createdMember, name, inviterOf(request))
        await recordRequestAudit(tx, context, request, 'member.add', createdMember.member_id, { email, role })
        return createdMember
      })
      reply.status(201)
      return successResponse('Member added', memberRecord(member))
    },
  )

  app.put(
    '/orgs/:org/members/:member_id',
    {
      config: memberChangeConfig,
      schema: {
        params: MemberParams,
        body: Type.Object({ role: MemberRoleSchema }, closed),
        response: { 200: success(MemberRecord) },
      },
    },
    async (request) => {
      const { orgAccess, params, body } = request
      const member = await db.transaction(async (tx) => {
        const changedMember = await changeMemberRole(tx, orgAccess.orgId, params.member_id, body.role)
        const { email } = changedMember
        await recordRequestAudit(tx, context, request, 'member.change', changedMember.member_id, {
          email,
          role: body.role,
        })
        return changedMember
      })
      return successResponse('Role changed', memberRecord(member))
    },
  )

  app.delete(
    '/orgs/:org/members/:member_id',
    { config: memberChangeConfig, schema: { params: MemberParams, response: { 200: success(MemberRecord) } } },
    async (request) => {
      const { orgAccess, params } = request
      const member = await db.transaction(async (tx) => {
        const removedMember = await removeMember(tx, orgAccess.orgId, params.member_id)
        await recordRequestAudit(tx, context, request, 'member.remove', removedMember.member_id, {
          email: removedMember.email,
        })
        return removedMember
      })
      return successResponse('Member removed', memberRecord(member))
    },
  )

  app.post(
    '/orgs/:org/members/:member_id/invite',
    { config: memberChangeConfig, schema: { params: MemberParams, response: { 200: success(MemberRecord) } } },
    async (request) => {
      const { orgAccess, params } = request
      await limitInvitations((await getMember(db.queries, orgAccess.orgId, params.member_id)).email)
      const member = await db.transaction(async (tx) => {
        await lockMembers(tx, orgAccess.orgId)
        const invitedMember = await getMember(tx, orgAccess.orgId, params.member_id)
        const { name } = await getOrganisation(tx, orgAccess.orgId)
        await sendInvitation(tx, context, invitedMember, name, inviterOf(request))
        const { member_id, email } = invitedMember
        await recordRequestAudit(tx, context, request, 'member.invite', member_id, { email })
        return invitedMember
      })
      return successResponse('Invitation sent', memberRecord(member))
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
    throw problem('RATE_LIMITED', `This email address was invited too often. Try again in ${formatWait(retryAfter)}.`, {
      retryAfter,
    })
  }
}
