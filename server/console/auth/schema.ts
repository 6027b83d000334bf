import { Type } from 'typebox'
import { allScopes } from '../../access/scopes.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { memberRoles } from './roles.ts'

/** Schemas of roles, scopes and the responses of the session routes. */

export const ScopeSchema = named('Scope', Type.Enum([...allScopes]))
export const MemberRoleSchema = named('MemberRole', Type.Enum([...memberRoles]))
export const RoleSchema = named('ConsoleRole', Type.Enum([...memberRoles, 'operator']))

export const SignInOptions = named(
  'SignInOptions',
  Type.Object({
    mails: Type.Enum(['sent', 'kept'], {
      description:
        '`kept`: no mail server is configured, so emails are not sent; the operator can read them in the console.',
    }),
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
    service_paused: Type.Boolean(),
  }),
)

export const SessionRecord = named(
  'ConsoleSession',
  Type.Object({
    kind: Type.Enum(['operator', 'person']),
    email: Type.String({ description: 'Email address of the person.' }),
    csrf: Type.String({ description: 'CSRF token. Send it in the `x-csrf-token` header with every write.' }),
    expires_at: Type.String(),
    organisations: Type.Array(SessionOrganisation),
  }),
)

export const OwnSession = named(
  'OwnSession',
  Type.Object({
    session_id: Type.String(),
    created_at: Type.String(),
    seen_at: Type.String({ description: 'Time of the latest request, to the minute.' }),
    address: Type.Union([Type.String(), Type.Null()], { description: 'IP address of the sign-in.' }),
    user_agent: Type.Union([Type.String(), Type.Null()]),
    current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
  }),
)

export const OperatorRecord = named(
  'Operator',
  Type.Object({
    operator_id: Type.String(),
    email: Type.String(),
    created_at: Type.String(),
    last_sign_in_at: Type.Union([Type.String(), Type.Null()]),
    disabled_at: Type.Union([Type.String(), Type.Null()], { description: 'Time of the removal.' }),
  }),
)
