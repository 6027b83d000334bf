import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { Session } from '../sessions.ts'

export interface SkillDecision {
  /** Number of the skill in the catalogue. */
  skill: number
  endorsed: boolean
  rating?: number
  comment?: string
}

/** The reviewer of a session and their response; times in epoch milliseconds. */
export interface Review {
  name: string
  email: string
  company: string
  website: string | undefined
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
    select * from verification_reviews where verification_id = ${verificationId}`.execute(queries)
  return rows[0] && reviewFromRow(rows[0])
}

interface ReviewRow {
  name: string
  email: string
  company: string
  website: string | null
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

function reviewFromRow(row: ReviewRow): Review {
  return {
    name: row.name,
    email: row.email,
    company: row.company,
    website: row.website ?? undefined,
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
    decisions: row.decisions ?? undefined,
    declineReason: row.decline_reason ?? undefined,
    withdrawnAt: row.withdrawn_at?.getTime(),
    withdrawnBy: row.withdrawn_by ?? undefined,
  }
}

/** Formats the reviewer for responses. */
export function reviewerRecord(verificationId: string, { name, email, company, website }: Review) {
  return { serviceVerificationId: verificationId, name, email, company, ...(website ? { website } : {}) }
}
