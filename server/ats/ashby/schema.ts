import { Type } from 'typebox'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

/** Body of assessment.start. Unknown fields are ignored, because Ashby may add some. */
export const StartAssessment = Type.Object({
  assessment_type_id: text(100),
  candidate: Type.Object({
    ashby_id: text(100),
    first_name: Type.String({ maxLength: 200 }),
    last_name: Type.String({ maxLength: 200 }),
    email: Type.String({ maxLength: 320 }),
    ashby_profile_url: Type.Optional(Type.String({ maxLength: 2000 })),
  }),
  application: Type.Object({ ashby_id: text(100) }),
  job: Type.Object({ ashby_id: text(100) }),
  /** Values of the fields that assessment.customField.list returns, by the ID of the field. */
  additional_fields: Type.Optional(Type.Union([Type.Unsafe<Record<string, unknown>>({ type: 'object' }), Type.Null()])),
})

export const CancelAssessment = Type.Object({ assessment_id: text(100) })
