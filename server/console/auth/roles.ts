import { allScopes, type Scope } from '../../access/scopes.ts'

export const memberRoles = ['viewer', 'recruiter', 'owner'] as const
export type MemberRole = (typeof memberRoles)[number]

/** Each role includes the permissions of the roles before it. */
const ROLE_ORDER = [...memberRoles, 'operator'] as const
export type ConsoleRole = (typeof ROLE_ORDER)[number]

export function isAtLeast(role: ConsoleRole, required: ConsoleRole): boolean {
  return ROLE_ORDER.indexOf(role) >= ROLE_ORDER.indexOf(required)
}

/**
 * Returns whether a member may edit the organisation's own questions, and therefore see their texts. Operators who do not belong to the
 * organisation may not, whatever else they may do.
 */
export function mayEditOwnQuestions({ memberRole }: { memberRole?: ConsoleRole }): boolean {
  return memberRole !== undefined && isAtLeast(memberRole, 'owner')
}

const RECRUITER_SCOPES: Scope[] = ['workflows:write', 'mandates:write', 'campaigns:write', 'skills:request']
// Only owners find and export people: an export has everything that is stored about a person.
const readScopes = allScopes.filter((scope) => scope.endsWith(':read') && scope !== 'people:read')

const SCOPES_BY_ROLE: Record<ConsoleRole, ReadonlySet<Scope>> = {
  viewer: new Set(readScopes),
  recruiter: new Set([...readScopes, ...RECRUITER_SCOPES]),
  owner: new Set(allScopes),
  operator: new Set(allScopes),
}

/** Returns the partner API scopes of a role. */
export function scopesOfRole(role: ConsoleRole): ReadonlySet<Scope> {
  return SCOPES_BY_ROLE[role]
}
