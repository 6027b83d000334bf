import { SECOND } from '../platform/clock.ts'
import type { ChannelName } from './channel.ts'

/** Default messages per second per sender; an organisation's own setting takes precedence. */
const defaultRates: Record<ChannelName, number> = { whatsapp: 80, sms: 10, voice: 1, email: 10 }

/** A slot that is not used within this time after its start, for example overnight, expires. */
const SLOT_VALID_MS = 10 * SECOND
const MAX_SLOTS = 100_000

interface SendQueue {
  /** Start of the next free slot, in epoch milliseconds. */
  nextFreeAt: number
}

const queues = new Map<string, SendQueue>()
const slots = new Map<string, number>()

export interface Sender {
  org_id: string
  channel: ChannelName
}

/** Reserves a slot for a message and returns its time, which may be now. A message keeps its slot until it expires. */
export function reserveSlot(sender: Sender, messageId: string, perSecond: number | undefined, now: number): number {
  const reserved = slots.get(messageId)
  if (reserved !== undefined) {
    if (reserved > now) return reserved
    slots.delete(messageId)
    if (reserved + SLOT_VALID_MS > now) return now
  }
  const rate = perSecond ?? defaultRates[sender.channel]
  const interval = SECOND / rate
  const queue = queueOf(sender)
  // After an idle period, allow a burst of one second's worth of messages.
  const at = Math.max(queue.nextFreeAt, now - (Math.ceil(rate) - 1) * interval)
  queue.nextFreeAt = at + interval
  if (at <= now) return now
  if (slots.size >= MAX_SLOTS) deleteExpiredSlots(now)
  slots.set(messageId, Math.ceil(at))
  return Math.ceil(at)
}

/** Pauses a sender: messages without a slot are sent after `time`. */
export function pauseUntil(sender: Sender, time: number): void {
  const queue = queueOf(sender)
  queue.nextFreeAt = Math.max(queue.nextFreeAt, time)
}

function queueOf({ org_id, channel }: Sender): SendQueue {
  const name = `${org_id} ${channel}`
  const queue = queues.get(name) ?? { nextFreeAt: 0 }
  queues.set(name, queue)
  return queue
}

function deleteExpiredSlots(now: number) {
  for (const [messageId, at] of slots) if (at + SLOT_VALID_MS < now) slots.delete(messageId)
}
