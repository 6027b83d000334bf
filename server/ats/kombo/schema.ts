import { Type } from 'typebox'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const textOrNull = (maxLength: number) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

export const OrderParams = Type.Object({ connection_id: Type.String({ pattern: '^AC_[A-Z0-9]{10,40}$' }) })

/** Generous limit of values that are checked when the order is placed: Kombo learns about a rejected order, but not about a bad request. */
const MAX_VALUE_LENGTH = 10_000

const Order = Type.Object({
  id: text(100),
  package_id: text(1000),
  integration_id: text(200),
  candidate: Type.Object({
    remote_id: textOrNull(MAX_VALUE_LENGTH),
    email: textOrNull(MAX_VALUE_LENGTH),
    first_name: textOrNull(MAX_VALUE_LENGTH),
    last_name: textOrNull(MAX_VALUE_LENGTH),
    phone: textOrNull(MAX_VALUE_LENGTH),
  }),
})

/** Body of a webhook. Kombo has other types of webhooks too, and may add fields. */
export const Webhook = Type.Union([
  Type.Object({ type: Type.Literal('assessment:order-received'), data: Order }),
  Type.Object({ type: Type.String({ pattern: '^(?!assessment:order-received$)', maxLength: 200 }) }),
])
