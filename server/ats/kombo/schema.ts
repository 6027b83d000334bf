import { Type } from 'typebox'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const textOrNull = (maxLength: number) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

export const OrderParams = Type.Object({ connection_id: Type.String({ pattern: '^AC_[A-Z0-9]{10,40}$' }) })

const Order = Type.Object({
  id: text(100),
  package_id: text(100),
  integration_id: text(200),
  candidate: Type.Object({
    remote_id: textOrNull(200),
    email: textOrNull(320),
    first_name: textOrNull(200),
    last_name: textOrNull(200),
    phone: textOrNull(100),
  }),
})

/** Body of a webhook. Kombo has other types of webhooks too, and may add fields. */
export const Webhook = Type.Union([
  Type.Object({ type: Type.Literal('assessment:order-received'), data: Order }),
  Type.Object({ type: Type.String({ pattern: '^(?!assessment:order-received$)', maxLength: 200 }) }),
])
