import type { ConversationFlow } from '../conversation/flow.ts'
import type { ConversationState } from '../conversation/state.ts'
import { isQualified, partsDone } from '../conversation/verdicts.ts'

/** The funnel's stages in order. Up to `completed`, reaching a stage implies all earlier stages. */
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

/** Reached stages are stored as a bit mask. */
function stageBit(stage: Stage): number {
  return 1 << stages.indexOf(stage)
}

/** Returns the bits of the stage and all earlier stages. */
export function stagesUpTo(stage: Stage): number {
  return (stageBit(stage) << 1) - 1
}

export function hasReached(reached: number, stage: Stage): boolean {
  return (reached & stageBit(stage)) !== 0
}

export function stagesIn(bits: number): Stage[] {
  return stages.filter((stage) => hasReached(bits, stage))
}

/** Returns the stages that a conversation has reached after a reply. */
export function stagesOf(state: ConversationState, flow: ConversationFlow): number {
  const done = partsDone(state, flow)
  let reached = stagesUpTo('responded')
  if (done.consented) reached |= stagesUpTo('consented')
  if (done.enrichment) reached |= stagesUpTo('enrichment_done')
  if (done.skills) reached |= stagesUpTo('skills_done')
  if (done.interest) reached |= stagesUpTo('interest_done')
  const qualified = isQualified(state, flow)
  if (qualified !== null) reached |= stagesUpTo('completed')
  if (qualified) reached |= stageBit('qualified')
  if (state.interest) reached |= stageBit('interested')
  return reached
}
