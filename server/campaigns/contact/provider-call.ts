import { type ChannelName, type OutgoingMessage, SendError, type SendErrorReason } from '../../channels/channel.ts'
import { findCredentials } from '../../channels/credentials.ts'
import { pauseUntil } from '../../channels/send-rate.ts'
import type { Context } from '../../context.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { redactAddresses } from '../../platform/text/redact-addresses.ts'

const SEND_TIMEOUT_MS = 20 * SECOND
/** A message fails if its provider is still busy this long after the message was created. */
export const MAX_BUSY_MS = 24 * HOUR

export type SendOutcome =
  | { errorReason: undefined; providerId: string | undefined; templateId?: string | undefined }
  | {
      errorReason: SendErrorReason
      message: string
      retryAfter: number | undefined
      /** Whether the email address does not exist. */
      isUnknownAddress?: boolean
    }

/** Sends a message with the credentials of the organisation, outside of any transaction, and classifies the outcome. */
export async function sendThroughProvider(
  context: Pick<Context, 'db' | 'vault' | 'channels' | 'clock' | 'log'>,
  sender: { org_id: string; channel: ChannelName },
  buildMessage: () => Promise<OutgoingMessage>,
): Promise<SendOutcome> {
  const { org_id: orgId, channel } = sender
  const signal = AbortSignal.timeout(SEND_TIMEOUT_MS)
  try {
    const credentials = await findCredentials(context.db.queries, context.vault, orgId, channel)
    const accepted = await context.channels[channel].send(await buildMessage(), credentials, signal)
    return { errorReason: undefined, ...accepted }
  } catch (error) {
    // Pause sends to a provider that asks for it or does not respond.
    const pauseMs =
      error instanceof SendError && error.retryAfter ? error.retryAfter * SECOND : signal.aborted ? MINUTE : 0
    if (pauseMs > 0) await pauseUntil(context.db.queries, sender, context.clock.now() + pauseMs)
    if (error instanceof SendError && error.reason === 'rejected')
      context.log.warn(
        { org: orgId, channel, reason: redactAddresses(error.message).slice(0, 300) },
        'provider rejected a message; check the credentials and the template',
      )
    if (error instanceof SendError) {
      const { reason: errorReason, message, retryAfter, isUnknownAddress } = error
      return { errorReason, message, retryAfter, isUnknownAddress }
    }
    return {
      errorReason: 'unknown',
      message: error instanceof Error ? error.message : String(error),
      retryAfter: undefined,
    }
  }
}

/** Returns the delay before a message is sent again: exponential up to ten minutes, or the provider's Retry-After if that is longer. */
export function busyDelayMs({ attempts }: { attempts: number }, retryAfter: number | undefined): number {
  return Math.max((retryAfter ?? 0) * SECOND, Math.min(10 * MINUTE, 5 * SECOND * 2 ** Math.min(attempts, 10)))
}
