import { sql } from 'kysely'
import { addressOf, type ChannelName } from '../../channels/channel.ts'
import { channelsOpenTo } from '../../channels/credentials.ts'
import { whoseTurn } from '../../channels/simulator/pending-replies.ts'
import { partOf, SHORT_WAIT } from '../../channels/simulator/test-numbers.ts'
import type { Context } from '../../context.ts'
import { asking } from '../../conversation/conversation.ts'
import { HOUR } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { getWorkflow, type Workflow } from '../../workflows/workflows.ts'
import { type Candidacy, lockIdle } from '../candidacy.ts'
import { type CandidateChange, recordSteps, type Step } from '../progress.ts'
import { hasReached, reaching } from '../stages.ts'
import { nextContactTime } from './contact-hours.ts'
import { say } from './messages.ts'
import { whoStopped } from './opt-outs.ts'

export type Surroundings = Pick<Context, 'clock' | 'config'>

/** How long after the last message somebody who does not answer is waited for. */
const PATIENCE = 72

/** Milliseconds of a wait of so many hours, which is short for a test number. */
export function waitOf(candidate: Candidacy, hours: number): number {
  return isPlayed(candidate) ? SHORT_WAIT : hours * HOUR
}

function isPlayed({ mode, phone }: Candidacy) {
  return mode === 'test' && partOf(phone) !== undefined
}

interface Due {
  candidate_id: string
  kind: 'contact' | 'give_up'
  step: number
}

/** Contacts those whose time has come, at most so many; answers how many there were. */
export async function contactDue(tx: Tx, around: Surroundings, limit: number): Promise<number> {
  const now = around.clock.now()
  const { rows: due } = await sql<Due>`
    select candidate_id, kind, step from contacts where due_at <= ${new Date(now)} and not held
    order by due_at limit ${limit} for update skip locked`.execute(tx)
  if (due.length === 0) return 0
  const byId = new Map(due.map((row) => [row.candidate_id, row]))
  // Whom somebody else is busy with has probably just answered, and is looked at again later.
  const idle = (await lockIdle(tx, [...byId.keys()])).filter(({ status }) => status === 'pending')
  const answering = await whoseTurn(tx, [...byId.keys()])
  await postpone(
    tx,
    idle.filter(({ candidate_id }) => answering.has(candidate_id)),
    () => now + SHORT_WAIT,
  )
  const ready = idle.filter(({ candidate_id }) => !answering.has(candidate_id))
  const kinds = Map.groupBy(ready, ({ candidate_id }) => byId.get(candidate_id)!.kind)
  await giveUp(tx, around, kinds.get('give_up') ?? [])
  const toContact = kinds.get('contact') ?? []
  const asleep = new Set(toContact.filter((candidate) => !isPlayed(candidate) && nextContactTime(now) > now))
  await postpone(tx, [...asleep], () => nextContactTime(now))
  const stopped = new Set(await whoStopped(tx, toContact))
  await recordSteps(tx, around.clock, [...stopped].map(declineStopped))
  const steps = new Map(due.map(({ candidate_id, step }) => [candidate_id, step]))
  await approach(
    tx,
    around,
    toContact
      .filter((candidate) => !asleep.has(candidate) && !stopped.has(candidate))
      .map((candidate) => ({ candidate, step: steps.get(candidate.candidate_id)!, tried: [], failed: [] })),
  )
  return due.length
}

/** Somebody whose phone or mail address has said STOP is not contacted; the credit goes back where nobody ever was. */
export function declineStopped(before: Candidacy): Step {
  return { before, end: { status: 'declined', reason: 'stopped' }, refund: !hasReached(before.stages, 'contacted') }
}

async function giveUp(tx: Tx, { clock }: Surroundings, silent: Candidacy[]) {
  const steps = silent.map((before): Step => {
    const answered = hasReached(before.stages, 'responded')
    return { before, end: { status: 'failed', reason: answered ? 'expired' : 'no_response' } }
  })
  await recordSteps(tx, clock, steps)
}

async function postpone(tx: Tx, candidates: Candidacy[], until: () => number) {
  if (candidates.length === 0) return
  await sql`update contacts set due_at = ${new Date(until())}
    where candidate_id = any (${candidates.map(({ candidate_id }) => candidate_id)})`.execute(tx)
}

export interface Approach {
  candidate: Candidacy
  /** 0 is the first message, then come the follow-ups. */
  step: number
  /** Channels that this step went to already. */
  tried: ChannelName[]
  /** Those of them whose failure is not counted yet. */
  failed: ChannelName[]
}

/** Sends everybody the message of their step on the next channel that may reach them. */
export async function approach(tx: Tx, around: Surroundings, approaches: Approach[]): Promise<void> {
  const { clock } = around
  const workflows = new Map<string, Workflow>()
  const open = new Map<string, Set<ChannelName>>()
  let left = approaches
  while (left.length > 0) {
    const sending: (Approach & { channel: ChannelName; workflow: Workflow })[] = []
    const lost: (Approach & { workflow: Workflow })[] = []
    for (const one of left) {
      const workflow = await workflowOf(one.candidate)
      const channel = (await channelsFor(one, workflow)).find((name) => !one.tried.includes(name))
      if (channel) sending.push({ ...one, channel, workflow })
      else lost.push({ ...one, workflow })
    }
    const said = await say(
      tx,
      clock,
      sending.map(({ candidate, channel, step }) => {
        return { candidate, channel, prompts: asking(candidate.state, candidate.flow), contactStep: step }
      }),
    )
    const queued = sending.filter((_, index) => said[index] === 'queued')
    await waitForProvider(tx, queued)
    await countFailures(tx, around, queued)
    const delivered = sending.filter((_, index) => said[index] === 'delivered')
    await recordContacts(tx, around, delivered, true)
    await endUnreachable(tx, around, lost)
    left = sending
      .filter((_, index) => said[index] === 'failed')
      .map(({ candidate, step, tried, failed, channel }) => {
        return { candidate, step, tried: [...tried, channel], failed: [...failed, channel] }
      })
  }

  async function workflowOf({ org_id: orgId, mode, workflow_id }: Candidacy): Promise<Workflow> {
    const known = workflows.get(workflow_id) ?? (await getWorkflow(tx, { orgId, mode }, workflow_id))
    workflows.set(workflow_id, known)
    return known
  }

  async function channelsFor({ candidate, step }: Approach, workflow: Workflow): Promise<ChannelName[]> {
    const usable = candidate.mode === 'test' ? undefined : await channelsOf(candidate.org_id)
    return channelOrder(workflow, step).filter(
      (name) => candidate[addressOf[name]] !== null && (usable === undefined || usable.has(name)),
    )
  }

  async function channelsOf(orgId: string) {
    const known = open.get(orgId) ?? (await channelsOpenTo(tx, orgId, around.config.smtpUrl !== undefined))
    open.set(orgId, known)
    return known
  }
}

/** The workflow's order; a follow-up begins with the channel that it names. */
export function channelOrder({ channels, follow_ups }: Pick<Workflow, 'channels' | 'follow_ups'>, step: number) {
  const first = follow_ups[step - 1]?.channel
  return first ? [first, ...channels.filter((name) => name !== first)] : channels
}

async function waitForProvider(tx: Tx, queued: Approach[]) {
  if (queued.length === 0) return
  await sql`update contacts set due_at = null
    where candidate_id = any (${queued.map(({ candidate }) => candidate.candidate_id)})`.execute(tx)
}

/** Messages that are out: the next step is counted from now. */
export async function recordContacts(
  tx: Tx,
  around: Surroundings,
  sent: (Approach & { channel: ChannelName; workflow: Workflow })[],
  delivered: boolean,
): Promise<void> {
  const { clock } = around
  const time = new Date(clock.now())
  await recordSteps(
    tx,
    clock,
    sent.map(({ candidate: before, step, channel, failed }): Step => {
      const whats = delivered ? (['sent', 'delivered'] as const) : (['sent'] as const)
      return {
        before,
        now: {
          stages: before.stages | reaching(delivered ? 'delivered' : 'contacted'),
          contact_step: step,
          channel,
          started_at: before.started_at ?? time,
        },
        channels: [...failures(failed), ...whats.map((what) => ({ channel, what }))],
        followUps: step > 0 ? [{ step, what: 'sent' }] : [],
        calls: [...failedCalls(failed), ...(channel === 'voice' ? callsOf(before, step) : [])],
      }
    }),
  )
  await planNext(tx, around, sent)
}

function failures(failed: ChannelName[]) {
  return failed.map((channel) => ({ channel, what: 'failed' as const }))
}

/** A call of the simulator is over as soon as it is placed; a real one is told of later. */
const SIMULATED_CALL = 30

function callsOf({ mode, phone }: Candidacy, step: number): CandidateChange['calls'] {
  const placed = { outcome: 'placed' as const, seconds: 0 }
  if (mode === 'live') return [placed]
  const part = partOf(phone)
  const silent = part === 'never_answers' || (part === 'answers_late' && step === 0)
  return [placed, silent ? { outcome: 'no_answer', seconds: 0 } : { outcome: 'answered', seconds: SIMULATED_CALL }]
}

function failedCalls(failed: ChannelName[]): CandidateChange['calls'] {
  if (!failed.includes('voice')) return []
  return [
    { outcome: 'placed', seconds: 0 },
    { outcome: 'failed', seconds: 0 },
  ]
}

async function countFailures(tx: Tx, { clock }: Surroundings, approaches: Approach[]) {
  const steps = approaches
    .filter(({ failed }) => failed.length > 0)
    .map(({ candidate, failed }) => ({ before: candidate, channels: failures(failed) }))
  await recordSteps(tx, clock, steps)
}

/** The next follow-up, or the end of patience where there is none; whoever has answered meanwhile is left alone. */
export async function planNext(
  tx: Tx,
  { clock }: Surroundings,
  sent: { candidate: Candidacy; step: number; workflow: Workflow }[],
): Promise<void> {
  if (sent.length === 0) return
  const now = clock.now()
  const next = sent.map(({ candidate, step, workflow }) => {
    const followUp = workflow.follow_ups[step]
    const due = now + waitOf(candidate, followUp?.after_hours ?? PATIENCE)
    const quiet = followUp && !isPlayed(candidate)
    return { kind: followUp ? 'contact' : 'give_up', due: new Date(quiet ? nextContactTime(due) : due) }
  })
  await sql`update contacts c set kind = n.kind, step = n.step + 1, due_at = n.due_at
    from unnest(${sent.map(({ candidate }) => candidate.candidate_id)}::text[], ${next.map(({ kind }) => kind)}::text[],
      ${sent.map(({ step }) => step)}::int[], ${next.map(({ due }) => due)}::timestamptz[]) as n (candidate_id, kind, step, due_at)
    where c.candidate_id = n.candidate_id and c.kind = 'contact' and c.step = n.step`.execute(tx)
}

/** No channel is left for this step. Whom nothing ever reached has failed; others wait for the next step. */
async function endUnreachable(tx: Tx, around: Surroundings, lost: (Approach & { workflow: Workflow })[]) {
  if (lost.length === 0) return
  const { rows } = await sql<{ candidate_id: string }>`
    select distinct candidate_id from messages where state in ('sent', 'delivered', 'read', 'unknown') and direction = 'out'
      and candidate_id = any (${lost.map(({ candidate }) => candidate.candidate_id)})`.execute(tx)
  const perhaps = new Set(rows.map(({ candidate_id }) => candidate_id))
  const unreached = lost.filter(({ candidate }) => !perhaps.has(candidate.candidate_id))
  await recordSteps(
    tx,
    around.clock,
    unreached.map(({ candidate, failed }) => {
      return {
        before: candidate,
        end: { status: 'failed', reason: 'unreachable' },
        refund: true,
        channels: failures(failed),
        calls: failedCalls(failed),
      }
    }),
  )
  const waiting = lost.filter(({ candidate }) => perhaps.has(candidate.candidate_id))
  await countFailures(tx, around, waiting)
  await planNext(tx, around, waiting)
}

/** When somebody is to be contacted next, to answer by themselves, or to be given up; in epoch milliseconds, and possibly past. */
export async function soonestContact(queries: Queries): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least((select min(due_at) from contacts where due_at is not null and not held),
      (select min(due_at) from simulator_turns),
      (select min(leased_until) from messages where state = 'sending')) as due`.execute(queries)
  return rows[0]!.due?.getTime()
}
