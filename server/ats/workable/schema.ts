import { Type } from 'typebox'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

/** Body of POST assessments. Unknown fields are ignored, because Workable may add some. */
export const CreateAssessment = Type.Object({
  test_id: text(100),
  callback_url: text(2000),
  candidate: Type.Object({
    first_name: Type.String({ maxLength: 200 }),
    last_name: Type.String({ maxLength: 200 }),
    email: Type.Optional(Type.Union([Type.String({ maxLength: 320 }), Type.Null()])),
    phone: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
  }),
})

export const AssessmentParams = Type.Object({ assessment_id: text(100) })
