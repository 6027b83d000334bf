import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { LANGUAGES, languageName } from '../../platform/text/languages.ts'
import { guardAtsRoutes, type RenderError } from '../guards.ts'
import { listTests } from '../offered-mandates.ts'
import { cancelOrder, placeOrder } from '../orders.ts'
import { personName } from '../person-name.ts'
import { ashby } from './adapter.ts'
import { CancelAssessment, StartAssessment } from './schema.ts'

/** Ashby shows the message of a 422 response to the recruiter, and has its own text for 409. */
const renderError: RenderError = (status, message, code) => {
  const isRejectedOrder = status === 404 || code === 'VALIDATION_FAILED'
  return { status: isRejectedOrder ? 422 : status, body: { success: false, message, errors: [message] } }
}

/** The endpoints that Ashby calls. */
export function ashbyRoutes(app: App, context: Context): void {
  const { db } = context
  guardAtsRoutes(app, context, ashby, renderError)

  app.post('/assessment.list', async ({ atsKey }) => {
    const tests = await listTests(db.queries, atsKey, atsKey.connectionId)
    return {
      success: true,
      results: tests.map(({ id, name, description }) => ({ assessment_type_id: id, name, description })),
    }
  })

  app.post('/assessment.start', { schema: { body: StartAssessment } }, async ({ atsKey, body }) => {
    const { assessment_type_id, candidate, application, additional_fields } = body
    const { phone, language } = additional_fields ?? {}
    const order = await db.transaction((tx) =>
      placeOrder(tx, context, atsKey, {
        identity: `${application.ashby_id} ${assessment_type_id}`,
        testId: assessment_type_id,
        candidate: {
          id: candidate.ashby_id,
          name: personName(candidate.first_name, candidate.last_name),
          email: candidate.email,
          phone: typeof phone === 'string' ? phone : undefined,
          language: typeof language === 'string' ? language : undefined,
          profileUrl: candidate.ashby_profile_url,
        },
        callbackUrl: null,
      }),
    )
    return { success: true, results: { assessment_id: order.order_id } }
  })

  app.post('/assessment.cancel', { schema: { body: CancelAssessment } }, async ({ atsKey, body }) => {
    const order = await db.transaction((tx) => cancelOrder(tx, context, atsKey, body.assessment_id))
    return { success: true, results: { assessment_id: order.order_id } }
  })

  // Ashby sends no phone numbers: a recruiter can enter one, so that the candidate is reached by text message or call.
  app.post('/assessment.customField.list', async () => ({
    success: true,
    fields: [
      { id: 'phone', name: 'Phone number', type: 'Phone', isRequired: false },
      { id: 'language', name: 'Language', type: 'ValueSelect', possible_values: languageOptions(), isRequired: false },
    ],
  }))
}

function languageOptions() {
  return LANGUAGES.map((code) => ({ key: code, value: languageName(code) }))
}
