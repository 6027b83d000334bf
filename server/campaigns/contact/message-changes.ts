import type { ChannelName } from '../../channels/channel.ts'
import { reasonOfFailure } from '../../channels/failure-reasons.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineHook } from '../../platform/hook.ts'
import { indianDate } from '../../platform/india-time.ts'
import { kindOfMessage, type SentMessageKind } from './message-kind.ts'

export type MessageEvent = 'sent' | 'delivered' | 'read' | 'failed' | 'unknown'

/** An event of a LIVE message. Each event occurs at most once per message. */
export interface MessageChange {
  orgId: string
  campaignId: string
  day: string
  channel: ChannelName
  kind: SentMessageKind
  /** Empty without a registered template. */
  templateId: string
  event: MessageEvent
  /** Empty unless the message failed. */
  reason: string
}

/** Runs in the transaction of every change to the delivery of LIVE messages. */
export const messagesChanged = defineHook<[tx: Tx, changes: MessageChange[], clock: Clock]>(
  'messagesChanged',
).handledBy('analytics', 'console')

interface ChangedMessage {
  org_id: string
  channel: ChannelName
  contact_step: number | null
  requested: boolean
  is_code: boolean
}

/** Publishes the events of a message. TEST messages are not sent, so they are not counted. */
export async function publishMessageEvents(
  tx: Tx,
  clock: Clock,
  { mode, campaign_id }: { mode: 'test' | 'live'; campaign_id: string },
  message: ChangedMessage,
  {
    events,
    templateId,
    error,
  }: { events: MessageEvent[]; templateId?: string | null | undefined; error?: string | undefined },
): Promise<void> {
  if (mode === 'test' || events.length === 0) return
  await messagesChanged.run(
    tx,
    events.map((event) => ({
      orgId: message.org_id,
      campaignId: campaign_id,
      day: indianDate(clock.now()),
      channel: message.channel,
      kind: kindOfMessage(message),
      templateId: templateId ?? '',
      event,
      reason: event === 'failed' ? reasonOfFailure(message.channel, error ?? '') : '',
    })),
    clock,
  )
}
