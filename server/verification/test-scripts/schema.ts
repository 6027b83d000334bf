import { type Static, Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'

const closed = { additionalProperties: false }
const MAX_SKILLS = 10
const MAX_ATTEMPTS = 3
const MAX_ANSWERS = 10
const MAX_DELAY_SECONDS = 2_592_000

const skillIdText = Type.String({ maxLength: 40 })
const delaySeconds = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_DELAY_SECONDS,
      description: `${description} With a test clock, in the time of that clock; otherwise in real time, at most 60 seconds.`,
      examples: [86_400],
    }),
  )
const answers = (description: string) =>
  Type.Array(Type.Enum(['correct', 'wrong', 'undecided']), { minItems: 1, maxItems: MAX_ANSWERS, description })

const ScriptedAttempt = named(
  'ScriptedAttempt',
  Type.Object(
    {
      answers: Type.Optional(
        answers(
          'Answers to the questions about each skill, in order; the last one is repeated. `undecided` is the answer that leaves the verdict less certain: with only these, the verdict is `inconclusive`. Default: `correct`.',
        ),
      ),
      skills: Type.Optional(
        Type.Array(
          Type.Object(
            { skillId: skillIdText, answers: answers('Answers to the questions about this skill, in order.') },
            closed,
          ),
          { maxItems: MAX_SKILLS, description: 'Answers about single skills, in place of `answers`.' },
        ),
      ),
    },
    { ...closed, description: 'The answers of one attempt at the assessment.' },
  ),
)

const StudentScript = named(
  'StudentTestScript',
  Type.Object(
    {
      skills: Type.Array(skillIdText, {
        minItems: 1,
        maxItems: MAX_SKILLS,
        description: 'IDs of the skills that the student chooses in step 1.',
        examples: [['sk_1001', 'sk_2001']],
      }),
      method: Type.Enum(['human', 'assessment'], { description: 'The method that the student chooses in step 2.' }),
      attempts: Type.Optional(
        Type.Array(ScriptedAttempt, {
          minItems: 1,
          maxItems: MAX_ATTEMPTS,
          description:
            'With the method `assessment`: the attempts of the student, in order. The student stops after the last one. Default: one attempt with correct answers.',
        }),
      ),
      delaySeconds: delaySeconds('Time before the steps and before each attempt. Default: 1.'),
    },
    {
      ...closed,
      description:
        'The student goes through the steps without a browser: chooses the skills, the method and all items, and then names the reviewer or takes the assessment.',
    },
  ),
)

const ReviewerScript = named(
  'ReviewerTestScript',
  Type.Object(
    {
      name: Type.Optional(Type.String({ maxLength: 200, pattern: NOT_BLANK_PATTERN })),
      email: Type.Optional(
        Type.String({
          maxLength: 254,
          description: 'Default: `endorse@test.attestry.example`. No email is sent to it.',
        }),
      ),
      company: Type.Optional(Type.String({ maxLength: 200, pattern: NOT_BLANK_PATTERN })),
      response: Type.Optional(
        Type.Enum(['endorse', 'decline', 'none'], {
          description:
            '`none`: the reviewer never responds. The link expires after 30 seconds; with a test clock, after 30 days. Default: `endorse`.',
        }),
      ),
      notEndorsed: Type.Optional(
        Type.Array(skillIdText, {
          maxItems: MAX_SKILLS,
          description: 'IDs of the skills that are not endorsed.',
          examples: [['sk_2001']],
        }),
      ),
      rating: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 5, description: 'Rating of each endorsed skill. Default: 4.' }),
      ),
      comment: Type.Optional(Type.String({ maxLength: 1000, description: 'Comment on each skill.' })),
      reason: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'The reason of the response `decline`.',
          examples: ['I did not work with this person.'],
        }),
      ),
      delaySeconds: delaySeconds('Time from the request to the response. Default: 2.'),
    },
    {
      ...closed,
      description:
        'The reviewer responds automatically, whatever the address is. `name`, `email` and `company` are used if the student is scripted too.',
    },
  ),
)

export const SessionTestScript = named(
  'SessionTestScript',
  Type.Object(
    { student: Type.Optional(StudentScript), reviewer: Type.Optional(ReviewerScript) },
    {
      ...closed,
      description: 'In TEST mode only: the student, the reviewer or both act automatically, as described.',
    },
  ),
)

export const EndedTestScript = named(
  'EndedTestScript',
  Type.Object(
    {
      ended: Type.Literal(true),
      code: Type.String({
        description: 'The error code of the rejected step.',
        examples: ['ASSESSMENT_ALREADY_PASSED'],
      }),
      message: Type.String({
        description: 'The reason, and what to do.',
        examples: ['The student has already passed an assessment of sk_1001 (Bricklaying).'],
      }),
    },
    {
      description:
        'In TEST mode only: the error that ended the script of the student. The session stays as it is. Absent without a script, and if no step was rejected.',
    },
  ),
)
/** The error that ended the script of a student. */
export type ScriptError = Pick<Static<typeof EndedTestScript>, 'code' | 'message'>
export type SessionTestScript = Static<typeof SessionTestScript>
export type StudentScript = Static<typeof StudentScript>
export type ReviewerScript = Static<typeof ReviewerScript>
export type ScriptedAttempt = Static<typeof ScriptedAttempt>
