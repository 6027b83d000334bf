import { Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { partnerErrorCodes, verificationErrorCodes } from './problem.ts'

// Schemas of the error bodies that `errorEnvelope` returns.

const successFalse = Type.Literal(false)
const message = Type.String({ description: 'A message for developers. It can change; use `code` in programs.' })
const codeSchema = <Code extends string>(codes: Record<Code, number>) => Type.Enum(Object.keys(codes) as Code[])

const requestId = Type.String({
  description: 'ID of the request, as in the header `x-request-id`. Include it when you report a problem.',
})
const docUrl = Type.String({ description: 'Address of the section of the documentation that describes the error.' })

const ErrorDetail = named(
  'ErrorDetail',
  Type.Object({
    path: Type.String({
      description:
        'The path of the invalid field, for example `skills[2].skill_id`, `query.limit`, `path.mandate_id` or `headers.Host`.',
    }),
    message: Type.String(),
  }),
)

export const PartnerError = named(
  'PartnerError',
  Type.Object({
    success: successFalse,
    error: Type.Object({
      code: named('PartnerErrorCode', codeSchema(partnerErrorCodes)),
      message,
      details: Type.Array(ErrorDetail, { description: 'One item per validation error. Empty for other errors.' }),
      request_id: requestId,
      doc_url: docUrl,
    }),
  }),
)

export const VerificationError = named(
  'VerificationError',
  Type.Object({
    success: successFalse,
    error: Type.Object({
      code: named('VerificationErrorCode', codeSchema(verificationErrorCodes)),
      message,
      requestId,
      docUrl,
    }),
  }),
)

export const CatalogueError = named(
  'CatalogueError',
  Type.Object({
    success: successFalse,
    message: Type.String({ description: 'A message for developers. It can change.' }),
    error: Type.String({ description: 'The same text as `message`.' }),
    requestId,
    docUrl,
  }),
)
