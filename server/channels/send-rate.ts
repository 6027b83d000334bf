import { SECOND } from '../platform/clock.ts'
import type { ChannelName } from './channel.ts'

/** Messages a second that providers usually take from one sender; what an organisation has set goes before. */
const usual: Record<ChannelName, number> = { whatsapp: 80, sms: 10, voice: 1, email: 10 }

/** A place in the line holds for so long after its time; then the line has moved on, over night for instance. */
const HOLDS = 10 * SECOND
const MOST_PLACES = 100_000

interface Lane {
  /** When the next message may go, in epoch milliseconds. */
  next: number
}

const lanes = new Map<string, Lane>()
const places = new Map<string, number>()

export interface Sender {
  org_id: string
  channel: ChannelName
}

/** Takes a place in the line of an organisation's channel; answers when it is, which may be now. */
export function takePlace(sender: Sender, messageId: string, perSecond: number | undefined, now: number): number {
  const taken = places.get(messageId)
  if (taken !== undefined) {
    if (taken > now) return taken
    places.delete(messageId)
    if (taken + HOLDS > now) return now
  }
  const rate = perSecond ?? usual[sender.channel]
  const interval = SECOND / rate
  const lane = laneOf(sender)
  // As many as a second allows may go together after a rest.
  const at = Math.max(lane.next, now - (Math.ceil(rate) - 1) * interval)
  lane.next = at + interval
  if (at <= now) return now
  if (places.size >= MOST_PLACES) forgetPast(now)
  places.set(messageId, Math.ceil(at))
  return Math.ceil(at)
}

/** The provider wants to be left alone for a while: those who have no place yet come after that. */
export function restUntil(sender: Sender, time: number): void {
  const lane = laneOf(sender)
  lane.next = Math.max(lane.next, time)
}

function laneOf({ org_id, channel }: Sender): Lane {
  const name = `${org_id} ${channel}`
  const lane = lanes.get(name) ?? { next: 0 }
  lanes.set(name, lane)
  return lane
}

function forgetPast(now: number) {
  for (const [messageId, at] of places) if (at + HOLDS < now) places.delete(messageId)
}
