import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import { findPersonKeys } from '../../people/identity/people.ts'
import type { PersonKey } from '../../people/identity/person-key.ts'
import type { Queries } from '../../platform/database/database.ts'
import { openReviewer, openWords, withComments } from '../personal-values.ts'
import type { SkillDecision } from '../session-skills.ts'
import type { Session } from '../sessions.ts'

/** The reviewer of a session and their response; times in epoch milliseconds. */
export interface Review {
  personId: string
  /** Seals the values of the reviewer; null after the erasure. */
  personKey: PersonKey
  name: string
  email: string
  company: string
  website: string | undefined
  /** In E.164 format. The link is sent to it, too. */
  phone: string | undefined
  /** Hashes of the addresses of all reviewers that the session has had; those of phone numbers begin with `phone `. */
  addresses: string[]
  /** When the first review request was sent. */
  requestedAt: number | undefined
  /** The current link to the review page. */
  link: { tokenHash: Buffer; sealed: Buffer; sentAt: number; expiresAt: number } | undefined
  submittedAt: number | undefined
  decisions: SkillDecision[] | undefined
  /** Why the reviewer declined, or why the endorsement was withdrawn. */
  declineReason: string | undefined
  withdrawnAt: number | undefined
  withdrawnBy: WithdrawnBy | undefined
}

const withdrawers = ['reviewer', 'organisation', 'operator'] as const
export type WithdrawnBy = (typeof withdrawers)[number]

/** Returns whether the review contains an endorsement that has not been withdrawn. */
export function isWithdrawable({ status }: Pick<Session, 'status'>, { decisions, withdrawnAt }: Review): boolean {
  if (status !== 'completed' || withdrawnAt !== undefined) return false
  return decisions?.some(({ endorsed }) => endorsed) ?? false
}

export function alreadySubmittedProblem() {
  return problem('ALREADY_SUBMITTED', 'The review has already been submitted.')
}

export function linkExpiredProblem() {
  return problem('LINK_EXPIRED', 'The review link has expired.')
}

export async function findReview(queries: Queries, verificationId: string): Promise<Review | undefined> {
  const { rows } = await sql<ReviewRow>`
    select r.*, s.person_id as student_id from verification_reviews r join verification_sessions s using (verification_id)
    where verification_id = ${verificationId}`.execute(queries)
  const [row] = rows
  if (!row) return undefined
  const keys = await findPersonKeys(queries, [row.person_id, row.student_id])
  return reviewFromRow(row, {
    reviewerKey: keys.get(row.person_id) ?? null,
    studentKey: keys.get(row.student_id) ?? null,
  })
}

interface ReviewRow {
  verification_id: string
  person_id: string
  student_id: string
  personal: Buffer | null
  words: Buffer | null
  addresses: string[]
  requested_at: Date | null
  token_hash: Buffer | null
  link: Buffer | null
  sent_at: Date | null
  expires_at: Date | null
  submitted_at: Date | null
  decisions: SkillDecision[] | null
  decline_reason: string | null
  withdrawn_at: Date | null
  withdrawn_by: WithdrawnBy | null
}

function reviewFromRow(row: ReviewRow, keys: { reviewerKey: PersonKey; studentKey: PersonKey }): Review {
  const { name, email, company, website, phone } = openReviewer(keys.reviewerKey, row.verification_id, row.personal)
  const words = openWords(keys, row.verification_id, row.words)
  return {
    personId: row.person_id,
    personKey: keys.reviewerKey,
    name,
    email,
    company,
    website,
    phone,
    addresses: row.addresses,
    requestedAt: row.requested_at?.getTime(),
    link: row.sent_at
      ? {
          tokenHash: row.token_hash!,
          sealed: row.link!,
          sentAt: row.sent_at.getTime(),
          expiresAt: row.expires_at!.getTime(),
        }
      : undefined,
    submittedAt: row.submitted_at?.getTime(),
    decisions: row.decisions ? withComments(row.decisions, words) : undefined,
    declineReason: words?.reason ?? row.decline_reason ?? undefined,
    withdrawnAt: row.withdrawn_at?.getTime(),
    withdrawnBy: row.withdrawn_by ?? undefined,
  }
}

/** Formats the reviewer for responses to the partner and the student. */
export function reviewerRecord(verificationId: string, review: Review) {
  return { ...publicReviewerRecord(verificationId, review), ...(review.phone ? { phone: review.phone } : {}) }
}

/** Formats the reviewer for the response that needs no key, which does not contain the phone number. */
export function publicReviewerRecord(verificationId: string, { name, email, company, website }: Review) {
  return { serviceVerificationId: verificationId, name, email, company, ...(website ? { website } : {}) }
}
