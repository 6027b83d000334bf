import type { Context } from '../../context.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { LANGUAGES, type Language } from '../../questions/questions.ts'
import { success } from '../routes.ts'
import { AnswersInput, answerOf, SubmittedAssessment, TimedAssessment } from '../schema.ts'
import { lockSession } from '../sessions.ts'
import { generateAssessment, requireOpenAttempt, submitAssessment } from './assessments.ts'
import { PASS_MARK, questionsAnswer } from './attempts.ts'

/** Questions and answers. Only what `questionsAnswer` shows of a question ever leaves the server. */
export function assessmentRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Assessment']
  const security: Record<string, string[]>[] = [{ session: [] }, { key: [], session: [] }]

  app.post(
    '/assessment/generate',
    {
      config: { entry: 'header' },
      schema: {
        operationId: 'generateAssessment',
        tags,
        summary: 'The questions: made at the first call, the same again until they are answered',
        description:
          'Takes up to 90 seconds; allow some more. Needs skills, the method `assessment` and items. Answer within 60 minutes. With `Accept-Language: hi` questions come in Hindi where the writer has them; otherwise they are in English.',
        security,
        response: { 200: TimedAssessment },
      },
    },
    async ({ guest, headers }) => {
      const began = performance.now()
      const language = preferredLanguage(headers['accept-language'])
      const made = await generateAssessment(context, guest.token!, guest.scope, { language })
      const { session, attempt, alreadyGenerated } = made
      const questions = questionsAnswer(attempt)
      const data = { serviceVerificationId: session.id, totalQuestions: questions.length, questions }
      if (alreadyGenerated) {
        return success({ ...data, alreadyGenerated: true as const }, 'Questions exist already')
      }
      return { ...success(data, 'Questions generated'), executionTime: `${Math.round(performance.now() - began)}ms` }
    },
  )

  app.post(
    '/assessment/submit',
    {
      config: { entry: 'header' },
      schema: {
        operationId: 'submitAssessment',
        tags,
        summary: 'The answers: each the text of an option',
        description: `Passed with ${PASS_MARK} of 100. Three failed attempts at a skill within 30 days end it.`,
        security,
        body: AnswersInput,
        response: { 200: answerOf(SubmittedAssessment) },
      },
    },
    async (request) => {
      const { guest, body, routeOptions } = request
      const { session, attempt, marks, attemptsLeft } = await db.transaction(async (tx) => {
        const current = await lockSession(tx, guest.token!, guest.scope, clock.now())
        const open = await requireOpenAttempt(tx, current, clock.now())
        validateRequest(request, routeOptions.config)
        return submitAssessment(tx, context, { session: current, attempt: open }, body)
      })
      return success(
        {
          serviceVerificationId: session.id,
          score: marks.score,
          passed: marks.passed,
          passMark: PASS_MARK,
          correct: marks.correct,
          totalQuestions: marks.total,
          skills: marks.skills.map(({ skillId, correct, total, passed }) => ({ skillId, correct, total, passed })),
          attempt: attempt.number,
          attemptsLeft,
          locked: marks.passed,
        },
        marks.passed ? 'Passed' : 'Not passed',
      )
    },
  )
}

/** The first of the reader's languages that questions can be in. Browsers send the most wanted first. */
function preferredLanguage(header = ''): Language {
  const wanted = header.split(',').map((part) => part.trim().slice(0, 2).toLowerCase())
  return wanted.map((code) => LANGUAGES.find((language) => language === code)).find((found) => found) ?? 'en'
}
