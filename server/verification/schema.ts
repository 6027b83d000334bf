import { type Static, type TSchema, Type } from 'typebox'
import { PageBrand } from '../branding/schema.ts'
import { nameAfter, named } from '../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { ITEM_SOURCES } from '../questions/skill-items.ts'
import { attachedTestClock, TestClockId } from '../test-clocks/schema.ts'
import { evidenceCodes, evidenceEffects, evidenceLevels } from './endorsements/evidence.ts'
import { type GuardianState, guardianStates } from './guardian-consents.ts'
import { ProofFile } from './proofs/schema.ts'
import { EndedTestScript, SessionTestScript } from './test-scripts/schema.ts'

/** Schemas of the verification API. Unknown properties are ignored. Fields with their own error codes are checked in `fields.ts`. */

const MAX_ITEMS_PER_LIST = 50
const MAX_PROOF_URLS = 5
const MAX_URL_LENGTH = 2000

const endorsementTypes = ['manager', 'mentor', 'peer', 'client', 'faculty'] as const
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
const outcomes = ['pending', 'endorsed', 'not_endorsed', 'passed', 'not_passed', 'not_assessed'] as const

export type EndorsementType = (typeof endorsementTypes)[number]
export type VerificationMethod = (typeof methods)[number]
export type VerificationStatus = (typeof statuses)[number]
export type VerificationOutcome = (typeof outcomes)[number]

const oneOf = <const T extends readonly string[]>(values: T) => Type.Unsafe<T[number]>(Type.Enum([...values]))
const text = (maxLength: number) => Type.String({ maxLength })
const nonBlankText = (maxLength: number) => Type.String({ maxLength, pattern: NOT_BLANK_PATTERN })
const url = Type.String({ maxLength: MAX_URL_LENGTH, description: 'An http or https URL.' })
const time = Type.String({ format: 'date-time' })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const verificationId = Type.String({ description: 'The verification ID, `SV_…`, returned by `POST /verify`.' })
const sessionToken = Type.String({ description: 'The session token, `vst_…`, returned by `POST /verify`.' })
const date = Type.String({
  maxLength: 40,
  description: 'A date in any format, for example `2024-06`. Shown to reviewers as sent.',
})

export const StatusSchema = named('VerificationStatus', oneOf(statuses))
export const MethodSchema = named(
  'VerificationMethod',
  Type.Unsafe<VerificationMethod>(
    Type.Enum([...methods], {
      description: '`human`: a reviewer confirms the skills. `assessment`: the student answers questions.',
    }),
  ),
)
const EndorsementTypeSchema = named('EndorsementType', oneOf(endorsementTypes))
const OutcomeSchema = named('VerificationOutcome', oneOf(outcomes))
const descriptionText = text(10_000)

const projectFields = { externalProjectId: nonBlankText(128), projectName: nonBlankText(200) }
const certificateFields = { externalCertificateId: nonBlankText(128), certificateName: nonBlankText(200) }
const experienceFields = {
  externalExperienceId: nonBlankText(128),
  companyName: nonBlankText(200),
  role: nonBlankText(200),
}

export const Project = named(
  'Project',
  Type.Object({
    ...projectFields,
    role: Type.Optional(text(200)),
    description: Type.Optional(descriptionText),
    url: Type.Optional(url),
    startDate: Type.Optional(date),
    endDate: Type.Optional(date),
  }),
)
export const Experience = named(
  'WorkExperience',
  Type.Object({
    ...experienceFields,
    description: Type.Optional(descriptionText),
    startDate: Type.Optional(date),
    endDate: Type.Optional(date),
  }),
)
export const Certificate = named(
  'Certificate',
  Type.Object({
    ...certificateFields,
    issuer: Type.Optional(text(200)),
    description: Type.Optional(descriptionText),
    url: Type.Optional(url),
    issueDate: Type.Optional(date),
  }),
)
/** More than any session has, so that a request with too many gets the error of its endpoint. */
const MAX_REFERENCES_PER_REQUEST = 1000
const listOf = <T extends TSchema>(item: T) => Type.Array(item, { maxItems: MAX_ITEMS_PER_LIST })

const studentFields = {
  externalStudentId: nonBlankText(128),
  name: nonBlankText(200),
  email: Type.String({ maxLength: 254 }),
  phone: Type.Optional(text(40)),
}

export const Age = Type.Integer({
  minimum: 0,
  maximum: 150,
  description:
    'The age of the student in years. Only whether it is below 18 is stored. If the organisation requires it, a student below 18 needs the consent of a guardian.',
})

export const SessionInput = named(
  'VerificationSessionInput',
  Type.Object({
    ...studentFields,
    projects: Type.Optional(listOf(Project)),
    workExperiences: Type.Optional(listOf(Experience)),
    certificates: Type.Optional(listOf(Certificate)),
    returnUrl: Type.Optional(url),
    age: Type.Optional(Age),
    testClockId: Type.Optional(TestClockId),
    testScript: Type.Optional(SessionTestScript),
  }),
)
export const OpenedSession = named(
  'OpenedVerificationSession',
  Type.Object({
    sessionToken,
    serviceVerificationId: verificationId,
    serviceUserId: Type.String(),
    expiresAt: time,
  }),
)

const SessionSkill = named(
  'SessionSkill',
  Type.Object({ skillId: Type.String(), name: Type.String(), proofUrl: Type.Array(Type.String()) }),
)
const notAssessable = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'With the method `assessment`: IDs of the chosen skills that cannot be assessed, because there are too few questions about them.',
  }),
)
const SelectedItems = named(
  'SelectedItems',
  Type.Object({
    projects: Type.Array(Type.Object({ serviceProjectId: Type.String(), ...projectFields })),
    experience: Type.Array(Type.Object({ serviceExperienceId: Type.String(), ...experienceFields })),
    certificates: Type.Array(Type.Object({ serviceCertificateId: Type.String(), ...certificateFields })),
  }),
)
export const Reviewer = named(
  'Reviewer',
  Type.Object({
    serviceVerificationId: verificationId,
    name: Type.String(),
    email: Type.String(),
    company: Type.String(),
    website: Type.Optional(Type.String()),
    phone: Type.Optional(
      Type.String({
        description:
          'Phone number in E.164 format; the link is also sent to it. Absent if no number was given, and always absent in the response of `GET /storereviewerdetails/{serviceVerificationId}`.',
        examples: ['+919812345678'],
      }),
    ),
  }),
)
export const StoredReviewerResponse = named(
  'StoredReviewerResponse',
  Type.Object({ success: Type.Literal(true), data: Reviewer }),
)

export const Student = named('Student', Type.Object(studentFields))

const EvidenceReason = named(
  'EvidenceReason',
  Type.Object({
    code: oneOf(evidenceCodes),
    effect: oneOf(evidenceEffects),
    text: Type.String({ description: 'The reason in English. New texts and codes may be added.' }),
  }),
)
const evidenceFields = {
  evidenceLevel: Type.Optional(
    Type.Unsafe<(typeof evidenceLevels)[number]>(
      Type.Enum([...evidenceLevels], {
        description:
          'Strength of the evidence that the endorsement provides for the skills. Present if the reviewer endorsed at least one skill. It can change later, for example if the student endorses the reviewer in return.',
      }),
    ),
  ),
  reasons: Type.Optional(Type.Array(EvidenceReason, { description: 'The reasons for `evidenceLevel`.' })),
}

const AssessmentEvidence = named(
  'AssessmentEvidence',
  Type.Object({
    itemSource: Type.Enum([...ITEM_SOURCES], {
      description:
        'Source of the questions: the public `bank`, the `private` bank of your organisation, or the `ai` writer.',
    }),
    language: Type.Enum([...LANGUAGES], { description: 'Language in which the questions were asked.' }),
  }),
)
const assessmentFields = {
  correct: Type.Integer(),
  total: Type.Integer(),
  unpilotedQuestions: Type.Integer({
    description:
      'Number of questions that are still being tried out: fewer than 30 people have answered them. Their answers weigh less.',
  }),
  verdict: Type.Enum(['passed', 'not_passed', 'inconclusive'], {
    description:
      '`passed` or `not_passed` if the answers show it with a certainty of at least 95 %, and `inconclusive` if they allow neither.',
  }),
  confidence: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'Probability that the verdict is right under the measurement model. For `inconclusive`, that of the more likely verdict.',
  }),
  evidence: Type.Union([AssessmentEvidence, Type.Null()], {
    description: 'The questions of the attempt; null for attempts of earlier versions.',
  }),
  summary: Type.String({ description: 'The evidence in English, for people who decide with the verdict.' }),
}
const SkillAssessment = named(
  'SkillAssessment',
  Type.Object(assessmentFields, {
    description: 'The last submitted attempt at the skill in this session. Absent without one.',
  }),
)
const SkillOutcome = named(
  'SkillOutcome',
  Type.Object({
    skillId: Type.String(),
    name: Type.String(),
    outcome: OutcomeSchema,
    rating: Type.Optional(Type.Integer()),
    comment: Type.Optional(Type.String()),
    assessment: Type.Optional(SkillAssessment),
  }),
)
const organisationName = Type.String({
  description: 'Name of the organisation that requested the verification, as shown on pages and in emails.',
})

export const FullSession = named(
  'VerificationSession',
  Type.Object({
    serviceVerificationId: verificationId,
    serviceUserId: Type.String(),
    status: StatusSchema,
    verificationMethod: orNull(MethodSchema),
    endorsementType: EndorsementTypeSchema,
    student: Student,
    projects: Type.Array(Project),
    workExperiences: Type.Array(Experience),
    certificates: Type.Array(Certificate),
    skills: Type.Array(SessionSkill),
    notAssessable,
    stored: SelectedItems,
    proofFiles: Type.Array(ProofFile, { description: 'Files that the student has attached to items.' }),
    reviewer: orNull(Reviewer),
    ...evidenceFields,
    guardianConsent: Type.Optional(
      Type.Unsafe<GuardianState>(
        Type.Enum([...guardianStates], {
          description:
            'The state of the rule for students below 18: `age_required` until the age is stated, `required` until a guardian is asked, `pending` until the guardian agrees, then `given`. Absent if the organisation has no rule for students below 18.',
        }),
      ),
    ),
    outcomes: Type.Optional(
      Type.Array(SkillOutcome, {
        description: 'The outcome of each skill. Present if the status is `completed`, `declined` or `failed`.',
      }),
    ),
    completedAt: Type.Optional(time),
    expiresAt: time,
    testClockId: attachedTestClock,
    returnUrl: Type.Optional(Type.String()),
    organisationName,
    brand: Type.Optional(PageBrand),
  }),
)

export const VerificationSource = named(
  'VerificationSource',
  Type.Object({
    type: oneOf(['experience', 'project', 'certificate']),
    title: Type.String(),
    subtitle: orNull(Type.String()),
    meta: orNull(Type.String()),
    description: orNull(Type.String()),
  }),
)
export const IssuedCredential = named(
  'IssuedCredential',
  Type.Object({
    credentialId: Type.String(),
    skillId: Type.String(),
    url: Type.String({ description: 'The public page of the credential.' }),
  }),
)
export type IssuedCredential = Static<typeof IssuedCredential>

export const Verification = named(
  'Verification',
  Type.Object({
    serviceVerificationId: verificationId,
    serviceUserId: Type.String(),
    externalStudentId: Type.String(),
    status: StatusSchema,
    verificationMethod: orNull(MethodSchema),
    endorsementType: EndorsementTypeSchema,
    testClockId: attachedTestClock,
    testScript: Type.Optional(EndedTestScript),
    source: Type.Optional(VerificationSource),
    skills: Type.Array(SkillOutcome),
    ...evidenceFields,
    score: orNull(Type.Integer()),
    completedAt: Type.Optional(time),
    declineReason: Type.Optional(
      Type.String({ description: 'Reason for which the reviewer declined or withdrew the endorsement.' }),
    ),
    withdrawnAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Time at which the endorsement was withdrawn. Absent otherwise.',
      }),
    ),
    withdrawnBy: Type.Optional(Type.Enum(['reviewer', 'organisation', 'operator'])),
    credentials: Type.Array(IssuedCredential, {
      description: 'The credentials that were issued because the student wants them. Empty without consent.',
    }),
  }),
)

const SkillChoice = Type.Object({
  skillId: Type.String(),
  proofUrl: Type.Optional(Type.Array(url, { maxItems: MAX_PROOF_URLS })),
})
export const SkillsInput = named(
  'SessionSkillsInput',
  Type.Object({
    sessionToken,
    skills: Type.Array(SkillChoice, { maxItems: MAX_REFERENCES_PER_REQUEST }),
    endorsementType: Type.Optional(EndorsementTypeSchema),
  }),
)
export const StoredSkills = named(
  'SessionSkills',
  Type.Object({
    serviceVerificationId: verificationId,
    skills: Type.Array(SessionSkill),
    endorsementType: EndorsementTypeSchema,
  }),
)

export const MethodInput = named(
  'VerificationMethodChoice',
  Type.Object({ serviceVerificationId: verificationId, verificationMethod: MethodSchema }),
)

export const StoredMethod = named(
  'StoredVerificationMethod',
  Type.Object({
    ...MethodInput.properties,
    notAssessable,
  }),
)

const externalIds = Type.Optional(Type.Array(Type.String(), { maxItems: MAX_REFERENCES_PER_REQUEST }))
export const ItemsInput = named(
  'SessionItemsInput',
  Type.Object({
    sessionToken,
    projectIds: externalIds,
    workExperienceIds: externalIds,
    credentialIds: externalIds,
  }),
)
export const StoredItems = named(
  'SessionItems',
  Type.Object({
    serviceVerificationId: verificationId,
    serviceUserId: Type.String(),
    stored: SelectedItems,
  }),
)

export const SessionEmail = named(
  'SessionEmailResponse',
  Type.Object({
    success: Type.Literal(true),
    email: Type.String(),
    name: Type.String(),
    serviceUserId: Type.String(),
  }),
)

export const ReviewerInput = named(
  'ReviewerInput',
  Type.Object({
    serviceVerificationId: verificationId,
    name: nonBlankText(200),
    email: Type.String({ maxLength: 254 }),
    company: nonBlankText(200),
    website: Type.Optional(orNull(Type.String({ maxLength: MAX_URL_LENGTH }))),
    phone: Type.Optional(
      orNull(
        Type.String({
          maxLength: 40,
          description:
            'Phone number in E.164 format. The link is sent to it by WhatsApp or SMS, in addition to the email, if the organisation has set up the channel.',
          examples: ['+919812345678'],
        }),
      ),
    ),
  }),
)

export const ReviewPage = named(
  'ReviewPage',
  Type.Object({
    serviceVerificationId: verificationId,
    endorserInfo: Type.Object({ name: Type.String(), company: Type.String(), email: Type.String() }),
    requesterInfo: Type.Object({ name: Type.String(), email: Type.String(), externalStudentId: Type.String() }),
    source: VerificationSource,
    proofFiles: Type.Array(ProofFile, {
      description:
        'Files that the student has attached to the items. To read their content, send the token from the email.',
    }),
    skills: Type.Array(SessionSkill),
    endorsementType: EndorsementTypeSchema,
    organisationName,
    status: StatusSchema,
    withdrawable: Type.Boolean({
      description: 'True if the reviewer has endorsed a skill, and can withdraw the endorsement until `expiresAt`.',
    }),
    expiresAt: time,
  }),
)

const ReviewDecision = named(
  'ReviewDecision',
  Type.Object({
    skillId: Type.String(),
    endorsed: Type.Boolean(),
    rating: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    comment: Type.Optional(text(1000)),
  }),
)
export const ReviewInput = named(
  'ReviewInput',
  Type.Object({
    serviceVerificationId: verificationId,
    token: Type.String({ description: 'The token from the link in the email to the reviewer.' }),
    decisions: Type.Optional(
      Type.Array(ReviewDecision, {
        maxItems: MAX_REFERENCES_PER_REQUEST,
        description: 'Exactly one decision per skill. Required unless `declined` is true.',
      }),
    ),
    declined: Type.Optional(Type.Boolean()),
    reason: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Reason for which the reviewer declines. Required if `declined` is true.',
      }),
    ),
  }),
)
export const WithdrawalInput = named(
  'WithdrawalInput',
  Type.Object({
    serviceVerificationId: verificationId,
    token: Type.String({ description: 'The token from the link in the email to the reviewer.' }),
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: '\\S',
      description: 'Shown to the student and to the partner.',
    }),
  }),
)
export const SubmittedReview = named(
  'SubmittedReview',
  Type.Object({
    serviceVerificationId: verificationId,
    status: StatusSchema,
    skills: Type.Array(SkillOutcome),
  }),
)

const AssessmentQuestion = named(
  'AssessmentQuestion',
  Type.Object({
    questionId: Type.String(),
    question: Type.String(),
    options: Type.Array(Type.String()),
  }),
)
const Assessment = named(
  'Assessment',
  Type.Object({
    serviceVerificationId: verificationId,
    totalQuestions: Type.Integer(),
    questions: Type.Array(AssessmentQuestion),
    alreadyGenerated: Type.Optional(Type.Literal(true)),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Time until which the answers can be submitted. An attempt without answers counts as failed.',
    }),
    secondsLeft: Type.Integer({
      minimum: 0,
      description: 'Seconds until `expiresAt`, for clients whose clock may be wrong.',
    }),
  }),
)
export const AnswersInput = named(
  'AssessmentAnswersInput',
  Type.Object({
    answers: Type.Array(
      Type.Object({
        questionId: Type.String(),
        option: Type.String({
          description: 'The text of the chosen option. A question without an answer counts as wrong.',
        }),
      }),
      { maxItems: 100 },
    ),
  }),
)
export const AssessmentScore = named(
  'AssessmentScore',
  Type.Object({
    serviceVerificationId: verificationId,
    score: Type.Integer(),
    passed: Type.Boolean(),
    passMark: Type.Integer(),
    correct: Type.Integer(),
    totalQuestions: Type.Integer(),
    skills: Type.Array(
      Type.Object({
        skillId: Type.String(),
        passed: Type.Boolean(),
        ...assessmentFields,
      }),
    ),
    attempt: Type.Integer(),
    attemptsLeft: Type.Integer(),
    locked: Type.Boolean(),
  }),
)

export const SearchQuery = Type.Object({
  q: Type.String({ minLength: 3, maxLength: 100, pattern: NOT_BLANK_PATTERN }),
  limit: Type.Integer({ minimum: 1, maximum: 25, default: 10 }),
})
const SkillSuggestion = named(
  'SkillSuggestion',
  Type.Object({
    skillId: Type.String(),
    name: Type.String(),
    subSkill: Type.String(),
    masterSkill: Type.String(),
    verifiable: Type.Boolean(),
  }),
)
export const SkillSuggestions = named(
  'SkillSuggestions',
  Type.Object({
    skills: Type.Array(SkillSuggestion),
  }),
)

export const TokenParams = Type.Object({ sessionToken })
export const IdParams = Type.Object({ serviceVerificationId: verificationId })

/** The success envelope of the verification API. */
export function successResponse<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data, message: Type.String() }, nameAfter(data, 'Response'))
}

export const AssessmentResponse = named(
  'AssessmentResponse',
  Type.Object({
    success: Type.Literal(true),
    data: Assessment,
    message: Type.String(),
    executionTime: Type.Optional(
      Type.String({
        description: 'Time taken to generate the questions, for example `840ms`. Absent if they existed already.',
      }),
    ),
  }),
)

export type SessionInput = Static<typeof SessionInput>
export type Project = Static<typeof Project>
export type Experience = Static<typeof Experience>
export type Certificate = Static<typeof Certificate>
export type SkillsInput = Static<typeof SkillsInput>
export type ItemsInput = Static<typeof ItemsInput>
export type ReviewerInput = Static<typeof ReviewerInput>
export type ReviewInput = Static<typeof ReviewInput>
export type AnswersInput = Static<typeof AnswersInput>
export type VerificationSource = Static<typeof VerificationSource>
export type SkillOutcome = Static<typeof SkillOutcome>
export type SkillAssessment = Static<typeof SkillAssessment>
