import { type Static, type TSchema, Type } from 'typebox'
import { NOT_BLANK } from '../platform/http/validation.ts'

/** Shapes of the verification API. Unknown properties are ignored; fields with codes of their own are read in `fields.ts`. */

export const MOST_ITEMS = 50
export const MOST_PROOFS = 5
const LONGEST_URL = 2000

export const endorsementTypes = ['manager', 'mentor', 'peer', 'client', 'faculty'] as const
export const methods = ['human', 'assessment'] as const
export const statuses = [
  'open',
  'pending_review',
  'in_assessment',
  'completed',
  'declined',
  'failed',
  'expired',
] as const
export const outcomes = ['pending', 'endorsed', 'not_endorsed', 'passed', 'not_passed'] as const

export type EndorsementType = (typeof endorsementTypes)[number]
export type Method = (typeof methods)[number]
export type Status = (typeof statuses)[number]
export type Outcome = (typeof outcomes)[number]

const oneOf = <const T extends readonly string[]>(values: T) => Type.Unsafe<T[number]>(Type.Enum([...values]))
const text = (most: number) => Type.String({ maxLength: most })
const filled = (most: number) => Type.String({ maxLength: most, pattern: NOT_BLANK })
const url = Type.String({ maxLength: LONGEST_URL, description: 'An http or https address.' })
const time = Type.String({ format: 'date-time' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const verificationId = Type.String({ description: 'Names the verification: `SV_…`, from `POST /verify`.' })
const sessionToken = Type.String({ description: 'The session token: `vst_…`, from `POST /verify`.' })
const date = Type.String({ maxLength: 40, description: 'As people should read it, such as `2024-06`.' })
const description = text(10_000)

const projectFields = { externalProjectId: filled(128), projectName: filled(200) }
const certificateFields = { externalCertificateId: filled(128), certificateName: filled(200) }
const experienceFields = { externalExperienceId: filled(128), companyName: filled(200), role: filled(200) }

export const Project = Type.Object({
  ...projectFields,
  role: Type.Optional(text(200)),
  description: Type.Optional(description),
  url: Type.Optional(url),
  startDate: Type.Optional(date),
  endDate: Type.Optional(date),
})
export const Experience = Type.Object({
  ...experienceFields,
  description: Type.Optional(description),
  startDate: Type.Optional(date),
  endDate: Type.Optional(date),
})
export const Certificate = Type.Object({
  ...certificateFields,
  issuer: Type.Optional(text(200)),
  description: Type.Optional(description),
  url: Type.Optional(url),
  issueDate: Type.Optional(date),
})
const listOf = <T extends TSchema>(item: T) => Type.Array(item, { maxItems: MOST_ITEMS })

const student = {
  externalStudentId: filled(128),
  name: filled(200),
  email: Type.String({ maxLength: 254 }),
  phone: Type.Optional(text(40)),
}

export const SessionInput = Type.Object({
  ...student,
  projects: Type.Optional(listOf(Project)),
  workExperiences: Type.Optional(listOf(Experience)),
  certificates: Type.Optional(listOf(Certificate)),
  returnUrl: Type.Optional(url),
})
export const OpenedSession = Type.Object({
  sessionToken,
  serviceVerificationId: verificationId,
  serviceUserId: Type.String(),
  expiresAt: time,
})

const SessionSkill = Type.Object({ skillId: Type.String(), name: Type.String(), proofUrl: Type.Array(Type.String()) })
const Stored = Type.Object({
  projects: Type.Array(Type.Object({ serviceProjectId: Type.String(), ...projectFields })),
  experience: Type.Array(Type.Object({ serviceExperienceId: Type.String(), ...experienceFields })),
  certificates: Type.Array(Type.Object({ serviceCertificateId: Type.String(), ...certificateFields })),
})
export const Reviewer = Type.Object({
  serviceVerificationId: verificationId,
  name: Type.String(),
  email: Type.String(),
  company: Type.String(),
  website: Type.Optional(Type.String()),
})

export const FullSession = Type.Object({
  serviceVerificationId: verificationId,
  serviceUserId: Type.String(),
  status: oneOf(statuses),
  verificationMethod: orNull(oneOf(methods)),
  endorsementType: oneOf(endorsementTypes),
  student: Type.Object(student),
  projects: Type.Array(Project),
  workExperiences: Type.Array(Experience),
  certificates: Type.Array(Certificate),
  skills: Type.Array(SessionSkill),
  stored: Stored,
  reviewer: orNull(Reviewer),
  expiresAt: time,
  returnUrl: Type.Optional(Type.String()),
})

export const Source = Type.Object({
  type: oneOf(['experience', 'project', 'certificate']),
  title: Type.String(),
  subtitle: orNull(Type.String()),
  meta: orNull(Type.String()),
  description: orNull(Type.String()),
})
const SkillOutcome = Type.Object({
  skillId: Type.String(),
  name: Type.String(),
  outcome: oneOf(outcomes),
  rating: Type.Optional(Type.Integer()),
  comment: Type.Optional(Type.String()),
})
export const Verification = Type.Object({
  serviceVerificationId: verificationId,
  serviceUserId: Type.String(),
  externalStudentId: Type.String(),
  status: oneOf(statuses),
  verificationMethod: orNull(oneOf(methods)),
  endorsementType: oneOf(endorsementTypes),
  source: Type.Optional(Source),
  skills: Type.Array(SkillOutcome),
  score: orNull(Type.Integer()),
  completedAt: Type.Optional(time),
  declineReason: Type.Optional(Type.String()),
})

const SkillChoice = Type.Object({
  skillId: Type.String(),
  proofUrl: Type.Optional(Type.Array(url, { maxItems: MOST_PROOFS })),
})
export const SkillsInput = Type.Object({
  sessionToken,
  skills: Type.Array(SkillChoice),
  endorsementType: Type.Optional(oneOf(endorsementTypes)),
})
export const StoredSkills = Type.Object({
  serviceVerificationId: verificationId,
  skills: Type.Array(SessionSkill),
  endorsementType: oneOf(endorsementTypes),
})

export const MethodInput = Type.Object({ serviceVerificationId: verificationId, verificationMethod: oneOf(methods) })
export const StoredMethod = MethodInput

const externalIds = Type.Optional(Type.Array(Type.String()))
export const ItemsInput = Type.Object({
  sessionToken,
  projectIds: externalIds,
  workExperienceIds: externalIds,
  credentialIds: externalIds,
})
export const StoredItems = Type.Object({
  serviceVerificationId: verificationId,
  serviceUserId: Type.String(),
  stored: Stored,
})

export const SessionEmail = Type.Object({
  success: Type.Literal(true),
  email: Type.String(),
  name: Type.String(),
  serviceUserId: Type.String(),
})

export const ReviewerInput = Type.Object({
  serviceVerificationId: verificationId,
  name: filled(200),
  email: Type.String({ maxLength: 254 }),
  company: filled(200),
  website: Type.Optional(orNull(Type.String({ maxLength: LONGEST_URL }))),
})

export const VerifyPage = Type.Object({
  serviceVerificationId: verificationId,
  endorserInfo: Type.Object({ name: Type.String(), company: Type.String(), email: Type.String() }),
  requesterInfo: Type.Object({ name: Type.String(), email: Type.String(), externalStudentId: Type.String() }),
  source: Source,
  skills: Type.Array(SessionSkill),
  endorsementType: oneOf(endorsementTypes),
  status: oneOf(statuses),
  expiresAt: time,
})

const Decision = Type.Object({
  skillId: Type.String(),
  endorsed: Type.Boolean(),
  rating: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  comment: Type.Optional(text(1000)),
})
export const ReviewInput = Type.Object({
  serviceVerificationId: verificationId,
  token: Type.String({ description: 'From the link of the mail.' }),
  decisions: Type.Optional(Type.Array(Decision, { description: 'One for every skill.' })),
  declined: Type.Optional(Type.Boolean()),
  reason: Type.Optional(Type.String({ maxLength: 500, description: 'Required with `declined`.' })),
})
export const SubmittedReview = Type.Object({
  serviceVerificationId: verificationId,
  status: oneOf(statuses),
  skills: Type.Array(SkillOutcome),
})

export const Assessment = Type.Object({
  serviceVerificationId: verificationId,
  totalQuestions: Type.Integer(),
  questions: Type.Array(
    Type.Object({ questionId: Type.String(), question: Type.String(), options: Type.Array(Type.String()) }),
  ),
  alreadyGenerated: Type.Optional(Type.Literal(true)),
})
export const AnswersInput = Type.Object({
  answers: Type.Array(
    Type.Object({
      questionId: Type.String(),
      option: Type.String({ description: "The option's text. A question without an answer counts as wrong." }),
    }),
    { maxItems: 100 },
  ),
})
export const SubmittedAssessment = Type.Object({
  serviceVerificationId: verificationId,
  score: Type.Integer(),
  passed: Type.Boolean(),
  passMark: Type.Integer(),
  correct: Type.Integer(),
  totalQuestions: Type.Integer(),
  skills: Type.Array(
    Type.Object({
      skillId: Type.String(),
      correct: Type.Integer(),
      total: Type.Integer(),
      passed: Type.Boolean(),
    }),
  ),
  attempt: Type.Integer(),
  attemptsLeft: Type.Integer(),
  locked: Type.Boolean(),
})

export const SearchQuery = Type.Object({
  q: Type.String({ minLength: 3, maxLength: 100, pattern: NOT_BLANK }),
  limit: Type.Integer({ minimum: 1, maximum: 25, default: 10 }),
})
export const FoundSkills = Type.Object({
  skills: Type.Array(
    Type.Object({
      skillId: Type.String(),
      name: Type.String(),
      subSkill: Type.String(),
      masterSkill: Type.String(),
      verifiable: Type.Boolean(),
    }),
  ),
})

export const TokenParams = Type.Object({ sessionToken })
export const IdParams = Type.Object({ serviceVerificationId: verificationId })

/** This API's success envelope. */
export function answerOf<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data, message: Type.String() })
}

export const TimedAssessment = Type.Object({
  success: Type.Literal(true),
  data: Assessment,
  message: Type.String(),
  executionTime: Type.Optional(Type.String({ description: 'Where this call made the questions: such as `840ms`.' })),
})

export type SessionInput = Static<typeof SessionInput>
export type Project = Static<typeof Project>
export type Experience = Static<typeof Experience>
export type Certificate = Static<typeof Certificate>
export type SkillsInput = Static<typeof SkillsInput>
export type ItemsInput = Static<typeof ItemsInput>
export type ReviewerInput = Static<typeof ReviewerInput>
export type ReviewInput = Static<typeof ReviewInput>
export type AnswersInput = Static<typeof AnswersInput>
export type Source = Static<typeof Source>
export type SkillOutcome = Static<typeof SkillOutcome>
