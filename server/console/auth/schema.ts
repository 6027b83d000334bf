import { Type } from 'typebox'
import { allScopes } from '../../access/scopes.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { accountLanguages } from './account-language.ts'
import { memberRoles } from './roles.ts'

/** Schemas of roles, scopes and the responses of the session routes. */

export const ScopeSchema = named('Scope', Type.Enum([...allScopes]))
export const MemberRoleSchema = named('MemberRole', Type.Enum([...memberRoles]))
export const AccountLanguageSchema = named('AccountLanguage', Type.Enum([...accountLanguages]))
export const RoleSchema = named('ConsoleRole', Type.Enum([...memberRoles, 'operator']))

export const SignInOptions = named(
  'SignInOptions',
  Type.Object({
    mails: Type.Enum(['sent', 'kept'], {
      description:
        '`kept`: no mail server is configured, so emails are not sent; the operator can read them in the console.',
    }),
    first_start: Type.Boolean({ description: 'Whether the server uses its embedded database.' }),
    passkeys: Type.Boolean({ description: 'Whether browsers allow passkeys at the address of the server.' }),
    providers: Type.Array(
      Type.Object({ provider_id: Type.String(), name: Type.String(), for_operators: Type.Boolean() }),
      { description: 'The identity providers of the organisation `org` and of the operators.' },
    ),
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
    provider_required: Type.Boolean({
      description: 'Whether the organisation rejects this session, because it requires its identity provider.',
    }),
  }),
)

export const SignedOut = named(
  'SignedOut',
  Type.Object({
    provider_sign_out_url: Type.Union([Type.String(), Type.Null()], {
      description: 'The page that ends the session at the identity provider, too.',
    }),
  }),
)

export const SessionRecord = named(
  'ConsoleSession',
  Type.Object({
    kind: Type.Enum(['operator', 'person']),
    email: Type.String({ description: 'Email address of the person.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'The name of the person, which colleagues see.' }),
    language: Type.Union([AccountLanguageSchema, Type.Null()], {
      description: 'The language of emails, which the person has chosen. Null: none was chosen.',
    }),
    csrf: Type.String({ description: 'CSRF token. Send it in the `x-csrf-token` header with every write.' }),
    expires_at: Type.String(),
    provider: Type.Union([Type.Object({ provider_id: Type.String(), name: Type.String() }), Type.Null()], {
      description: 'The identity provider that the person signed in with.',
    }),
    organisations: Type.Array(SessionOrganisation),
  }),
)

const sessionFields = {
  session_id: Type.String(),
  created_at: Type.String(),
  seen_at: Type.String({ description: 'Time of the latest request, to the minute.' }),
  address: Type.Union([Type.String(), Type.Null()], { description: 'IP address of the sign-in.' }),
  user_agent: Type.Union([Type.String(), Type.Null()]),
}

export const SessionParam = Type.String({ pattern: '^CS_[A-Z0-9]{10,40}$' })

export const OwnSession = named(
  'OwnSession',
  Type.Object({
    ...sessionFields,
    current: Type.Boolean({ description: 'Whether this is the session of the request.' }),
  }),
)

export const MemberSession = named('MemberSession', Type.Object(sessionFields))

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
