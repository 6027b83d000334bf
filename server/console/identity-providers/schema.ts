import { type TSchema, Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { describePattern } from '../../platform/http/validation.ts'
import { MemberRoleSchema } from '../auth/schema.ts'
import { closed } from '../schema.ts'

/** Schemas of the settings of identity providers and of the sign-in with one. */

const text = Type.String()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Domain = Type.String({
  maxLength: 253,
  pattern: describePattern(
    '^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}))+$',
    'must be a domain, such as example.com',
  ),
})

function inputFields<T extends TSchema>(role: T) {
  return {
    name: Type.String({ minLength: 1, maxLength: 60 }),
    issuer: Type.String({ minLength: 1, maxLength: 500 }),
    client_id: Type.String({ minLength: 1, maxLength: 500 }),
    client_secret: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()])),
    allowed_domains: Type.Array(Domain, { minItems: 1, maxItems: 50 }),
    group_claim: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    role_mappings: Type.Optional(
      Type.Array(Type.Object({ group: Type.String({ minLength: 1, maxLength: 200 }), role }, closed), {
        maxItems: 100,
      }),
    ),
    default_role: Type.Optional(orNull(role)),
    required: Type.Optional(Type.Boolean()),
  }
}

export const ProviderInput = Type.Object(inputFields(MemberRoleSchema), closed)
export const OperatorProviderInput = Type.Object(inputFields(Type.Enum(['operator'])), closed)

const RoleMapping = Type.Object({ group: text, role: text })

const IdentityProviderRecord = named(
  'IdentityProvider',
  Type.Object({
    provider_id: text,
    name: text,
    issuer: text,
    client_id: text,
    has_client_secret: Type.Boolean(),
    allowed_domains: Type.Array(text),
    group_claim: text,
    role_mappings: Type.Array(RoleMapping),
    default_role: orNull(text),
    required: Type.Boolean({ description: 'Whether members must sign in with this provider.' }),
    created_at: text,
    updated_at: text,
  }),
)

export const ProviderSettings = named(
  'IdentityProviderSettings',
  Type.Object({
    provider: orNull(IdentityProviderRecord),
    redirect_uri: Type.String({ description: 'The redirect URI to register at the identity provider.' }),
    sign_in_url: Type.String({ description: 'The page on which members sign in with the provider.' }),
    scim_url: Type.Union([text, Type.Null()], { description: 'The URL of the SCIM API, for organisations.' }),
    scim_token: orNull(Type.Object({ created_at: text, last_used_at: orNull(text) })),
  }),
)

export const NewScimToken = named('NewScimToken', Type.Object({ token: text }))

export const ProviderSignIn = Type.Object(
  {
    provider_id: Type.String({ maxLength: 60 }),
    return_to: Type.Optional(Type.String({ maxLength: 2000 })),
    fresh: Type.Optional(Type.Boolean()),
  },
  closed,
)

export const ProviderRedirect = named(
  'ProviderRedirect',
  Type.Object({ url: Type.String({ description: 'The page of the identity provider to open.' }) }),
)
