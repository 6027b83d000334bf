import { Type } from 'typebox'
import { scopes } from '../../access/scopes.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { memberRoles } from './roles.ts'

/** Responses of the session routes, and roles. */

export const ScopeSchema = named('Scope', Type.Enum([...scopes]))
export const MemberRoleSchema = named('MemberRole', Type.Enum([...memberRoles]))
export const RoleSchema = named('ConsoleRole', Type.Enum([...memberRoles, 'operator']))

export const SignInOptions = named(
  'SignInOptions',
  Type.Object({
    mails: Type.Enum(['sent', 'kept'], { description: '`kept`: no mail server is set up; the operator reads emails.' }),
    first_start: Type.Boolean({ description: 'Whether the server uses its embedded database.' }),
  }),
)

const SessionOrganisation = named(
  'SessionOrganisation',
  Type.Object({
    org_id: Type.String(),
    name: Type.String(),
    role: RoleSchema,
    service_off: Type.Boolean(),
  }),
)

export const SessionRecord = named(
  'ConsoleSession',
  Type.Object({
    kind: Type.Enum(['operator', 'person']),
    email: Type.Union([Type.String(), Type.Null()], { description: 'Null for the operator.' }),
    csrf: Type.String({ description: 'Sent as `x-csrf-token` with every write.' }),
    expires_at: Type.String(),
    organisations: Type.Array(SessionOrganisation),
  }),
)
