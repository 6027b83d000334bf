import { type ConsoleRole, isAtLeast } from '../auth/roles.ts'
import type { IdentityProvider } from './identity-providers.ts'

/** Returns the highest role of the groups, or the default role; undefined if there is none. */
export function roleOfGroups(
  { role_mappings, default_role }: Pick<IdentityProvider, 'role_mappings' | 'default_role'>,
  groups: readonly unknown[],
): ConsoleRole | undefined {
  return role_mappings
    .filter(({ group }) => groups.includes(group))
    .map(({ role }) => role)
    .reduce<ConsoleRole | undefined>(
      (highest, role) => (highest && isAtLeast(highest, role) ? highest : role),
      default_role ?? undefined,
    )
}
