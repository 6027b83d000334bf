import { Type } from 'typebox'
import type { OrgScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { describeStatusReason, type EmailSummary, listEmails } from '../../mail/mail.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries } from '../../platform/database/database.ts'
import { PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { listReviewMessages, type ReviewMessage } from '../../review-messages/review-messages.ts'
import { readAssessment } from '../../verification/assessments/attempts.ts'
import { type ListedSession, listSessions, type SessionPosition, sessionSelection } from '../../verification/listing.ts'
import { statusAt } from '../../verification/outcome.ts'
import { getProofFileContent, listProofFiles, proofFileRecord } from '../../verification/proofs/proof-files.ts'
import { ProofFileContent } from '../../verification/proofs/schema.ts'
import { resendRequest } from '../../verification/reviews/review-requests.ts'
import { findReview, isWithdrawable, type Review } from '../../verification/reviews/reviews.ts'
import { lockReviewed, withdrawEndorsement } from '../../verification/reviews/withdrawal.ts'
import { statuses } from '../../verification/schema.ts'
import { readVerification } from '../../verification/session-responses.ts'
import { belongsTo, findVerification, type Session } from '../../verification/sessions.ts'
import { actorOf, recordRequestAudit } from '../auth/guards.ts'
import { countedListOf, countUpToLimit, paginate } from '../paginate.ts'
import { successResponse } from '../schema.ts'
import { VerificationDetails, VerificationSummary } from './schema.ts'

const VerificationParams = Type.Object({ verification_id: Type.String({ pattern: '^SV_[A-Z0-9]{10,60}$' }) })
const FileParams = Type.Object({
  ...VerificationParams.properties,
  file_id: Type.String({ pattern: '^PF_[A-Z0-9]{10,60}$' }),
})
const VerificationsQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(Type.Enum([...statuses])),
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "A verification ID or the partner's ID of the student." }),
  ),
})

/** Routes for verification sessions, their files, emails and messages, resending the review request and withdrawing the endorsement. */
export function verificationRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewerConfig = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/verifications',
    {
      config: viewerConfig,
      schema: { querystring: VerificationsQuery, response: { 200: success(countedListOf(VerificationSummary)) } },
    },
    async ({ caller, query: { status, q, ...page } }) => {
      const resultPage = await paginate(
        vault,
        `verifications of ${caller.orgId} ${caller.mode} ${JSON.stringify([status, q])}`,
        page,
        (after: SessionPosition | undefined, limit) =>
          listSessions(db.queries, caller, clock.now(), { status, search: q, after, limit }),
        ({ created_at, verification_id }) => ({ at: created_at.toISOString(), id: verification_id }),
        summaryRecord,
      )
      const { from, where } = sessionSelection(caller, clock.now(), { status, search: q })
      const counted = page.cursor === undefined ? await countUpToLimit(db.queries, from, where) : { total: null }
      return successResponse('Verifications', { ...resultPage, ...counted })
    },
  )

  app.get(
    '/orgs/:org/:mode/verifications/:verification_id',
    { config: viewerConfig, schema: { params: VerificationParams, response: { 200: success(VerificationDetails) } } },
    async ({ caller, params }) =>
      successResponse(
        'Verification',
        await verificationDetails(
          db.queries,
          await getOwnVerification(db.queries, clock, caller, params.verification_id),
        ),
      ),
  )

  app.get(
    '/orgs/:org/:mode/verifications/:verification_id/files/:file_id',
    { config: viewerConfig, schema: { params: FileParams, response: { 200: success(ProofFileContent) } } },
    async ({ caller, params }) => {
      const session = await getOwnVerification(db.queries, clock, caller, params.verification_id)
      return successResponse('File', await getProofFileContent(db.queries, session, params.file_id))
    },
  )

  app.post(
    '/orgs/:org/:mode/verifications/:verification_id/resend',
    {
      config: { role: 'recruiter' },
      schema: { params: VerificationParams, response: { 200: success(VerificationDetails) } },
    },
    async (request) => {
      const { caller, params } = request
      await getOwnVerification(db.queries, clock, caller, params.verification_id)
      const details = await db.transaction(async (tx) => {
        const session = await resendRequest(tx, context, params.verification_id)
        await recordRequestAudit(tx, context, request, 'verification.resend', session.id)
        return verificationDetails(tx, session)
      })
      return successResponse('Review request resent', details)
    },
  )

  app.post(
    '/orgs/:org/:mode/verifications/:verification_id/withdraw',
    {
      config: { role: 'owner' },
      schema: {
        params: VerificationParams,
        body: Type.Object({ reason: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }) }),
        response: { 200: success(VerificationDetails) },
      },
    },
    async (request) => {
      const { caller, params, body } = request
      await getOwnVerification(db.queries, clock, caller, params.verification_id)
      const details = await db.transaction(async (tx) => {
        const reviewed = await lockReviewed(tx, clock, params.verification_id)
        const by = actorOf(request) === 'operator' ? 'operator' : 'organisation'
        const { session } = await withdrawEndorsement(tx, reviewed, { by, reason: body.reason }, context)
        await recordRequestAudit(tx, context, request, 'verification.withdraw', session.id)
        return verificationDetails(tx, session)
      })
      return successResponse('Endorsement withdrawn', details)
    },
  )

  async function verificationDetails(queries: Queries, session: Session) {
    const now = session.clock.now()
    const review = await findReview(queries, session.id)
    const assessment = session.method === 'assessment' ? await readAssessment(queries, session, now) : undefined
    const [row] = await listSessions(queries, session.scope, clock.now(), { id: session.id, limit: 1 })
    const emails = await listEmails(queries, { subjectId: session.id, limit: 100 })
    return {
      ...summaryRecord({ ...row!, status: statusAt(session, now, review, assessment) }),
      student: session.student,
      reviewer: review ? reviewerRecord(review) : null,
      withdrawable: review !== undefined && isWithdrawable(session, review),
      outcome: await readVerification(queries, session),
      files: (await listProofFiles(queries, session)).map(proofFileRecord),
      mails: emails.map(emailRecord),
      messages: (await listReviewMessages(queries, session.id)).map(messageRecord),
    }
  }
}

async function getOwnVerification(queries: Queries, clock: Clock, scope: OrgScope, id: string): Promise<Session> {
  const session = await findVerification(queries, clock, id)
  if (!session || !belongsTo(session, scope)) throw problem('NOT_FOUND', `Verification ${id} not found.`)
  return session
}

function summaryRecord({ created_at, updated_at, completed_at, expires_at, ...row }: ListedSession) {
  return {
    ...row,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
    expires_at: expires_at.toISOString(),
  }
}

function reviewerRecord({ name, email, company, website, phone, link, submittedAt }: Review) {
  const toIsoTime = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  return {
    name,
    email,
    company,
    ...(website ? { website } : {}),
    ...(phone ? { phone } : {}),
    sent_at: toIsoTime(link?.sentAt),
    expires_at: toIsoTime(link?.expiresAt),
    submitted_at: toIsoTime(submittedAt),
  }
}

function messageRecord({ verification_id: _, created_at, sent_at, ...message }: ReviewMessage) {
  return { ...message, created_at: created_at.toISOString(), sent_at: sent_at?.toISOString() ?? null }
}

export function emailRecord({ created_at, sent_at, ...email }: EmailSummary) {
  return {
    ...email,
    explanation: describeStatusReason(email.status_reason) ?? null,
    created_at: created_at.toISOString(),
    sent_at: sent_at?.toISOString() ?? null,
  }
}
