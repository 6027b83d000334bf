import { type Static, type TSchema, Type } from 'typebox'
import { PageBrand } from '../../branding/schema.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { LANGUAGES } from '../../platform/text/languages.ts'

/** Requests and responses of the candidate's page. */

const closed = { additionalProperties: false }
const text = Type.String()

export const ReplyBody = Type.Object(
  {
    step: Type.Integer({ minimum: 1, description: 'The step of the question that this reply answers.' }),
    value: Type.Optional(Type.String({ maxLength: 20, description: 'The value of the chosen option.' })),
    text: Type.Optional(Type.String({ maxLength: 4000 })),
    client_id: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: 'An ID that the client chooses for this reply. A retry with the same ID has no effect.',
    }),
    have: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'The last step whose question the page has already received. If set, the response contains only the data that a reply changes, and only upcoming questions after this step.',
      }),
    ),
  },
  closed,
)
export const LanguageBody = Type.Object({ language: Type.Enum([...LANGUAGES]) }, closed)

const ConversationChoice = named('ConversationChoice', Type.Object({ value: text, label: text }))

export const ConversationPrompt = named(
  'ConversationPrompt',
  Type.Object({
    step: Type.Integer({ description: 'Number of this step. A reply to this prompt must contain it as `step`.' }),
    kind: Type.Enum(['notice', 'yes_no', 'choices', 'words']),
    text,
    choices: Type.Array(ConversationChoice),
  }),
)

const CandidatePrompt = named(
  'CandidatePrompt',
  Type.Object({
    ...ConversationPrompt.properties,
    ask: Type.String({ description: 'Identifies the question, independent of its language and step.' }),
    back: Type.Boolean({ description: 'True if the candidate can go back and change the previous answer.' }),
  }),
)

const Exchange = named('ConversationExchange', Type.Object({ asked: text, answer: text }))

const PageLabels = named(
  'PageLabels',
  Type.Object({
    send: text,
    language: text,
    progress: text,
    offline: text,
    retry: text,
    failed: text,
    loading: text,
    answer: text,
    back: text,
    speak: text,
    hint: text,
    stop: text,
    stopSure: text,
    stopped: text,
    yes: text,
    no: text,
    unknown: text,
    paused: text,
    privacy: text,
    expired: text,
    gone: text,
  }),
)

const turnFields = {
  language: text,
  step: Type.Integer(),
  progress: Type.Object({ done: Type.Integer(), total: Type.Integer() }),
  status: Type.Enum(['open', 'ended', 'closed'], {
    description:
      'State of the conversation: `open`, `ended` by the candidate, or was `closed` because it expired or the campaign ended.',
  }),
  ending: Type.Union([text, Type.Null()]),
  prompts: Type.Array(CandidatePrompt, { description: 'The current question, or the closing message.' }),
  ahead: Type.Array(CandidatePrompt, {
    description: 'The next questions, which are asked regardless of the answer to the current question.',
  }),
}

/** The data of the page that changes with a reply. */
export const CandidateTurn = named('CandidateTurn', Type.Object(turnFields))

export const CandidateView = named(
  'CandidateView',
  Type.Object({
    ...turnFields,
    name: text,
    company: text,
    title: text,
    brand: Type.Optional(PageBrand),
    languages: Type.Array(Type.Object({ code: text, name: text })),
    labels: PageLabels,
    past: Type.Array(Exchange, { description: 'Earlier questions with the answers of the candidate.' }),
  }),
)

/** Embedded in the page instead of a view when the link is invalid or has expired, the rate limit is exceeded or the organisation is paused. */
export const CandidatePageError = named(
  'CandidatePageError',
  Type.Object({
    wrong: Type.Enum(['unknown', 'failed', 'paused', 'expired', 'gone']),
    language: text,
    labels: PageLabels,
    help: Type.Optional(Type.String({ description: 'Advice for the person.' })),
    title: Type.Optional(
      Type.String({ description: 'The job; only if the link was valid and the data was not erased.' }),
    ),
    company: Type.Optional(text),
    brand: Type.Optional(PageBrand),
    contact_email: Type.Optional(Type.String({ description: 'Address to which the organisation wants replies.' })),
  }),
)
export type CandidatePageError = Static<typeof CandidatePageError>

/** Returns the schema of a successful response to the candidate's page, which has no message. */
export function candidateResponse<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data })
}
