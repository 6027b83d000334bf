import { type Static, type TSchema, Type } from 'typebox'
import { PageBrand } from '../branding/schema.ts'
import { named } from '../platform/http/named-schemas.ts'
import { pageQuery } from '../platform/http/response-schemas.ts'
import { credentialStatuses, organisationRevocationReasons, revocationReasons } from './credentials.ts'
import { methods } from './facts.ts'
import { keyStatuses } from './issuers/issuers.ts'
import { MAX_VALIDITY_MONTHS } from './policies.ts'

const closed = { additionalProperties: false }
const text = Type.String()
const time = Type.String({ format: 'date-time' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const CREDENTIAL_ID_PATTERN = '^crd_[A-Z0-9]{26}$'
const CredentialStatusSchema = named('CredentialStatus', Type.Enum([...credentialStatuses]))
const RevocationReasonSchema = named('CredentialRevocationReason', Type.Enum([...revocationReasons]))

const CredentialSkill = named('CredentialSkill', Type.Object({ skill_id: text, name: text }))

/** A credential in the partner API and in events. */
export const CredentialRecord = named(
  'Credential',
  Type.Object({
    credential_id: text,
    url: Type.String({ description: 'The public page. With the extension `.json` or `.jwt`, the signed credential.' }),
    skill: CredentialSkill,
    method: Type.Enum([...methods]),
    external_candidate_id: orNull(
      Type.String({
        description: 'The ID of the candidate or student in your system; null after the person was erased.',
      }),
    ),
    candidate_id: orNull(Type.String({ description: 'The candidate, if the skill was verified in a campaign.' })),
    verification_id: orNull(Type.String({ description: 'The verification, if the skill was verified in a session.' })),
    status: CredentialStatusSchema,
    issued_at: time,
    valid_until: time,
    revoked_at: orNull(time),
    revocation_reason: orNull(RevocationReasonSchema),
    replaced_by: orNull(
      Type.String({
        description:
          'The newest credential that replaces this one: with or without the name of the person, or with another key.',
      }),
    ),
    version: Type.Integer({ description: 'Increases with every change.' }),
    updated_at: time,
  }),
)

export const CredentialParams = Type.Object({ credential_id: Type.String({ pattern: CREDENTIAL_ID_PATTERN }) })

export const CredentialsQuery = Type.Object({
  candidate_id: Type.Optional(Type.String({ pattern: '^CD_[A-Z0-9]{10,40}$' })),
  external_candidate_id: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'The ID of the candidate or student in your system.',
    }),
  ),
  verification_id: Type.Optional(Type.String({ pattern: '^SV_[A-Z0-9]{10,40}$' })),
  skill_id: Type.Optional(Type.String({ pattern: '^sk_[1-9][0-9]{0,8}$' })),
  status: Type.Optional(CredentialStatusSchema),
  updated_since: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Return only credentials issued or revoked at or after this time: ISO 8601 with a time zone.',
    }),
  ),
  ...pageQuery,
})

export const RevokeBody = named(
  'RevokeCredentialInput',
  Type.Object({ reason: Type.Enum([...organisationRevocationReasons]) }, closed),
)

const SessionCredentialSkill = named('SessionCredentialSkill', Type.Object({ skillId: text, name: text }))

/** The credentials of a session, for the student's page. */
export const SessionCredentials = named(
  'SessionCredentials',
  Type.Object({
    enabled: Type.Boolean({ description: 'True if the organisation issues credentials.' }),
    wanted: orNull(Type.Boolean({ description: 'Decision of the student; null before it.' })),
    showName: Type.Boolean(),
    eligible: Type.Array(Type.Object({ skill: SessionCredentialSkill }), {
      description: 'Verified skills, for which a credential can be issued or was issued.',
    }),
    pending: Type.Array(Type.Object({ skill: SessionCredentialSkill }), {
      description: 'Skills without an outcome yet. If they are verified, credentials are issued then.',
    }),
    credentials: Type.Array(
      Type.Object({ id: text, url: text, skill: SessionCredentialSkill, status: CredentialStatusSchema }),
    ),
    profileUrl: orNull(Type.String({ description: 'The public profile; null while the student has it switched off.' })),
    manageUrl: orNull(
      Type.String({
        description: 'A secret link for managing the credentials. Returned only when consent is given.',
      }),
    ),
  }),
)

export const SessionConsentInput = named(
  'SessionConsentInput',
  Type.Object({
    wanted: Type.Boolean({
      description: 'True if the student wants credentials. False withdraws the consent and revokes them.',
    }),
    showName: Type.Optional(
      Type.Boolean({ description: "True if the credentials contain the student's name; false by default." }),
    ),
  }),
)

/** The same for the candidate's page. */
export const CandidateCredentials = named(
  'CandidateCredentials',
  Type.Object({
    enabled: Type.Boolean(),
    wanted: orNull(Type.Boolean()),
    show_name: Type.Boolean(),
    eligible: Type.Array(Type.Object({ skill: CredentialSkill })),
    pending: Type.Array(Type.Object({ skill: CredentialSkill })),
    credentials: Type.Array(
      Type.Object({ id: text, url: text, skill: CredentialSkill, status: CredentialStatusSchema }),
    ),
    profile_url: orNull(text),
    manage_url: orNull(text),
  }),
)

export const CandidateConsentBody = Type.Object(
  { wanted: Type.Boolean(), show_name: Type.Optional(Type.Boolean()) },
  closed,
)

/** The content of the page on which a holder manages credentials. */
export const HolderView = named(
  'HolderView',
  Type.Object({
    organisation: text,
    brand: Type.Optional(PageBrand),
    mode: Type.Enum(['test', 'live']),
    profile_public: Type.Boolean(),
    profile_url: orNull(text),
    show_name: Type.Boolean({ description: 'True if a credential shows the name.' }),
    credentials: Type.Array(
      named(
        'HolderCredential',
        Type.Object({
          credential_id: text,
          url: text,
          skill: CredentialSkill,
          status: CredentialStatusSchema,
          issued_at: time,
          valid_until: time,
          revocation_reason: orNull(RevocationReasonSchema),
          hidden: Type.Boolean({ description: 'True if the profile does not list it.' }),
        }),
      ),
    ),
  }),
)

export const HolderChange = named(
  'HolderChange',
  Type.Object(
    {
      profile_public: Type.Optional(Type.Boolean()),
      new_profile_link: Type.Optional(Type.Literal(true)),
      show_name: Type.Optional(Type.Boolean()),
      revoke_other_links: Type.Optional(Type.Literal(true)),
      credentials: Type.Optional(
        Type.Array(
          Type.Object(
            {
              credential_id: Type.String({ pattern: CREDENTIAL_ID_PATTERN }),
              hidden: Type.Optional(Type.Boolean()),
              revoke: Type.Optional(Type.Literal(true)),
            },
            closed,
          ),
          { maxItems: 100 },
        ),
      ),
    },
    closed,
  ),
)

export type HolderChange = Static<typeof HolderChange>

/** A question of a visitor whether a credential belongs to a person. */
export const HolderCheckBody = Type.Object(
  {
    email: Type.Optional(Type.String({ minLength: 3, maxLength: 254 })),
    phone: Type.Optional(Type.String({ minLength: 8, maxLength: 20 })),
  },
  closed,
)

export type HolderCheckBody = Static<typeof HolderCheckBody>

/** A request of a person who lost the link to their credentials. */
export const LinkRequestBody = Type.Object(
  {
    email: Type.String({ minLength: 3, maxLength: 254 }),
    language: Type.Optional(Type.String({ maxLength: 10 })),
  },
  closed,
)

export type LinkRequestBody = Static<typeof LinkRequestBody>

export const CredentialPolicySchema = named(
  'CredentialPolicy',
  Type.Object({
    credentials_enabled: Type.Boolean(),
    credential_validity_months: Type.Integer({ minimum: 1, maximum: MAX_VALIDITY_MONTHS }),
  }),
)
export const CredentialPolicyChange = Type.Partial(CredentialPolicySchema, closed)

const CredentialKey = named(
  'CredentialKey',
  Type.Object({
    key_id: text,
    name: Type.String({ description: 'The name in the DID document, such as key-1.' }),
    public_key: text,
    status: Type.Enum([...keyStatuses]),
    created_at: time,
    retired_at: orNull(time),
    revoked_at: orNull(time),
  }),
)
export const CredentialKeys = named(
  'CredentialKeys',
  Type.Object({ did: text, keys: Type.Array(CredentialKey, { description: 'Newest first.' }) }),
)
export const KeyParams = Type.Object({ key_id: Type.String({ pattern: '^CK_[A-Z0-9]{26}$' }) })
