import { Type } from 'typebox'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const optionalText = (maxLength: number) => Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

/** Body of send_test. Unknown fields are ignored, because Greenhouse may add some. */
export const SendTest = Type.Object({
  partner_test_id: text(100),
  candidate: Type.Object({
    first_name: Type.String({ maxLength: 200 }),
    last_name: Type.String({ maxLength: 200 }),
    preferred_name: optionalText(200),
    email: optionalText(320),
    phone_number: optionalText(100),
    greenhouse_profile_url: optionalText(2000),
  }),
  url: text(2000),
})

export const TestStatusQuery = Type.Object({ partner_interview_id: text(100) })

/** Body of response_error. */
export const ResponseError = Type.Object({
  api_call: Type.Optional(Type.String({ maxLength: 200 })),
  errors: Type.Optional(Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 50 })),
  partner_interview_id: optionalText(100),
})
