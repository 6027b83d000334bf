import { type TSchema, Type } from 'typebox'
import { ModeSchema } from '../access/schema.ts'
import { emailKinds, emailStatuses, emailStatusReasons } from '../mail/mail.ts'
import { named } from '../platform/http/named-schemas.ts'
import { describePattern } from '../platform/http/validation.ts'
import { auditActors } from './audit.ts'

/** Schemas shared by several console routes. */

export const closed = { additionalProperties: false }

export const organisationFields = {
  org_id: Type.String(),
  name: Type.String(),
  service_off: Type.Boolean({ description: 'Whether the partner API is off.' }),
  service_paused: Type.Boolean({
    description: 'Whether all work is stopped and held: sessions, pages, contacts, emails and webhook deliveries.',
  }),
  created_at: Type.String(),
}

export const EmailAddress = Type.String({
  maxLength: 254,
  pattern: describePattern(
    '^[^\\s@<>"(),:;]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$',
    'must be an email address, such as asha@example.com',
  ),
})

const text = Type.String()
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const AuditEntry = named(
  'AuditEntry',
  Type.Object({
    audit_id: text,
    at: text,
    who: text,
    who_name: orNull(text),
    org_id: orNull(text),
    mode: orNull(text),
    action: text,
    subject: orNull(text),
    details: Type.Unsafe<unknown>(Type.Record(Type.String(), Type.Unknown())),
    request_id: orNull(text),
    actor: orNull(Type.Enum([...auditActors])),
    address: orNull(text),
    user_agent: orNull(text),
  }),
)

const emailFields = {
  mail_id: text,
  org_id: orNull(text),
  mode: orNull(ModeSchema),
  kind: Type.Enum([...emailKinds]),
  about: orNull(text),
  to_name: orNull(text),
  to_address: text,
  status: Type.Enum([...emailStatuses]),
  status_reason: orNull(Type.Enum([...emailStatusReasons])),
  explanation: Type.Union([text, Type.Null()], { description: 'The status reason as a sentence.' }),
  attempts: Type.Integer(),
  last_error: orNull(text),
  created_at: text,
  sent_at: orNull(text),
}

export const EmailRecord = named('EmailSummary', Type.Object(emailFields))

/** Returns the console's success envelope. */
export function successResponse<T>(message: string, data: T) {
  return { success: true as const, message, data }
}
