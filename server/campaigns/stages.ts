import type { State } from '../conversation/conversation.ts'
import type { ConversationFlow } from '../conversation/flow.ts'
import { isQualified, partsDone } from '../conversation/verdicts.ts'

/** The stages of the funnel, in its order; a candidate who has reached one has reached all before it, up to `completed`. */
export const stages = [
  'contacted',
  'delivered',
  'responded',
  'consented',
  'enrichment_done',
  'skills_done',
  'interest_done',
  'completed',
  'qualified',
  'interested',
] as const
export type Stage = (typeof stages)[number]

/** Kept as a bit each. */
export function bit(stage: Stage): number {
  return 1 << stages.indexOf(stage)
}

/** The stage and all before it. */
export function reaching(stage: Stage): number {
  return (bit(stage) << 1) - 1
}

export function hasReached(reached: number, stage: Stage): boolean {
  return (reached & bit(stage)) !== 0
}

export function stagesIn(bits: number): Stage[] {
  return stages.filter((stage) => hasReached(bits, stage))
}

/** What a conversation as it stands after a reply has reached. */
export function stagesOf(state: State, flow: ConversationFlow): number {
  const done = partsDone(state, flow)
  let reached = reaching('responded')
  if (done.consented) reached |= reaching('consented')
  if (done.enrichment) reached |= reaching('enrichment_done')
  if (done.skills) reached |= reaching('skills_done')
  if (done.interest) reached |= reaching('interest_done')
  const qualified = isQualified(state, flow)
  if (qualified !== null) reached |= reaching('completed')
  if (qualified) reached |= bit('qualified')
  if (state.interest) reached |= bit('interested')
  return reached
}
