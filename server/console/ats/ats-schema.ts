import { type TSchema, Type } from 'typebox'
import { ModeSchema } from '../../access/schema.ts'
import { adapterNames, credentialNames, reportKinds } from '../../ats/adapter.ts'
import {
  MAX_API_URL_LENGTH,
  MAX_CONSENT_BASIS_LENGTH,
  MAX_LISTED_MANDATES,
  MAX_TOKEN_LENGTH,
  TOKEN_PATTERN,
} from '../../ats/connections.ts'
import { orderStates } from '../../ats/order-state.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { closed } from '../schema.ts'

const text = Type.String()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Adapter = Type.Enum([...adapterNames])

const AtsSystem = named(
  'AtsSystem',
  Type.Object({
    adapter: Adapter,
    title: text,
    credentials: Type.Array(
      Type.Object({
        name: Type.Enum([...credentialNames]),
        label: text,
        help: text,
        required: Type.Boolean({ description: 'Whether it is needed to create a connection.' }),
      }),
      { description: 'The values that the ATS issues.' },
    ),
    api_url: Type.Union([Type.Object({ default: text, help: text }), Type.Null()], {
      description:
        'The base URL of the API of the ATS, which can be changed. Null if the ATS names a URL in each order.',
    }),
  }),
)
export const AtsSystemList = named('AtsSystemList', Type.Object({ items: Type.Array(AtsSystem) }))

const AtsKeyRecord = named(
  'AtsKey',
  Type.Object({
    key_id: text,
    status: Type.Enum(['active', 'revoked']),
    created_at: text,
    last_used_at: Type.Union([text, Type.Null()], {
      description: 'When the key was last used; at most a minute late.',
    }),
  }),
)

const connectionFields = {
  connection_id: text,
  mode: ModeSchema,
  adapter: Adapter,
  title: text,
  name: text,
  state: Type.Enum(['active', 'disconnected']),
  api_url: Type.Union([text, Type.Null()], {
    description: 'Base URL of the API of the ATS. Null if the ATS names a URL in each order.',
  }),
  country: text,
  consent_basis: text,
  mandate_ids: Type.Union([Type.Array(text), Type.Null()], {
    description: 'The mandates that are offered as tests. Null: all mandates that are ready.',
  }),
  endpoints: Type.Array(Type.Object({ name: text, url: text }), { description: 'The addresses to enter in the ATS.' }),
  signs_calls: Type.Boolean({ description: 'Whether the ATS signs its calls. It then has no key.' }),
  missing_credentials: Type.Array(text, { description: 'Labels of the credentials that are still to be entered.' }),
  created_at: text,
  keys: Type.Array(AtsKeyRecord),
  checks: Type.Object(
    {
      tests: Type.Integer({ description: 'Mandates that the ATS lists now.' }),
      called_at: orNull(text),
      ordered_at: orNull(text),
      reported_at: orNull(text),
      report_error: Type.Union([text, Type.Null()], {
        description: 'Why the last report was not accepted; null if it was, or if none was sent yet.',
      }),
      tests_sent_at: Type.Union([text, Type.Null()], {
        description: 'When the ATS last accepted the list of tests. Null if it calls for the list.',
      }),
      tests_error: Type.Union([text, Type.Null()], {
        description: 'Why the ATS did not accept the current list of tests; null if it did.',
      }),
      ats_error: Type.Union([text, Type.Null()], {
        description: 'The last error that the ATS reported without naming a known order; null if there was none.',
      }),
      ats_error_at: orNull(text),
      paused_campaigns: Type.Array(Type.Object({ campaign_id: text, test_name: text, orders: Type.Integer() }), {
        description: 'Paused campaigns, with the number of open orders that wait for each.',
      }),
    },
    {
      description:
        'The last call of the ATS, its last order and the last report, so that an owner sees which steps work.',
    },
  ),
}
export const AtsConnectionRecord = named('AtsConnection', Type.Object(connectionFields))
export const AtsConnectionList = named('AtsConnectionList', Type.Object({ items: Type.Array(AtsConnectionRecord) }))
export const CreatedAtsConnection = named(
  'CreatedAtsConnection',
  Type.Object({
    ...connectionFields,
    key: Type.Union([text, Type.Null()], {
      description: 'The key. It is not returned again. Null if the ATS signs its calls.',
    }),
  }),
)

const AtsReportRecord = named(
  'AtsReport',
  Type.Object({
    number: Type.Integer(),
    kind: Type.Enum([...reportKinds]),
    state: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Integer(),
    next_attempt_at: orNull(text),
    last_request: orNull(Type.Unsafe<unknown>(Type.Record(Type.String(), Type.Unknown()))),
    last_status: orNull(Type.Integer()),
    last_error: orNull(text),
    last_response: orNull(text),
    created_at: text,
    delivered_at: orNull(text),
  }),
)
export const AtsOrderRecord = named(
  'AtsOrder',
  Type.Object({
    order_id: text,
    connection_id: text,
    adapter: Adapter,
    mandate_id: orNull(text),
    test_name: Type.String({ description: 'The name of the test in the ATS: title and company of the mandate.' }),
    campaign_id: orNull(text),
    candidate_id: orNull(text),
    person_id: Type.Union([text, Type.Null()], {
      description: 'The person that the order is about. Null for orders that an earlier version rejected.',
    }),
    candidate_name: text,
    profile_url: orNull(text),
    consent_basis: text,
    state: Type.Enum([...orderStates]),
    is_paused: Type.Boolean({ description: 'Whether the order is open and its campaign is paused.' }),
    summary: orNull(text),
    status_read: Type.Union([Type.Unsafe<unknown>(Type.Record(Type.String(), Type.Unknown())), Type.Null()], {
      description: 'What the ATS reads about the order with a call of its own. Null if its reports contain the result.',
    }),
    ats_errors: Type.Array(text),
    reports: Type.Array(AtsReportRecord),
    created_at: text,
    updated_at: text,
  }),
)

const name = Type.String({ minLength: 1, maxLength: 120, pattern: NOT_BLANK_PATTERN })
const country = Type.String({ minLength: 2, maxLength: 2 })
const consent_basis = Type.String({ minLength: 1, maxLength: MAX_CONSENT_BASIS_LENGTH, pattern: NOT_BLANK_PATTERN })
const mandate_ids = orNull(
  Type.Array(Type.String({ pattern: '^JM_[A-Z0-9]{10,40}$' }), { minItems: 1, maxItems: MAX_LISTED_MANDATES }),
)
const token = Type.String({ minLength: 1, maxLength: MAX_TOKEN_LENGTH, pattern: TOKEN_PATTERN })
const api_url = Type.String({ minLength: 1, maxLength: MAX_API_URL_LENGTH })
const credentialFields = {
  token: Type.Optional(token),
  account_id: Type.Optional(token),
  signing_secret: Type.Optional(token),
}

export const ConnectBody = Type.Object(
  {
    adapter: Adapter,
    name,
    country,
    consent_basis,
    mandate_ids: Type.Optional(mandate_ids),
    api_url: Type.Optional(api_url),
    ...credentialFields,
  },
  closed,
)
export const ConnectionChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    country: Type.Optional(country),
    consent_basis: Type.Optional(consent_basis),
    mandate_ids: Type.Optional(mandate_ids),
    api_url: Type.Optional(api_url),
    ...credentialFields,
  },
  closed,
)
export const ConnectionParams = Type.Object({ connection_id: Type.String({ pattern: '^AC_[A-Z0-9]{10,40}$' }) })
export const AtsKeyParams = Type.Object({
  ...ConnectionParams.properties,
  key_id: Type.String({ pattern: '^VAT_(TEST|LIVE)_[A-Za-z0-9_-]{10}$' }),
})
export const OrderParams = Type.Object({ order_id: Type.String({ pattern: '^AO_[A-Z0-9]{10,40}$' }) })
