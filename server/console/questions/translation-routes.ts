import { Type } from 'typebox'
import type { Rule } from '../../access/limits/limiter.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { formatWait } from '../../platform/clock.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { WriterError, type WriterErrorReason } from '../../questions/writer-error.ts'
import { Language } from '../../workflows/schema.ts'
import { closed, successResponse } from '../schema.ts'
import { SuggestedTranslations, TranslationService } from './question-schema.ts'

/** The texts of the largest question: a stem, the key and five distractors; or ten questions of a mandate. */
const MAX_TEXTS = 10
const MAX_TEXT_LENGTH = 200
/** Each request calls the AI endpoint, which costs money: 30 requests at once, and 3 per minute on average. */
const TRANSLATION_LIMIT: Rule = { name: 'console-translations', kind: 'tokens', limit: 30, seconds: 600 }

const TranslationInput = Type.Object(
  {
    texts: Type.Array(Type.String({ minLength: 1, maxLength: MAX_TEXT_LENGTH, pattern: NOT_BLANK_PATTERN }), {
      minItems: 1,
      maxItems: MAX_TEXTS,
    }),
    from: Type.Optional(Language),
    to: Type.Array(Language, { minItems: 1, maxItems: 12, uniqueItems: true }),
  },
  closed,
)

/** Routes with which the AI writer suggests translations of questions. Nothing is stored: a person confirms and saves them. */
export function translationRoutes(app: App, context: Context): void {
  const { clock, limits, log } = context

  app.get(
    '/orgs/:org/:mode/question-translations',
    { config: { role: 'viewer' }, schema: { response: { 200: success(TranslationService) } } },
    async () => successResponse('Translation', { available: context.writer.kind === 'ai' }),
  )

  app.post(
    '/orgs/:org/:mode/question-translations',
    {
      config: { role: 'recruiter' },
      schema: { body: TranslationInput, response: { 200: success(SuggestedTranslations) } },
    },
    async ({ caller, body: { texts, from = 'en', to } }) => {
      const { writer } = context
      if (writer.kind !== 'ai')
        throw problem(
          'CONFLICT',
          'This server has no AI writer, so nothing can be translated automatically. Write the translations yourself.',
        )
      const { rejectedBy, retryAfter } = await limits.limiter.take(caller.keyId, [TRANSLATION_LIMIT], clock.now())
      if (rejectedBy !== undefined)
        throw problem('RATE_LIMITED', `Too many translations. Try again in ${formatWait(retryAfter)}.`, { retryAfter })
      const translations = await writer.translate({ texts, from, to }).catch((error: unknown) => {
        if (!(error instanceof WriterError)) throw error
        log.warn({ err: error }, 'translating questions failed')
        throw problem('TRANSLATION_FAILED', `The texts were not translated: ${FAILURE_REASONS[error.reason]}`)
      })
      const languages = to.filter((language) => language !== from)
      return successResponse('Suggested translations', {
        translations: languages.flatMap((language) => {
          const translated = translations?.[language]
          return translated ? [{ language, texts: translated }] : []
        }),
        missing: languages.filter((language) => !translations?.[language]),
      })
    },
  )
}

const FAILURE_REASONS: Record<WriterErrorReason, string> = {
  timeout: 'the AI endpoint timed out. Try again, or write the translations yourself.',
  aborted: 'the request was cancelled. Try again.',
  unavailable: 'the AI endpoint could not be reached. Try again later, or write the translations yourself.',
  rejected: 'the AI endpoint rejected the request. Ask the operator of this server to check its AI settings.',
  refused: 'the AI model declined to translate them. Write the translations yourself.',
  invalid: 'the AI endpoint returned no usable translation. Try again, or write the translations yourself.',
}
