import { Ajv2019, type ErrorObject } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'

/**
 * The structural rules of Open Badges 3.0 that concern the credentials of this project, written from the specification. 1EdTech's own
 * JSON Schema is in no package; a benchmark run can use a downloaded copy. These rules are stricter: they also reject properties
 * that are not listed.
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

const identityTypes = ['name', 'sourcedId', 'systemId', 'userName', 'accountId', 'emailAddress', 'identifier']
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
    targetType: extensible(['ceasn:Competency', 'ceterms:Credential', 'CFItem', 'CFRubric', 'CTDL']),
  },
)

const resultDescription = object(
  { id: uri, type: typed('ResultDescription'), name: text, resultType: extensible(resultTypes) },
  { allowedValue: list(text), requiredValue: text, valueMin: text, valueMax: text },
)

const achievement = object(
  {
    id: uri,
    type: typed('Achievement'),
    name: text,
    description: text,
    criteria: object({}, { id: uri, narrative: text }),
  },
  {
    achievementType: extensible([
      'Achievement',
      'Assessment',
      'Badge',
      'Certificate',
      'Competency',
      'Course',
      'License',
    ]),
    alignment: list(alignment),
    humanCode: text,
    inLanguage: text,
    resultDescription: list(resultDescription),
    tag: list(text),
  },
)

const achievementSubject = {
  ...object(
    { type: typed('AchievementSubject'), achievement },
    {
      id: uri,
      identifier: list(identityObject),
      narrative: text,
      result: list(object({ type: typed('Result') }, { resultDescription: uri, value: text, achievedLevel: uri })),
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
      issuer: object({ id: uri, type: typed('Profile'), name: text }, { url: uri, description: text, image: {} }),
      validFrom: dateTime,
      name: text,
      credentialSubject: achievementSubject,
    },
    {
      description: text,
      validUntil: dateTime,
      credentialStatus: object({
        id: uri,
        type: { const: 'BitstringStatusListEntry' },
        statusPurpose: { const: 'revocation' },
        statusListIndex: { type: 'string', pattern: '^\\d+$' },
        statusListCredential: uri,
      }),
      evidence: list(
        object({ type: typed('Evidence') }, { id: uri, name: text, narrative: text, genre: text, description: text }),
      ),
      proof,
    },
  ),
}

const ajv = new Ajv2019({ allErrors: true, strictRequired: false })
addFormats.default(ajv)
const validate = ajv.compile(openBadgeSchema)

/** Returns what is wrong with the structure of an Open Badge; empty if nothing is. */
export function openBadgeErrors(credential: unknown): string[] {
  validate(credential)
  return (validate.errors ?? []).map(({ instancePath, message }: ErrorObject) => `${instancePath || '/'} ${message}`)
}
