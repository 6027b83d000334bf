import { SECOND } from '../platform/clock.ts'
import type { ChannelName } from './channel.ts'

/** Default send rate per organisation and channel, in messages per second; the organisation's own setting takes precedence. */
const defaultRates: Record<ChannelName, number> = { whatsapp: 80, sms: 10, voice: 1, email: 10 }

/** A slot that is not used within this time after its start, for example overnight, expires. */
const SLOT_VALID_MS = 10 * SECOND
const MAX_SLOTS = 100_000

interface SendQueue {
  /** Start of the next free slot, in epoch milliseconds. */
  nextFreeAt: number
}

const queues = new Map<string, SendQueue>()
const slotStarts = new Map<string, number>()

export interface Sender {
  org_id: string
  channel: ChannelName
}

/** Reserves a slot for a message and returns its time, which may be now. A message keeps its slot until the slot expires. */
export function reserveSlot(sender: Sender, messageId: string, perSecond: number | undefined, now: number): number {
  const reservedStart = slotStarts.get(messageId)
  if (reservedStart !== undefined) {
    if (reservedStart > now) return reservedStart
    slotStarts.delete(messageId)
    if (reservedStart + SLOT_VALID_MS > now) return now
  }
  const messagesPerSecond = perSecond ?? defaultRates[sender.channel]
  const intervalMs = SECOND / messagesPerSecond
  const queue = queueOf(sender)
  // After an idle period, allow a burst of one second's worth of messages.
  const slotStart = Math.max(queue.nextFreeAt, now - (Math.ceil(messagesPerSecond) - 1) * intervalMs)
  queue.nextFreeAt = slotStart + intervalMs
  if (slotStart <= now) return now
  if (slotStarts.size >= MAX_SLOTS) deleteExpiredSlots(now)
  slotStarts.set(messageId, Math.ceil(slotStart))
  return Math.ceil(slotStart)
}

/** Pauses a sender: messages without a slot are sent after `time`. */
export function pauseUntil(sender: Sender, time: number): void {
  const queue = queueOf(sender)
  queue.nextFreeAt = Math.max(queue.nextFreeAt, time)
}

function queueOf({ org_id, channel }: Sender): SendQueue {
  const queueKey = `${org_id} ${channel}`
  const queue = queues.get(queueKey) ?? { nextFreeAt: 0 }
  queues.set(queueKey, queue)
  return queue
}

function deleteExpiredSlots(now: number) {
  for (const [messageId, slotStart] of slotStarts) if (slotStart + SLOT_VALID_MS < now) slotStarts.delete(messageId)
}
