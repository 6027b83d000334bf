/** What the verify page shows, as the API answers it. */
export interface Review {
  serviceVerificationId: string
  endorserInfo: { name: string; company: string; email: string }
  requesterInfo: { name: string; email: string; externalStudentId: string }
  source: { type: string; title: string; subtitle: string | null; meta: string | null; description: string | null }
  skills: { skillId: string; name: string; proofUrl: string[] }[]
  endorsementType: string
  status: string
  expiresAt: string
}

export interface Decision {
  endorsed?: boolean
  rating?: number
  comment?: string
}

/** What the reviewer has answered so far, kept on the device until it is sent. */
export interface Draft {
  decisions: Record<string, Decision>
  reason: string
  declining: boolean
}

export const NO_DRAFT: Draft = { decisions: {}, reason: '', declining: false }

export function unanswered(review: Review, draft: Draft): number {
  return review.skills.filter(({ skillId }) => draft.decisions[skillId]?.endorsed === undefined).length
}

/** The body of a submission, from what was answered. */
export function submission(review: Review, draft: Draft, token: string): object {
  const head = { serviceVerificationId: review.serviceVerificationId, token }
  if (draft.declining) return { ...head, declined: true, reason: draft.reason.trim() }
  const decisions = review.skills.map(({ skillId }) => {
    const { endorsed = false, rating, comment } = draft.decisions[skillId] ?? {}
    return {
      skillId,
      endorsed,
      ...(endorsed && rating ? { rating } : {}),
      ...(comment?.trim() ? { comment: comment.trim() } : {}),
    }
  })
  return { ...head, decisions }
}
