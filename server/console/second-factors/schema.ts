import { Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { closed } from '../schema.ts'

/** Schemas of the routes for passkeys and authenticator apps. */

const text = Type.String()

export const PasskeyRecord = named(
  'Passkey',
  Type.Object({
    passkey_id: text,
    name: text,
    created_at: text,
    last_used_at: Type.Union([text, Type.Null()]),
  }),
)

export const FactorsRecord = named(
  'SecondFactors',
  Type.Object({
    passkeys: Type.Array(PasskeyRecord),
    passkeys_supported: Type.Boolean({ description: 'Whether browsers allow passkeys at the address of the server.' }),
    authenticator_app: Type.Boolean({
      description: 'Whether sign-in by email requires the code of an authenticator app.',
    }),
    recovery_codes_left: Type.Integer(),
    provider: Type.Boolean({
      description: 'Whether the person signed in with an identity provider, which then manages these settings.',
    }),
  }),
)

/** The options of the Web Authentication API, in its JSON format. */
export const PasskeyOptions = named(
  'PasskeyOptions',
  Type.Object({ options: Type.Unsafe<unknown>(Type.Record(Type.String(), Type.Unknown())) }),
)

/** An object that the library for Web Authentication checks. */
const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

const CredentialResponse = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 1400 }),
  rawId: Type.String({ maxLength: 1400 }),
  type: Type.String({ maxLength: 40 }),
  response: AnyObject,
  clientExtensionResults: Type.Optional(AnyObject),
})

export const NewPasskey = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 60 }), response: CredentialResponse },
  closed,
)
export const PasskeySignIn = Type.Object({ response: CredentialResponse }, closed)

export const NewAuthenticatorApp = named(
  'NewAuthenticatorApp',
  Type.Object({
    secret: Type.String({ description: 'The secret in base 32, to be entered by hand.' }),
    qr_code: Type.String({ description: 'The QR code as a data URL of an SVG image.' }),
  }),
)

export const RecoveryCodes = named('RecoveryCodes', Type.Object({ recovery_codes: Type.Array(text) }))
