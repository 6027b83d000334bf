import type { Context } from '../../context.ts'
import { SECOND } from '../../platform/clock.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { success } from '../routes.ts'
import { AnswersInput, AssessmentResponse, AssessmentScore, successResponse } from '../schema.ts'
import { lockSession } from '../sessions.ts'
import { generateAssessment, requireOpenAttempt, submitAssessment } from './assessments.ts'
import { PASS_MARK_PERCENT, publicQuestions } from './attempts.ts'

/** Routes of the assessment. Only `publicQuestions` may put questions into a response. */
export function assessmentRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Assessment']
  const security: Record<string, string[]>[] = [{ session: [] }, { key: [], session: [] }]

  app.post(
    '/assessment/generate',
    {
      config: {
        auth: 'header',
        errors: [
          'INVALID_VERIFICATION_METHOD',
          'INVALID_VERIFICATION_TYPE',
          'NO_DATA',
          'NO_SKILLS',
          'ASSESSMENT_LOCKED',
          'ATTEMPTS_EXHAUSTED',
          'VERIFICATION_NOT_FOUND',
          'ASSESSMENT_ALREADY_PASSED',
          'DUPLICATE_SKILLS_IN_BUNDLE',
          'MAX_SKILLS_PER_SOURCE',
          'GENERATION_FAILED',
        ],
      },
      schema: {
        operationId: 'generateAssessment',
        tags,
        summary: 'Generate the assessment',
        description:
          'Requires skills, the method `assessment` and items. The first request generates the questions; later requests return the same questions until they are answered. Generation can take up to 90 seconds, so use a longer request timeout. Answers must be submitted within 60 minutes. Questions are in the language of `Accept-Language` if they are available in it; otherwise they are in English. There are 5 questions per skill, or 3 if more than 6 skills are asked about; skills that cannot be assessed or were passed in an earlier attempt do not count. The test students of TEST mode (see `POST /verify`) get questions whose right option is the first of `options`.',
        security,
        response: { 200: AssessmentResponse },
      },
    },
    async ({ sessionCaller, headers }) => {
      const startedAt = performance.now()
      const language = preferredLanguage(headers['accept-language'])
      const generated = await generateAssessment(
        context,
        (tx) => lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope),
        { language },
      )
      const { session, attempt, alreadyGenerated } = generated
      const questions = publicQuestions(attempt)
      const data = {
        serviceVerificationId: session.id,
        totalQuestions: questions.length,
        questions,
        expiresAt: new Date(attempt.expiresAt).toISOString(),
        secondsLeft: Math.max(0, Math.floor((attempt.expiresAt - session.clock.now()) / SECOND)),
      }
      if (alreadyGenerated) {
        return success({ ...data, alreadyGenerated: true as const }, 'Questions already generated')
      }
      return {
        ...success(data, 'Questions generated'),
        executionTime: `${Math.round(performance.now() - startedAt)}ms`,
      }
    },
  )

  app.post(
    '/assessment/submit',
    {
      config: {
        auth: 'header',
        errors: [
          'ASSESSMENT_LOCKED',
          'ATTEMPTS_EXHAUSTED',
          'VERIFICATION_NOT_FOUND',
          'ASSESSMENT_EXPIRED',
          'NO_OPEN_ATTEMPT',
        ],
      },
      schema: {
        operationId: 'submitAssessment',
        tags,
        summary: 'Submit the answers',
        description: `Each answer is the text of the chosen option. The pass mark is ${PASS_MARK_PERCENT} percent. A skill passes if the answers show it with a certainty of at least 95 %. A skill with three failed attempts within 30 days cannot be assessed.`,
        security,
        body: AnswersInput,
        response: { 200: successResponse(AssessmentScore) },
      },
    },
    async (request) => {
      const { sessionCaller, body, routeOptions } = request
      const { session, attempt, marks, attemptsLeft } = await db.transaction(async (tx) => {
        const current = await lockSession(tx, clock, sessionCaller.token!, sessionCaller.scope)
        const openAttempt = await requireOpenAttempt(tx, current)
        validateRequest(request, routeOptions.config)
        return submitAssessment(tx, { session: current, attempt: openAttempt }, body)
      })
      return success(
        {
          serviceVerificationId: session.id,
          score: marks.score,
          passed: marks.passed,
          passMark: PASS_MARK_PERCENT,
          correct: marks.correct,
          totalQuestions: marks.total,
          skills: marks.skills.map(({ number: _, ...skill }) => skill),
          attempt: attempt.number,
          attemptsLeft,
          locked: marks.passed,
        },
        marks.passed ? 'Passed' : 'Not passed',
      )
    },
  )
}

/** Returns the first supported language; browsers send the preferred one first. */
function preferredLanguage(header = ''): Language {
  const codes = header.split(',').map((part) => part.trim().slice(0, 2).toLowerCase())
  return codes.map((code) => LANGUAGES.find((language) => language === code)).find(Boolean) ?? 'en'
}
