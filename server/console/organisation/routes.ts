import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { getOrganisation } from '../../access/organisations.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { seconds } from '../../platform/clock.ts'
import type { App } from '../../platform/http/server.ts'
import { listChanges } from '../audit.ts'
import { noteChange } from '../auth/guards.ts'
import { addMember, changeRole, listMembers, memberRecord, removeMember } from '../auth/members.ts'
import { memberRoles } from '../auth/roles.ts'
import { hashToken } from '../auth/sessions.ts'
import { sendInvitation } from '../auth/sign-in-emails.ts'
import { pageOf } from '../paginate.ts'
import { answer, closed, Mail, PageQuery } from '../schema.ts'
import { summaryOf } from './summary.ts'

const MemberParams = Type.Object({ member_id: Type.String({ pattern: '^MB_[A-Z0-9]{10,40}$' }) })
const Role = Type.Enum([...memberRoles])

/** However often somebody is added and removed again, their mailbox is not to suffer for it. */
const INVITATIONS_TO: Rule = { name: 'console-invitations-to', kind: 'fixed', limit: 3, seconds: 3600 }

/** An organisation, its people, and what was changed in it. */
export function organisationRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewer = { role: 'viewer' } as const
  const owner = { role: 'owner' } as const

  app.get('/orgs/:org', { config: viewer }, async ({ place }) => {
    const { created_at, ...organisation } = await getOrganisation(db.queries, place.orgId)
    return answer('Organisation', { ...organisation, created_at: created_at.toISOString(), role: place.role })
  })

  app.get('/orgs/:org/:mode/summary', { config: viewer }, async ({ caller }) =>
    answer('Summary', await summaryOf(context, caller)),
  )

  app.get('/orgs/:org/members', { config: viewer, schema: { querystring: PageQuery } }, async ({ place, query }) => {
    const page = await pageOf(
      vault,
      `members of ${place.orgId}`,
      query,
      (before: string | undefined, limit) => listMembers(db.queries, place.orgId, { before, limit }),
      ({ member_id }) => member_id,
      memberRecord,
    )
    return answer('Members', page)
  })

  app.post(
    '/orgs/:org/members',
    { config: owner, schema: { body: Type.Object({ email: Mail, role: Role }, closed) } },
    async (request, reply) => {
      const { place, body } = request
      await allowInvitation(body.email)
      const member = await db.transaction(async (tx) => {
        const { name } = await getOrganisation(tx, place.orgId)
        const made = await addMember(tx, clock, place.orgId, body)
        await sendInvitation(tx, context, made, name)
        await noteChange(tx, context, request, 'member.add', made.member_id, body)
        return made
      })
      reply.status(201)
      return answer('Member added', memberRecord(member))
    },
  )

  app.put(
    '/orgs/:org/members/:member_id',
    { config: owner, schema: { params: MemberParams, body: Type.Object({ role: Role }, closed) } },
    async (request) => {
      const { place, params, body } = request
      const member = await db.transaction(async (tx) => {
        const changed = await changeRole(tx, place.orgId, params.member_id, body.role)
        const { email } = changed
        await noteChange(tx, context, request, 'member.change', changed.member_id, { email, role: body.role })
        return changed
      })
      return answer('Role changed', memberRecord(member))
    },
  )

  app.delete('/orgs/:org/members/:member_id', { config: owner, schema: { params: MemberParams } }, async (request) => {
    const { place, params } = request
    const member = await db.transaction(async (tx) => {
      const removed = await removeMember(tx, place.orgId, params.member_id)
      await noteChange(tx, context, request, 'member.remove', removed.member_id, { email: removed.email })
      return removed
    })
    return answer('Member removed', memberRecord(member))
  })

  app.get('/orgs/:org/audit', { config: owner, schema: { querystring: PageQuery } }, async ({ place, query }) => {
    const page = await pageOf(
      vault,
      `changes of ${place.orgId}`,
      query,
      (before: string | undefined, limit) => listChanges(db.queries, { orgId: place.orgId, before, limit }),
      ({ audit_id }) => audit_id,
      (entry) => entry,
    )
    return answer('Changes', page)
  })

  async function allowInvitation(email: string) {
    const who = hashToken(email.toLowerCase()).toString('base64url')
    const { refused, retryAfter } = await context.limits.limiter.take(who, [INVITATIONS_TO], clock.now())
    if (refused === undefined) return
    throw problem('RATE_LIMITED', `This address was invited often; try again in ${seconds(retryAfter)}.`, {
      retryAfter,
    })
  }
}
