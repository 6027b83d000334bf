import { sql } from 'kysely'
import { TEST_NUMBER_WAIT_MS } from '../../channels/simulator/test-numbers.ts'
import type { Prompt, ReplyOutcome } from '../../conversation/conversation.ts'
import type { Tx } from '../../platform/database/database.ts'
import { indianDayNumber } from '../../platform/india-time.ts'
import type { Candidacy } from '../candidacy.ts'
import { isFastSimulation } from './contact.ts'
import { requestedContactTime } from './contact-hours.ts'

/** Adds the time of the contact to the outcome of a reply in which the candidate asked to be contacted again. */
export function withContactTime(candidate: Candidacy, outcome: ReplyOutcome, now: number): ReplyOutcome {
  if (!outcome.contactAgain) return outcome
  const contactTime = isFastSimulation(candidate)
    ? now + TEST_NUMBER_WAIT_MS
    : requestedContactTime(outcome.contactAgain, now, candidate.started_at?.getTime() ?? now)
  const state = { ...outcome.state, contactAt: new Date(contactTime).toISOString() }
  return { ...outcome, state, prompts: contactNotice({ state }, now) }
}

/** Returns the message that says on which day the candidate is contacted again; empty if no contact is agreed, or if it is due. */
export function contactNotice({ state }: Pick<Candidacy, 'state'>, now: number): Prompt[] {
  const { contactAt, step, point } = state
  if (contactAt === undefined || Date.parse(contactAt) <= now) return []
  const isToday = indianDayNumber(Date.parse(contactAt)) === indianDayNumber(now)
  return [{ kind: isToday ? 'contact_today' : 'contact_tomorrow', step, point }]
}

/** Schedules the contacts that candidates asked for. They replace all follow-ups. */
export async function scheduleRequestedContacts(tx: Tx, candidates: Candidacy[]): Promise<void> {
  if (candidates.length === 0) return
  // The number is new: a contact that is still being sent must not reschedule this one when it completes.
  await sql`update contacts c set kind = 'contact', requested = true, due_at = n.due_at, step = greatest(c.step, 1,
      (select coalesce(max(contact_step), 0) + 1 from messages m where m.candidate_id = n.candidate_id))
    from unnest(${candidates.map(({ candidate_id }) => candidate_id)}::text[],
      ${candidates.map(({ state }) => state.contactAt!)}::timestamptz[]) as n (candidate_id, due_at)
    where c.candidate_id = n.candidate_id`.execute(tx)
}
