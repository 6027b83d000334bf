import { type Scope, scopes } from '../../access/scopes.ts'

export const memberRoles = ['viewer', 'recruiter', 'owner'] as const
/** What a person may do in an organisation. */
export type MemberRole = (typeof memberRoles)[number]

/** Each may do what those before it may. */
const order = [...memberRoles, 'operator'] as const
export type Role = (typeof order)[number]

export function isAtLeast(role: Role, least: Role): boolean {
  return order.indexOf(role) >= order.indexOf(least)
}

const RECRUITING: Scope[] = ['workflows:write', 'mandates:write', 'campaigns:write', 'skills:request']
const reading = scopes.filter((scope) => scope.endsWith(':read'))

const scopesOfRoles: Record<Role, ReadonlySet<Scope>> = {
  viewer: new Set(reading),
  recruiter: new Set([...reading, ...RECRUITING]),
  owner: new Set(scopes),
  operator: new Set(scopes),
}

/** What the role may do with the partner API's routes, in that API's own terms. */
export function scopesOf(role: Role): ReadonlySet<Scope> {
  return scopesOfRoles[role]
}
