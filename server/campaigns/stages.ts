import type { ConversationFlow } from '../conversation/flow.ts'
import type { ConversationState } from '../conversation/state.ts'
import { isFinished, isQualified, partsDone } from '../conversation/verdicts.ts'

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
export function stageBit(stage: Stage): number {
  return 1 << stages.indexOf(stage)
}

/** Returns the bits of the stage and all earlier stages. */
export function stagesUpTo(stage: Stage): number {
  return (stageBit(stage) << 1) - 1
}

export function hasReached(stageBits: number, stage: Stage): boolean {
  return (stageBits & stageBit(stage)) !== 0
}

export function stagesIn(stageBits: number): Stage[] {
  return stages.filter((stage) => hasReached(stageBits, stage))
}

/** Returns the bits of the stages that a conversation has reached after a reply. */
export function stagesOf(state: ConversationState, flow: ConversationFlow): number {
  const finishedParts = partsDone(state)
  let reached = stagesUpTo('responded')
  if (finishedParts.consented) reached |= stagesUpTo('consented')
  if (finishedParts.enrichment) reached |= stagesUpTo('enrichment_done')
  if (finishedParts.skills) reached |= stagesUpTo('skills_done')
  if (finishedParts.interest) reached |= stagesUpTo('interest_done')
  if (isFinished(state)) reached |= stagesUpTo('completed')
  if (isQualified(state, flow)) reached |= stageBit('qualified')
  if (state.interest) reached |= stageBit('interested')
  return reached
}
