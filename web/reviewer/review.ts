import type { ReviewPage } from '../api-types/verification.ts'

export interface DecisionDraft {
  endorsed?: boolean
  rating?: number
  comment?: string
}

/** The reviewer's unsent answers, stored on the device. */
export interface ReviewDraft {
  decisions: Record<string, DecisionDraft>
  reason: string
  declining: boolean
}

export const NO_DRAFT: ReviewDraft = { decisions: {}, reason: '', declining: false }

export function countUnanswered(review: ReviewPage, draft: ReviewDraft): number {
  return review.skills.filter(({ skillId }) => draft.decisions[skillId]?.endorsed === undefined).length
}

/** Returns the request body that submits the draft. */
export function reviewBody(review: ReviewPage, draft: ReviewDraft, token: string): object {
  const reference = { serviceVerificationId: review.serviceVerificationId, token }
  if (draft.declining) return { ...reference, declined: true, reason: draft.reason.trim() }
  const decisions = review.skills.map(({ skillId }) => {
    const { endorsed = false, rating, comment } = draft.decisions[skillId] ?? {}
    return {
      skillId,
      endorsed,
      ...(endorsed && rating ? { rating } : {}),
      ...(comment?.trim() ? { comment: comment.trim() } : {}),
    }
  })
  return { ...reference, decisions }
}
