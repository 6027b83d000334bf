import { type TSchema, Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { PageQuery } from '../platform/http/response-schemas.ts'

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const LoggedRequestRecord = named(
  'LoggedRequest',
  Type.Object({
    id: Type.Integer({ description: 'Number of the entry. Increases with time.' }),
    at: Type.String({ description: 'Time at which the response was sent: ISO 8601, UTC.' }),
    api: Type.Enum(['partner', 'verification', 'ats'], { description: 'The API that was called.' }),
    key_id: orNull(Type.String({ description: 'ID of the key; null for callers without one.' })),
    method: Type.String({ description: 'HTTP method.' }),
    route: Type.String({ description: 'Path with parameter names, such as `/api/v1/partner/mandates/:mandate_id`.' }),
    path: Type.String({
      description: 'Path with the IDs of records, such as `/api/v1/partner/mandates/JM_01HZX8Q2V7K3M5N9P4R6T8W0YA`.',
    }),
    status: Type.Integer({ description: 'HTTP status of the response.' }),
    code: orNull(Type.String({ description: 'Error code of the response; null if the request succeeded.' })),
    duration_ms: Type.Number({ description: 'Time from the request to the end of the response, in milliseconds.' }),
    request_id: Type.String({ description: 'The `x-request-id` of the response.' }),
    differed: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'Differences for which the signature of a TEST request did not match. Empty for other requests.',
    }),
  }),
)

export const RequestsQuery = Type.Object({
  failed: Type.Optional(Type.Boolean({ description: 'Only requests that failed: with a status of 400 or higher.' })),
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5]([0-9]{2}|xx)$',
      description: 'Only requests with this status, such as `404`, or class of statuses, such as `4xx`.',
    }),
  ),
  api: Type.Optional(Type.Enum(['partner', 'verification', 'ats'], { description: 'Only requests to this API.' })),
  request_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Only the request with this `x-request-id`.' }),
  ),
  ...PageQuery.properties,
})
