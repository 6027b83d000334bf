import { Type } from 'typebox'
import type { OwnerScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { listMails, type MailHead } from '../../mail/mail.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/server.ts'
import { readAssessment } from '../../verification/assessments/attempts.ts'
import { type ListedSession, listSessions, type SessionPosition } from '../../verification/listing.ts'
import { statusAt, verificationAnswer } from '../../verification/outcome.ts'
import { resendRequest } from '../../verification/reviews/review-requests.ts'
import { findReview, type Review } from '../../verification/reviews/reviews.ts'
import { statuses } from '../../verification/schema.ts'
import { belongsTo, findVerification, type Session } from '../../verification/sessions.ts'
import { noteChange } from '../auth/guards.ts'
import { pageOf } from '../paginate.ts'
import { answer, PageQuery } from '../schema.ts'

const VerificationParams = Type.Object({ verification_id: Type.String({ pattern: '^SV_[A-Z0-9]{10,60}$' }) })
const VerificationsQuery = Type.Object({ ...PageQuery.properties, status: Type.Optional(Type.Enum([...statuses])) })

/** Verification sessions: how each stands, which mails went out, and sending the reviewer's again. */
export function verificationRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const viewer = { role: 'viewer' } as const

  app.get(
    '/orgs/:org/:mode/verifications',
    { config: viewer, schema: { querystring: VerificationsQuery } },
    async ({ caller, query: { status, ...page } }) => {
      const found = await pageOf(
        vault,
        `verifications of ${caller.orgId} ${caller.mode} ${status ?? ''}`,
        page,
        (after: SessionPosition | undefined, limit) =>
          listSessions(db.queries, caller, clock.now(), { status, after, limit }),
        ({ created_at, verification_id }) => ({ at: created_at.toISOString(), id: verification_id }),
        listed,
      )
      return answer('Verifications', found)
    },
  )

  app.get(
    '/orgs/:org/:mode/verifications/:verification_id',
    { config: viewer, schema: { params: VerificationParams } },
    async ({ caller, params }) =>
      answer('Verification', await show(db.queries, await getOwn(db.queries, caller, params.verification_id))),
  )

  app.post(
    '/orgs/:org/:mode/verifications/:verification_id/resend',
    { config: { role: 'recruiter' }, schema: { params: VerificationParams } },
    async (request) => {
      const { caller, params } = request
      await getOwn(db.queries, caller, params.verification_id)
      const shown = await db.transaction(async (tx) => {
        const session = await resendRequest(tx, context, params.verification_id)
        await noteChange(tx, context, request, 'verification.resend', session.id)
        return show(tx, session)
      })
      return answer('The mail is on its way again', shown)
    },
  )

  async function show(queries: Queries, session: Session) {
    const review = await findReview(queries, session.id)
    const assessment = session.method === 'assessment' ? await readAssessment(queries, session, clock.now()) : undefined
    const [row] = await listSessions(queries, session.scope, clock.now(), { id: session.id, limit: 1 })
    const mails = await listMails(queries, { subjectId: session.id, limit: 100 })
    return {
      ...listed({ ...row!, status: statusAt(session, clock.now(), review, assessment) }),
      student: session.student,
      reviewer: review ? reviewerOf(review) : null,
      outcome: verificationAnswer(session, clock.now(), review, assessment),
      mails: mails.map(mailRecord),
    }
  }
}

async function getOwn(queries: Queries, scope: OwnerScope, id: string): Promise<Session> {
  const session = await findVerification(queries, id)
  if (!session || !belongsTo(session, scope)) throw problem('NOT_FOUND', `There is no verification ${id}.`)
  return session
}

function listed({ created_at, updated_at, completed_at, expires_at, ...row }: ListedSession) {
  return {
    ...row,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
    expires_at: expires_at.toISOString(),
  }
}

function reviewerOf({ name, email, company, website, link, submittedAt }: Review) {
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  return {
    name,
    email,
    company,
    ...(website ? { website } : {}),
    sent_at: iso(link?.sentAt),
    expires_at: iso(link?.expiresAt),
    submitted_at: iso(submittedAt),
  }
}

export function mailRecord({ created_at, sent_at, ...mail }: MailHead) {
  return { ...mail, created_at: created_at.toISOString(), sent_at: sent_at?.toISOString() ?? null }
}
