import { t } from '../translations/translate.ts'

type Tone = 'good' | 'running' | 'bad' | 'wait' | 'quiet'

/** The colour and the text of each state of the API. */
const STATES: Record<string, readonly [Tone, string]> = {
  ready: ['good', t('ready')],
  running: ['running', t('running')],
  active: ['good', t('active')],
  enabled: ['good', t('enabled')],
  completed: ['good', t('completed')],
  delivered: ['good', t('delivered')],
  read: ['good', t('read')],
  sent: ['good', t('sent')],
  approved: ['good', t('approved')],
  passed: ['good', t('passed')],
  endorsed: ['good', t('endorsed')],
  verified: ['good', t('verified')],
  strong: ['good', t('strong')],
  failed: ['bad', t('failed')],
  failing: ['bad', t('failing')],
  rejected: ['bad', t('rejected')],
  revoked: ['bad', t('revoked')],
  declined: ['bad', t('declined')],
  unknown: ['bad', t('unknown')],
  bounced: ['bad', t('bounced')],
  weak: ['bad', t('weak')],
  preparing: ['wait', t('preparing')],
  pending: ['wait', t('pending')],
  scheduled: ['wait', t('scheduled')],
  paused: ['wait', t('paused')],
  queued: ['wait', t('queued')],
  sending: ['wait', t('sending')],
  pending_review: ['wait', t('pending review')],
  in_assessment: ['wait', t('in assessment')],
  moderate: ['wait', t('moderate')],
  pilot: ['wait', t('pilot')],
  advancing: ['quiet', t('advancing')],
  api_off: ['quiet', t('API off')],
  archived: ['quiet', t('archived')],
  cancelled: ['quiet', t('cancelled')],
  checked: ['quiet', t('checked')],
  closed: ['quiet', t('closed')],
  disabled: ['quiet', t('disabled')],
  disconnected: ['quiet', t('disconnected')],
  dismissed: ['quiet', t('dismissed')],
  draft: ['quiet', t('draft')],
  duplicate: ['quiet', t('duplicate')],
  ended: ['quiet', t('ended')],
  erased: ['quiet', t('erased')],
  excluded: ['quiet', t('excluded')],
  expired: ['quiet', t('expired')],
  held: ['quiet', t('held')],
  inconclusive: ['quiet', t('inconclusive')],
  kept: ['quiet', t('kept')],
  not_assessed: ['quiet', t('not assessed')],
  not_done: ['quiet', t('not done')],
  not_endorsed: ['quiet', t('not endorsed')],
  not_passed: ['quiet', t('not passed')],
  not_requested: ['quiet', t('not requested')],
  not_set_up: ['quiet', t('not set up')],
  not_verifiable: ['quiet', t('not verifiable')],
  not_verified: ['quiet', t('not verified')],
  open: ['quiet', t('open')],
  ordered: ['quiet', t('ordered')],
  recommended: ['quiet', t('recommended')],
  refused: ['quiet', t('refused')],
  restricted: ['quiet', t('restricted')],
  retired: ['quiet', t('retired')],
  skipped: ['quiet', t('skipped')],
  started: ['quiet', t('started')],
  undone: ['quiet', t('undone')],
  verifiable: ['quiet', t('verifiable')],
  waiting: ['quiet', t('waiting')],
}

/** A state as a coloured label; the text alone carries the meaning. */
export function Badge({ state }: { state: string }) {
  return <span class={`badge ${STATES[state]?.[0] ?? 'quiet'}`}>{stateText(state)}</span>
}

/** Returns a state of the API in the user's language. */
export function stateText(state: string): string {
  return STATES[state]?.[1] ?? state.replaceAll('_', ' ')
}
