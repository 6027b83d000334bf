const STATE_TONES: Record<string, 'good' | 'bad' | 'wait' | 'quiet'> = {
  ready: 'good',
  running: 'good',
  active: 'good',
  enabled: 'good',
  completed: 'good',
  delivered: 'good',
  read: 'good',
  sent: 'good',
  approved: 'good',
  passed: 'good',
  endorsed: 'good',
  verified: 'good',
  strong: 'good',
  failed: 'bad',
  failing: 'bad',
  rejected: 'bad',
  revoked: 'bad',
  declined: 'bad',
  unknown: 'bad',
  bounced: 'bad',
  weak: 'bad',
  preparing: 'wait',
  pending: 'wait',
  scheduled: 'wait',
  paused: 'wait',
  queued: 'wait',
  sending: 'wait',
  pending_review: 'wait',
  in_assessment: 'wait',
  moderate: 'wait',
  pilot: 'wait',
}

/** A state as a coloured label; the text alone carries the meaning. */
export function Badge({ state }: { state: string }) {
  return <span class={`badge ${STATE_TONES[state] ?? 'quiet'}`}>{state.replaceAll('_', ' ')}</span>
}
