import type { InboundStatus } from './inbound.ts'

type CallEnd = Pick<InboundStatus, 'status'> & { outcome: NonNullable<InboundStatus['call']>['outcome'] }

/** Twilio and Exotel use the same names for the statuses of finished calls. */
const callEnds: Record<string, CallEnd> = {
  completed: { status: 'delivered', outcome: 'answered' },
  busy: { status: 'unanswered', outcome: 'busy' },
  'no-answer': { status: 'unanswered', outcome: 'no_answer' },
  failed: { status: 'failed', outcome: 'failed' },
  canceled: { status: 'failed', outcome: 'failed' },
}

/** Returns the report about a finished call; undefined for earlier statuses. */
export function callReport(
  call: { providerId: string; messageId: string },
  statusName: string,
  duration: unknown,
): InboundStatus | undefined {
  const callEnd = Object.hasOwn(callEnds, statusName) ? callEnds[statusName]! : undefined
  if (!callEnd) return undefined
  const seconds = callEnd.outcome === 'answered' ? Math.min(Number(duration) || 0, 86_400) : 0
  return {
    channel: 'voice',
    ...call,
    status: callEnd.status,
    call: { outcome: callEnd.outcome, seconds },
    // Unanswered calls are free, and answered ones are billed by the minute.
    units: Math.ceil(seconds / 60),
    ...(callEnd.outcome === 'answered' ? {} : { error: statusName }),
  }
}
