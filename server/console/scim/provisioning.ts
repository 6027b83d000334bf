import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { recordAuditEntry } from '../audit.ts'
import { providerName, renameMember } from '../auth/member-names.ts'
import { addMember, changeMemberEmail, deprovisionMember, findMemberByEmail, setMemberRole } from '../auth/members.ts'
import type { MemberRole } from '../auth/roles.ts'
import type { IdentityProvider } from '../identity-providers/identity-providers.ts'
import { roleOfGroups } from '../identity-providers/role-mapping.ts'
import { listGroupNames } from './groups.ts'
import { findScimUsers, listScimUsers, type ScimUser } from './users.ts'

export interface ProvisioningDeps extends Pick<Context, 'clock'> {
  requestId: string
}

/**
 * Makes the membership match a user of the provider: an active user with a role is a member, others are not and lose their sessions.
 * `previousEmail` is the address before a change. The organisation must be locked.
 */
export async function provisionUser(
  tx: Tx,
  { clock, requestId }: ProvisioningDeps,
  provider: IdentityProvider,
  user: ScimUser,
  previousEmail = user.email,
): Promise<void> {
  const orgId = provider.org_id!
  const { email } = user
  const entry = { actor: 'server' as const, orgId, requestId }
  const detailsOf = (details: object) => ({ email, how: 'scim', provider_id: provider.provider_id, ...details })
  if (previousEmail.toLowerCase() !== email.toLowerCase()) {
    if (await changeMemberEmail(tx, orgId, previousEmail, email))
      await recordAuditEntry(tx, clock, { ...entry, action: 'member.email', details: detailsOf({}) })
    else await endMembership(tx, { clock, requestId }, provider, previousEmail) // a member has the new address already
  }
  const role = user.active ? roleOfGroups(provider, await listGroupNames(tx, user.user_id)) : undefined
  if (role === undefined) return endMembership(tx, { clock, requestId }, provider, email)
  const member = await findMemberByEmail(tx, orgId, email)
  const name = nameOf(user)
  if (!member) {
    const { member_id } = await addMember(tx, clock, orgId, { email, name, role: role as MemberRole })
    const details = detailsOf({ role })
    return recordAuditEntry(tx, clock, { ...entry, action: 'member.add', subject: member_id, details })
  }
  if (name !== null && name !== member.name) await renameMember(tx, member.member_id, name)
  if (provider.role_mappings.length === 0 || member.role === role) return undefined
  const changed = await setMemberRole(tx, member, role as MemberRole)
  const details = detailsOf({ role, ...(changed ? {} : { skipped: 'only owner' }) })
  return recordAuditEntry(tx, clock, { ...entry, action: 'member.change', subject: member.member_id, details })
}

/** Returns the name of a user, which replaces the one that the member chose. */
function nameOf({ display_name, given_name, family_name }: ScimUser): string | null {
  return providerName(display_name) ?? providerName([given_name, family_name].filter(Boolean).join(' '))
}

/** Ends the membership of a deactivated or deleted user, also if they are the only owner: an operator can add another one. */
export async function endMembership(
  tx: Tx,
  { clock, requestId }: ProvisioningDeps,
  { org_id, provider_id }: IdentityProvider,
  email: string,
): Promise<void> {
  const memberId = await deprovisionMember(tx, org_id!, email)
  if (!memberId) return
  const details = { email, how: 'scim', provider_id }
  await recordAuditEntry(tx, clock, {
    actor: 'server',
    orgId: org_id!,
    action: 'member.remove',
    subject: memberId,
    details,
    requestId,
  })
}

/** Provisions the users again whose groups have changed. */
export async function provisionUsers(
  tx: Tx,
  deps: ProvisioningDeps,
  provider: IdentityProvider,
  userIds: string[],
): Promise<void> {
  for (const user of await findScimUsers(tx, { providerId: provider.provider_id }, userIds))
    await provisionUser(tx, deps, provider, user)
}

/** Provisions all users again, after a change of the role mappings. */
export async function provisionAllUsers(tx: Tx, deps: ProvisioningDeps, provider: IdentityProvider): Promise<void> {
  for (const user of await listScimUsers(tx, { providerId: provider.provider_id }))
    await provisionUser(tx, deps, provider, user)
}
