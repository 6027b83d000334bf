import type { FastifyRequest } from 'fastify'
import { invalid } from '../../api/invalid.ts'
import { type Detail, problem } from '../../api/problem.ts'
import { PHONE_FORMAT_MESSAGE, PHONE_PATTERN, phoneError } from '../../campaigns/phone-number.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type App, validateRequest } from '../../platform/http/server.ts'
import { linkErrors } from '../../platform/text/links.ts'
import { recordOrigin } from '../endorsements/origins.ts'
import { fieldOf, isEmail, isMissing, isWebAddress, requireField } from '../fields.ts'
import { success, toStorableId } from '../routes.ts'
import {
  IdParams,
  Reviewer,
  ReviewerInput,
  ReviewInput,
  ReviewPage,
  StoredReviewerResponse,
  SubmittedReview,
  successResponse,
  WithdrawalInput,
} from '../schema.ts'
import {
  atSessionTime,
  belongsTo,
  lockSession,
  lockVerification,
  type Session,
  verificationNotFoundProblem,
} from '../sessions.ts'
import { REVIEW_REQUEST_ERRORS } from './review-requests.ts'
import { lockReview, readReviewPage, requirePendingReview, submitReview } from './review-submission.ts'
import { storeReviewer } from './reviewers.ts'
import { findReview, linkExpiredProblem, publicReviewerRecord, reviewerRecord } from './reviews.ts'
import { withdrawEndorsement } from './withdrawal.ts'

/** Routes of human endorsement: store the reviewer, get the review page, submit the review. */
export function reviewRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const tags = ['Human endorsement']

  app.post(
    '/storereviewerdetails/store',
    {
      config: {
        auth: 'either',
        errors: [
          ...REVIEW_REQUEST_ERRORS,
          'MISSING_VERIFICATION_ID',
          'MISSING_NAME',
          'MISSING_EMAIL',
          'MISSING_COMPANY',
          'INVALID_WEBSITE',
          'VERIFICATION_METHOD_NOT_SET',
          'INVALID_VERIFICATION_TYPE',
          'VERIFICATION_NOT_FOUND',
          'ALREADY_SUBMITTED',
          'TOO_MANY_REVIEWERS',
          'DATA_ERASED',
          'LINK_EXPIRED',
        ],
      },
      schema: {
        operationId: 'storeReviewer',
        tags,
        summary: 'Store the reviewer',
        description:
          "The reviewer receives an email with a link as soon as the skills, the items and the reviewer are all stored. If the reviewer's email address changes, a new email is sent and the old link stops working. If `phone` is given, the link is also sent to this number, by WhatsApp or, if that is not possible, by SMS. A session can have at most three different reviewer addresses, and three phone numbers. The student's own phone number is rejected with 400 VALIDATION_FAILED, and a phone number of another reviewer of the same source with 409 DUPLICATE_REVIEWER_EMAIL. A mailbox gets a limited number of review emails per day from all sessions and organisations; then the response is 429 with Retry-After. An address that does not accept review requests is rejected with 409 REVIEWER_UNREACHABLE. In TEST mode, no email is sent to these reviewers, who act automatically: endorse@test.attestry.example endorses all skills and refuse@test.attestry.example declines, both after two seconds; silent@test.attestry.example never responds, and the review expires after 30 seconds (with a test clock, after 30 days of its time). Other addresses of this domain, and all of them in LIVE mode, are rejected with 400 INVALID_EMAIL.",
        security: [{ key: [] }, { session: [] }],
        body: ReviewerInput,
        response: { 200: successResponse(Reviewer) },
      },
    },
    async (request) => {
      const review = await db.transaction(async (tx) => {
        const ownSession = request.sessionCaller.token === undefined ? undefined : await lockOwnSession(tx, request)
        const input = readReviewer(request)
        const session =
          ownSession ?? (await lockVerification(tx, clock, toStorableId(request.body.serviceVerificationId)))
        if (!session || session.id !== request.body.serviceVerificationId) throw verificationNotFoundProblem()
        if (request.sessionCaller.scope && !belongsTo(session, request.sessionCaller.scope))
          throw verificationNotFoundProblem()
        if (ownSession) await recordOrigin(tx, context, session, 'student', request)
        return storeReviewer(tx, atSessionTime(context, session), session, input)
      })
      return success(reviewerRecord(request.body.serviceVerificationId, review), 'Reviewer stored')
    },
  )

  /** Locks the session of the token. Returns undefined if a key was sent: then the token is not needed and may have expired. */
  async function lockOwnSession(tx: Tx, { sessionCaller }: FastifyRequest): Promise<Session | undefined> {
    return sessionCaller.scope ? undefined : lockSession(tx, clock, sessionCaller.token!, undefined)
  }

  for (const path of ['/storereviewerdetails', '/storereviewerdetails/']) {
    app.get(path, { config: { auth: 'none' }, schema: { hide: true } as object }, async () => {
      throw problem('MISSING_VERIFICATION_ID', 'The verification ID is missing in the path.')
    })
  }

  app.get(
    '/storereviewerdetails/:serviceVerificationId',
    {
      config: { auth: 'none', errors: ['MISSING_VERIFICATION_ID', 'NOT_FOUND'] },
      schema: {
        operationId: 'getReviewer',
        tags,
        summary: 'Get the reviewer',
        description: 'Requires no session key. The response does not contain the phone number of the reviewer.',
        params: IdParams,
        response: { 200: StoredReviewerResponse },
      },
    },
    async ({ params }) => {
      const id = params.serviceVerificationId
      if (isMissing(id)) throw problem('MISSING_VERIFICATION_ID', 'The verification ID is missing in the path.')
      const review = await findReview(db.queries, toStorableId(id))
      if (!review) throw problem('NOT_FOUND', 'This verification has no reviewer.')
      return { success: true as const, data: publicReviewerRecord(id, review) }
    },
  )

  app.get(
    '/humanverification/verify-page/:serviceVerificationId',
    {
      config: {
        auth: 'none',
        errors: ['INVALID_VERIFICATION_TYPE', 'VERIFICATION_NOT_FOUND', 'DATA_ERASED', 'LINK_EXPIRED'],
      },
      schema: {
        operationId: 'getVerifyPage',
        tags,
        summary: 'Get the review page',
        description:
          'Available after the reviewer is emailed and until the link in the email expires. Requires no session key.',
        params: IdParams,
        response: { 200: successResponse(ReviewPage) },
      },
    },
    async ({ params }) =>
      success(await readReviewPage(db.queries, clock, toStorableId(params.serviceVerificationId)), 'Review page'),
  )

  app.post(
    '/humanverification/submit',
    {
      config: {
        auth: 'link',
        errors: [
          'MISSING_VERIFICATION_ID',
          'INVALID_TOKEN',
          'VERIFICATION_NOT_FOUND',
          'ALREADY_SUBMITTED',
          'DATA_ERASED',
          'LINK_EXPIRED',
        ],
      },
      schema: {
        operationId: 'submitReview',
        tags,
        summary: 'Submit the review',
        description:
          'Send the token from the link in the email, and either exactly one decision per skill, or `declined` with a `reason`. A review can be submitted once.',
        body: ReviewInput,
        response: { 200: successResponse(SubmittedReview) },
      },
    },
    async (request) => {
      const { body, routeOptions } = request
      requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
      const { session, skills } = await db.transaction(async (tx) => {
        const lockedReview = await lockReview(tx, clock, toStorableId(String(body.serviceVerificationId)), body.token)
        requirePendingReview(lockedReview.review, lockedReview.session.clock.now())
        validateRequest(request, routeOptions.config)
        await recordOrigin(tx, context, lockedReview.session, 'reviewer', request)
        return submitReview(tx, atSessionTime(context, lockedReview.session), lockedReview, body)
      })
      return success({ serviceVerificationId: session.id, status: session.status, skills }, 'Review submitted')
    },
  )

  app.post(
    '/humanverification/withdraw',
    {
      config: {
        auth: 'link',
        errors: [
          'MISSING_VERIFICATION_ID',
          'INVALID_TOKEN',
          'VERIFICATION_NOT_FOUND',
          'DATA_ERASED',
          'LINK_EXPIRED',
          'NOTHING_TO_WITHDRAW',
        ],
      },
      schema: {
        operationId: 'withdrawEndorsement',
        tags,
        summary: 'Withdraw an endorsement',
        description:
          'For the reviewer, with the token from the link in the email, for 90 days after the review. The status of the verification becomes `declined`, no skill is endorsed any more, and credentials that depend on the endorsement are revoked. Withdrawing again changes nothing.',
        body: WithdrawalInput,
        response: { 200: successResponse(SubmittedReview) },
      },
    },
    async (request) => {
      const { body, routeOptions } = request
      requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
      const { session, skills } = await db.transaction(async (tx) => {
        const lockedReview = await lockReview(tx, clock, toStorableId(String(body.serviceVerificationId)), body.token)
        validateRequest(request, routeOptions.config)
        if (lockedReview.session.clock.now() >= lockedReview.review.link!.expiresAt) throw linkExpiredProblem()
        return withdrawEndorsement(tx, lockedReview, { by: 'reviewer', reason: body.reason }, context)
      })
      return success({ serviceVerificationId: session.id, status: session.status, skills }, 'Endorsement withdrawn')
    },
  )
}

const PHONE_REGEXP = new RegExp(PHONE_PATTERN)

/** Checks the fields in the documented order of errors. */
function readReviewer(request: FastifyRequest) {
  const { body } = request
  requireField(body, 'serviceVerificationId', 'MISSING_VERIFICATION_ID')
  requireField(body, 'name', 'MISSING_NAME')
  requireField(body, 'email', 'MISSING_EMAIL')
  requireField(body, 'company', 'MISSING_COMPANY')
  if (!isEmail(fieldOf(body, 'email')))
    throw problem('INVALID_EMAIL', 'email must be an email address, such as asha@example.com.')
  const website = fieldOf(body, 'website')
  if (!isMissing(website) && !isWebAddress(website)) {
    throw problem('INVALID_WEBSITE', 'website must be an http or https URL, such as https://example.com.')
  }
  const phone = fieldOf(body, 'phone')
  validateRequest(request, request.routeOptions.config)
  const { name, email, company } = body as ReviewerInput
  const linkDetails = linkErrors([
    ['name', name],
    ['company', company],
  ])
  const details = [...linkDetails, ...(isMissing(phone) ? [] : phoneErrors(phone as string))]
  if (details.length > 0) throw invalid(details)
  return {
    name,
    email,
    company,
    website: isMissing(website) ? undefined : (website as string),
    phone: isMissing(phone) ? undefined : (phone as string),
  }
}

function phoneErrors(phone: string): Detail[] {
  const message = PHONE_REGEXP.test(phone) ? phoneError(phone) : PHONE_FORMAT_MESSAGE
  return message === undefined ? [] : [{ path: 'phone', message }]
}
