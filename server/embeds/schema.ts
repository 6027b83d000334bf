import { type Static, type TSchema, Type } from 'typebox'
import { named } from '../platform/http/named-schemas.ts'
import { embedViews } from './embed-sessions.ts'
import { MAX_ORIGIN_LENGTH, MAX_ORIGINS } from './origins.ts'

const closed = { additionalProperties: false }

/** An origin in a request. Its form is checked by `parseOrigin`, whose errors name the mistake. */
export const Origin = Type.String({
  minLength: 1,
  maxLength: MAX_ORIGIN_LENGTH,
  description:
    'Origin of the page that shows the frame: scheme, host and port. It must be on the list of allowed origins of the organisation.',
  examples: ['https://careers.example.com'],
})

export const EmbedSessionBody = named('EmbedSessionInput', Type.Object({ origin: Origin }, closed))

export const EmbedSessionRecord = named(
  'EmbedSession',
  Type.Object({
    embed_id: Type.String({ description: 'ID of the embed session.', examples: ['EMB_01KK5Z6D00YB3V0T7Q2M8N4R6S'] }),
    view: Type.Enum([...embedViews], { description: 'The embedded page.', examples: ['report'] }),
    origin: Type.String({
      description: 'The only origin that can show the page in a frame.',
      examples: ['https://careers.example.com'],
    }),
    url: Type.String({
      description:
        'Address of the frame. It contains a secret token in its fragment and can be opened once. Send it to the browser of the person who is signed in to your website, and do not store or log it.',
      examples: [
        'https://attestry.example.com/embed/EMB_01KK5Z6D00YB3V0T7Q2M8N4R6S#token=Zx3kQ0c1bV9sT7uW5yA2dF4gH6jK8lM0nP2qR4tV6xY',
      ],
    }),
    expires_at: Type.String({
      format: 'date-time',
      description: 'Time until which the URL can be opened: ISO 8601, UTC. The opened page works for two hours.',
      examples: ['2026-03-11T06:35:00.000Z'],
    }),
  }),
)

export const EmbedOrigins = named(
  'EmbedOrigins',
  Type.Object({ origins: Type.Array(Type.String(), { description: 'Origins that may show pages in a frame.' }) }),
)
export const EmbedOriginsBody = named(
  'EmbedOriginsChange',
  Type.Object(
    { origins: Type.Array(Type.String({ minLength: 1, maxLength: MAX_ORIGIN_LENGTH }), { maxItems: MAX_ORIGINS }) },
    closed,
  ),
)

/** The settings of an embedded page, which are part of its HTML. */
export const EmbedSettings = named(
  'EmbedSettings',
  Type.Object({
    view: Type.Enum([...embedViews]),
    origin: Type.String({ description: 'The origin that receives messages about the page.' }),
    language: Type.Union([Type.Enum(['en', 'hi']), Type.Null()]),
  }),
)
export type EmbedSettings = Static<typeof EmbedSettings>

export const OpenBody = Type.Object({ token: Type.String({ minLength: 1, maxLength: 100 }) }, closed)
export const OpenedEmbedPage = named(
  'OpenedEmbedPage',
  Type.Object({
    pageToken: Type.String({ description: 'Token of the opened page.' }),
    expiresAt: Type.String({ format: 'date-time' }),
  }),
)

/** The success envelope of the routes that embedded pages call. */
export function embedResponse<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data })
}
