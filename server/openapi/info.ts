import { CatalogueError, PartnerError, VerificationError } from '../api/error-schemas.ts'
import { catalogueErrorCodes, type ErrorCode, partnerErrorCodes, verificationErrorCodes } from '../api/problem.ts'
import type { apis } from '../app.ts'

interface ApiInfo {
  title: string
  description: string
  codes: Partial<Record<ErrorCode, number>>
  error: object
  securitySchemes: Record<string, object>
  /** Security requirements of operations that declare none. */
  security: Record<string, string[]>[]
  tags: { name: string; description: string }[]
}

const partnerDescription = [
  'Job mandates, campaigns and results for partner systems. A TEST key reads and writes test data only.',
  '',
  '## Signing',
  '',
  'Every request has three headers: `x-api-key` (the key ID), `x-timestamp` (Unix time in seconds, within 5 minutes of the server clock) and `x-signature`. The signature is `v1=` followed by the lower-case hex HMAC-SHA256 of these seven lines, joined by newlines, with the secret as the key:',
  '',
  // Short lines, so that they fit on the screen of a phone.
  '```text',
  'VFN1',
  '{x-timestamp}',
  '{METHOD}',
  '{path and query}',
  '{x-on-behalf-of}',
  '{Idempotency-Key}',
  '{SHA-256 of the body}',
  '```',
  '',
  'The method is in upper case. The path and query are exactly as sent. If a header is not sent, its line is empty. The hash is the lower-case hex SHA-256 of the raw bytes of the body, or of the empty string if there is no body.',
  '',
  'With a TEST key, a 401 response shows the seven lines as the server computed them. `npx attestry request GET /shifts` sends a signed request for you.',
  '',
  '## Rate limits',
  '',
  'Every authenticated response has the headers `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` for the one-minute window of the rate limit class of the operation. A 429 response also has `Retry-After`, in seconds.',
].join('\n')

const apiKey = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

/** The parts of the OpenAPI descriptions that are not generated from routes. */
export const apiInfo: Record<keyof typeof apis, ApiInfo> = {
  partner: {
    title: 'Attestry partner API',
    description: partnerDescription,
    codes: partnerErrorCodes,
    error: PartnerError,
    securitySchemes: {
      key: apiKey('x-api-key', 'The key ID, `VFN_TEST_…` or `VFN_LIVE_…`.'),
      timestamp: apiKey('x-timestamp', 'Unix time in seconds, within 5 minutes of the server clock.'),
      signature: apiKey('x-signature', '`v1=` followed by a hex HMAC-SHA256; see Signing.'),
    },
    security: [{ key: [], timestamp: [], signature: [] }],
    tags: [
      { name: 'Skills', description: 'Search, browse, match and extract skills of the catalogue.' },
      { name: 'Skill requests', description: 'Requests to add missing skills to the catalogue.' },
      { name: 'Lookups', description: 'Values for forms: places, countries, employment types and shifts.' },
      {
        name: 'Workflows',
        description:
          'The methods, channels, languages and follow-ups with which candidates are contacted, shared by mandates.',
      },
      { name: 'Job mandates', description: 'Jobs for which candidates are verified.' },
      {
        name: 'Items',
        description:
          'The question bank of the organisation. Mandates prefer its questions; their texts are never returned.',
      },
      { name: 'Campaigns', description: 'Candidates who are contacted for a mandate.' },
      {
        name: 'Test clocks',
        description:
          'Clocks that the campaigns and verification sessions of TEST mode can run on. You move their time, instead of waiting for it.',
      },
      { name: 'Credits', description: 'The credit balance and its history. Enrolling a candidate costs one credit.' },
      { name: 'Spending', description: 'Prices of messages, the cost of campaigns, and caps that limit it.' },
      { name: 'Results', description: 'The outcome of the conversation with each candidate.' },
      { name: 'Credentials', description: 'Verifiable credentials of candidates and students who want them.' },
      { name: 'Embedding', description: 'Pages of candidates and reports of results in a frame of your own website.' },
      {
        name: 'People',
        description: 'The rights of people: find, export, correct, restrict and erase what is stored about a person.',
      },
      { name: 'Analytics', description: 'Live figures about campaigns.' },
      {
        name: 'Events',
        description:
          'Notifications of changes, for example to results and mandates. Pull and acknowledge them here, or receive them by webhook.',
      },
      { name: 'Request log', description: 'The requests of your organisation, with the errors that they received.' },
      { name: 'Webhooks', description: 'Endpoints to which events are sent, and their deliveries.' },
    ],
  },
  verification: {
    title: 'Attestry verification sessions',
    description:
      "Verifies a student's skills against projects, work experience and certificates, through a reviewer or an assessment.",
    codes: verificationErrorCodes,
    error: VerificationError,
    securitySchemes: {
      key: apiKey('x-api-key', 'A session key, `VSK_TEST_…` or `VSK_LIVE_…`.'),
      session: apiKey('x-session-token', "The student's session token, `vst_…`."),
    },
    security: [],
    tags: [
      { name: 'Sessions', description: 'Open and read verification sessions.' },
      { name: 'Steps', description: 'The three steps of a session: skills, method and items.' },
      { name: 'Human endorsement', description: 'The reviewer, the review page and the review.' },
      { name: 'Assessment', description: 'The questions and answers of an assessment.' },
      { name: 'Credentials', description: 'Verifiable credentials, issued if the student wants them.' },
      { name: 'Files', description: 'Photos and documents that prove the work of the student.' },
      {
        name: 'Guardians',
        description: 'Consent of a guardian for students below 18, if the organisation requires it.',
      },
    ],
  },
  catalogue: {
    title: 'Attestry skill catalogue',
    description:
      'The public skill catalogue and the skills that users select. No key is needed; requests are limited per IP address. The admin operations require the admin key.',
    codes: catalogueErrorCodes,
    error: CatalogueError,
    securitySchemes: { admin: apiKey('x-api-key', 'The admin key.') },
    security: [],
    tags: [
      { name: 'Skills', description: 'Search and browse skills, sub-skills and master skills.' },
      {
        name: 'Selected skills',
        description:
          "The skills that users have selected. No key is needed: anyone with a user's ID can read and change them.",
      },
      { name: 'Admin', description: 'Usage figures for the operator. Requires the admin key.' },
    ],
  },
}
