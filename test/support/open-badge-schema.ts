import { Ajv2019, type ErrorObject } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'

/**
 * The structural rules of Open Badges 3.0 and Comprehensive Learner Record 2.0 that concern the credentials of this project. They state
 * the classes, multiplicities and enumerations of 1EdTech's data model in its form for Verifiable Credentials 2.0, and were compared with
 * 1EdTech's JSON Schema of Open Badges 3.0. That schema is in no package; `official-schemas.ts` uses a downloaded copy. These rules are
 * stricter: they reject properties that are not listed, although the standard allows extensions, require the names of credentials and
 * issuers, and leave out the properties that we do not use and that have a class of their own.
 */

const text = { type: 'string', minLength: 1 }
const uri = { type: 'string', format: 'uri' }
const dateTime = { type: 'string', format: 'date-time' }

function object(required: Record<string, object>, optional: Record<string, object> = {}) {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  }
}

function list(items: object) {
  return { type: 'array', items, minItems: 1 }
}

/** The property `type`: a list that contains the name of the class. */
function typed(name: string) {
  return { type: 'array', items: text, contains: { const: name }, minItems: 1 }
}

/** A value of an enumeration, or an extension such as `ext:phoneNumber`. */
function extensible(values: string[]) {
  return { anyOf: [{ enum: values }, { type: 'string', pattern: '^ext:[\\w.-]+$' }] }
}

const identityTypes = [
  'name',
  'sourcedId',
  'systemId',
  'productId',
  'userName',
  'accountId',
  'emailAddress',
  'nationalIdentityNumber',
  'isbn',
  'issn',
  'lisSourcedId',
  'oneRosterSourcedId',
  'sisSourcedId',
  'ltiContextId',
  'ltiDeploymentId',
  'ltiToolId',
  'ltiPlatformId',
  'ltiUserId',
  'identifier',
]
const achievementTypes = [
  'Achievement',
  'ApprenticeshipCertificate',
  'Assessment',
  'Assignment',
  'AssociateDegree',
  'Award',
  'BachelorDegree',
  'Badge',
  'Certificate',
  'CertificateOfCompletion',
  'Certification',
  'CoCurricular',
  'CommunityService',
  'Competency',
  'Course',
  'Degree',
  'Diploma',
  'DoctoralDegree',
  'Fieldwork',
  'GeneralEducationDevelopment',
  'JourneymanCertificate',
  'LearningProgram',
  'License',
  'MasterCertificate',
  'MasterDegree',
  'Membership',
  'MicroCredential',
  'ProfessionalDoctorate',
  'QualityAssuranceCredential',
  'ResearchDoctorate',
  'SecondarySchoolDiploma',
]
const alignmentTargetTypes = [
  'ceasn:Competency',
  'ceterms:Credential',
  'CFItem',
  'CFRubric',
  'CFRubricCriterion',
  'CFRubricCriterionLevel',
  'CTDL',
]
const resultStatuses = ['Completed', 'Enrolled', 'Failed', 'InProgress', 'OnHold', 'Provisional', 'Withdrew']
const resultTypes = [
  'GradePointAverage',
  'LetterGrade',
  'Percent',
  'PerformanceLevel',
  'PredictedScore',
  'RawScore',
  'Result',
  'RubricCriterion',
  'RubricCriterionLevel',
  'RubricScore',
  'ScaledScore',
  'Status',
]

const identityObject = {
  ...object(
    {
      type: { const: 'IdentityObject' },
      hashed: { type: 'boolean' },
      identityHash: text,
      identityType: extensible(identityTypes),
    },
    { salt: text },
  ),
  if: { type: 'object', properties: { hashed: { const: true } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    type: 'object',
    properties: { identityHash: { type: 'string', pattern: '^(sha256\\$[0-9a-f]{64}|md5\\$[0-9a-f]{32})$' } },
  },
}

const alignment = object(
  { type: typed('Alignment'), targetName: text, targetUrl: uri },
  {
    targetCode: text,
    targetDescription: text,
    targetFramework: text,
    targetType: extensible(alignmentTargetTypes),
  },
)

const resultDescription = object(
  { id: uri, type: typed('ResultDescription'), name: text, resultType: extensible(resultTypes) },
  {
    alignment: list(alignment),
    allowedValue: list(text),
    requiredLevel: uri,
    requiredValue: text,
    valueMin: text,
    valueMax: text,
  },
)

const result = object(
  { type: typed('Result') },
  {
    achievedLevel: uri,
    alignment: list(alignment),
    resultDescription: uri,
    status: { enum: resultStatuses },
    value: text,
  },
)

const image = object({ id: uri, type: { const: 'Image' } }, { caption: text })

const profile = object({ id: uri, type: typed('Profile'), name: text }, { url: uri, description: text, image })

const achievement = object(
  {
    id: uri,
    type: typed('Achievement'),
    name: text,
    description: text,
    criteria: object({}, { id: uri, narrative: text }),
  },
  {
    achievementType: extensible(achievementTypes),
    alignment: list(alignment),
    creator: profile,
    creditsAvailable: { type: 'number' },
    fieldOfStudy: text,
    humanCode: text,
    image,
    inLanguage: { type: 'string', pattern: '^[a-z]{2,4}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$' },
    resultDescription: list(resultDescription),
    specialization: text,
    tag: list(text),
    version: text,
  },
)

const achievementSubject = {
  ...object(
    { type: typed('AchievementSubject'), achievement },
    {
      id: uri,
      activityEndDate: dateTime,
      activityStartDate: dateTime,
      creditsEarned: { type: 'number' },
      identifier: list(identityObject),
      image,
      licenseNumber: text,
      narrative: text,
      result: list(result),
      role: text,
      source: profile,
      term: text,
    },
  ),
  anyOf: [{ required: ['id'] }, { required: ['identifier'] }],
}

const proof = object({
  type: { const: 'DataIntegrityProof' },
  cryptosuite: { const: 'eddsa-rdfc-2022' },
  created: dateTime,
  verificationMethod: uri,
  proofPurpose: { const: 'assertionMethod' },
  proofValue: { type: 'string', pattern: '^z[1-9A-HJ-NP-Za-km-z]{80,100}$' },
})

export const openBadgeSchema = {
  $schema: 'https://json-schema.org/draft/2019-09/schema',
  ...object(
    {
      '@context': {
        type: 'array',
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        items: [
          { const: 'https://www.w3.org/ns/credentials/v2' },
          { type: 'string', pattern: '^https://purl\\.imsglobal\\.org/spec/ob/v3p0/context-3\\.\\d+\\.\\d+\\.json$' },
        ],
      },
      id: uri,
      type: {
        allOf: [
          typed('VerifiableCredential'),
          { type: 'array', contains: { enum: ['OpenBadgeCredential', 'AchievementCredential'] } },
        ],
      },
      issuer: profile,
      validFrom: dateTime,
      name: text,
      credentialSubject: achievementSubject,
    },
    {
      description: text,
      image,
      awardedDate: dateTime,
      validUntil: dateTime,
      credentialStatus: object({
        id: uri,
        type: { const: 'BitstringStatusListEntry' },
        statusPurpose: { const: 'revocation' },
        statusListIndex: { type: 'string', pattern: '^\\d+$' },
        statusListCredential: uri,
      }),
      evidence: list(
        object(
          { type: typed('Evidence') },
          { id: uri, name: text, narrative: text, genre: text, description: text, audience: text },
        ),
      ),
      proof: list(proof),
    },
  ),
}

const clrSubject = {
  ...object(
    { type: typed('ClrSubject'), verifiableCredential: list(withoutSchema(openBadgeSchema)) },
    { id: uri, identifier: list(identityObject), achievement: list(achievement) },
  ),
  anyOf: [{ required: ['id'] }, { required: ['identifier'] }],
}

function withoutSchema({ $schema: _, ...schema }: typeof openBadgeSchema) {
  return schema
}

/** The structure of a Comprehensive Learner Record 2.0, without the claims of a JWT. */
const learnerRecordSchema = {
  ...openBadgeSchema,
  ...object(
    {
      '@context': {
        type: 'array',
        minItems: 3,
        maxItems: 3,
        additionalItems: false,
        items: [
          { const: 'https://www.w3.org/ns/credentials/v2' },
          { type: 'string', pattern: '^https://purl\\.imsglobal\\.org/spec/clr/v2p0/context-2\\.\\d+\\.\\d+\\.json$' },
          { type: 'string', pattern: '^https://purl\\.imsglobal\\.org/spec/ob/v3p0/context-3\\.\\d+\\.\\d+\\.json$' },
        ],
      },
      id: uri,
      type: { allOf: [typed('VerifiableCredential'), typed('ClrCredential')] },
      issuer: profile,
      validFrom: dateTime,
      name: text,
      credentialSubject: clrSubject,
    },
    { description: text, image, awardedDate: dateTime, validUntil: dateTime, partial: { type: 'boolean' } },
  ),
}

const ajv = new Ajv2019({ allErrors: true, strictRequired: false })
addFormats.default(ajv)
const validateBadge = ajv.compile(openBadgeSchema)
const validateLearnerRecord = ajv.compile(learnerRecordSchema)

/** Returns the errors in the structure of an Open Badge. */
export function openBadgeErrors(credential: unknown): string[] {
  validateBadge(credential)
  return (validateBadge.errors ?? []).map(errorText)
}

/** Returns the errors in the structure of a Comprehensive Learner Record. */
export function learnerRecordErrors(record: unknown): string[] {
  validateLearnerRecord(record)
  return (validateLearnerRecord.errors ?? []).map(errorText)
}

function errorText({ instancePath, message }: ErrorObject): string {
  return `${instancePath || '/'} ${message}`
}
