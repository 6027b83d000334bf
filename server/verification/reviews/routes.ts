import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { fieldOf, isEmail, isMissing, isWebAddress, requireField } from '../fields.ts'
import { storable, success } from '../routes.ts'
import { answerOf, IdParams, Reviewer, ReviewerInput, ReviewInput, SubmittedReview, VerifyPage } from '../schema.ts'
import { belongsTo, lockSession, lockVerification, type Session, verificationNotFound } from '../sessions.ts'
import { lockReview, readVerifyPage, requireAwaited, submitReview } from './review-submission.ts'
import { storeReviewer } from './reviewers.ts'
import { findReview, reviewerAnswer } from './reviews.ts'

/** The reviewer of a human endorsement: who it is, what they see, what they answer. */
export function reviewRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Human endorsement']

  app.post(
    '/storereviewerdetails/store',
    {
      config: { entry: 'either' },
      schema: {
        operationId: 'storeReviewer',
        tags,
        summary: 'Name the reviewer, or another one',
        description:
          'The mail with the link goes out once skills, items and reviewer are stored; again when the address changes, and then the old link is dead. A session takes at most three different addresses.',
        security: [{ key: [] }, { session: [] }],
        body: ReviewerInput,
        response: { 200: answerOf(Reviewer) },
      },
    },
    async (request) => {
      const review = await db.transaction(async (tx) => {
        const own = request.guest.token === undefined ? undefined : await lockOwn(tx, request)
        const input = readReviewer(request)
        const session = own ?? (await lockVerification(tx, storable(request.body.serviceVerificationId)))
        if (!session || session.id !== request.body.serviceVerificationId) throw verificationNotFound()
        if (request.guest.scope && !belongsTo(session, request.guest.scope)) throw verificationNotFound()
        return storeReviewer(tx, context, session, input)
      })
      return success(reviewerAnswer(request.body.serviceVerificationId, review), 'Reviewer stored')
    },
  )

  /** A token opens its own session; beside a key it is not needed, and one that has ended does not matter. */
  async function lockOwn(tx: Tx, { guest }: FastifyRequest): Promise<Session | undefined> {
    return guest.scope ? undefined : lockSession(tx, guest.token!, undefined, clock.now())
  }

  for (const path of ['/storereviewerdetails', '/storereviewerdetails/']) {
    app.get(path, { config: { entry: 'nobody' }, schema: { hide: true } as object }, async () => {
      throw problem('MISSING_VERIFICATION_ID', 'The path lacks the id of the verification.')
    })
  }

  app.get(
    '/storereviewerdetails/:serviceVerificationId',
    {
      config: { entry: 'nobody' },
      schema: {
        operationId: 'getReviewer',
        tags,
        summary: 'The reviewer of a verification, without a key',
        params: IdParams,
        response: { 200: Type.Object({ success: Type.Literal(true), data: Reviewer }) },
      },
    },
    async ({ params }) => {
      const id = params.serviceVerificationId
      if (isMissing(id)) throw problem('MISSING_VERIFICATION_ID', 'The path lacks the id of the verification.')
      const review = await findReview(db.queries, storable(id))
      if (!review) throw problem('NOT_FOUND', 'There are no reviewer details for this verification.')
      return { success: true as const, data: reviewerAnswer(id, review) }
    },
  )

  app.get(
    '/humanverification/verify-page/:serviceVerificationId',
    {
      config: { entry: 'nobody' },
      schema: {
        operationId: 'getVerifyPage',
        tags,
        summary: "What the reviewer's page shows, without a key",
        description: 'There once the mail has gone out, until its link ends.',
        params: IdParams,
        response: { 200: answerOf(VerifyPage) },
      },
    },
    async ({ params }) =>
      success(await readVerifyPage(db.queries, storable(params.serviceVerificationId), clock.now()), 'Verify page'),
  )

  app.post(
    '/humanverification/submit',
    {
      config: { entry: 'link' },
      schema: {
        operationId: 'submitReview',
        tags,
        summary: "The reviewer's answer",
        description:
          'With the token of the mail: a decision for every skill exactly once, or `declined` with a `reason`. It is taken once.',
        body: ReviewInput,
        response: { 200: answerOf(SubmittedReview) },
      },
    },
    async (request) => {
      const { body, routeOptions } = request
      requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
      const { session, skills } = await db.transaction(async (tx) => {
        const found = await lockReview(tx, storable(String(body.serviceVerificationId)), body.token)
        requireAwaited(found.review, clock.now())
        validateRequest(request, routeOptions.config)
        return submitReview(tx, context, found, body)
      })
      return success({ serviceVerificationId: session.id, status: session.status, skills }, 'Review submitted')
    },
  )
}

/** The fields in the order in which they are complained of. */
function readReviewer(request: FastifyRequest) {
  const { body } = request
  requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
  requireField(body, 'name', 'MISSING_NAME')
  requireField(body, 'email', 'MISSING_EMAIL')
  requireField(body, 'company', 'MISSING_COMPANY')
  if (!isEmail(fieldOf(body, 'email'))) throw problem('INVALID_EMAIL', 'email must be a mail address.')
  const website = fieldOf(body, 'website')
  if (!isMissing(website) && !isWebAddress(website)) {
    throw problem('INVALID_WEBSITE', 'website must be an http or https address.')
  }
  validateRequest(request, request.routeOptions.config)
  const { name, email, company } = body as ReviewerInput
  return { name, email, company, website: isMissing(website) ? undefined : (website as string) }
}
