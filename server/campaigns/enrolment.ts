import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Caller } from '../access/caller.ts'
import { type Detail, problem } from '../api/problem.ts'
import { channelsOpenTo } from '../channels/credentials.ts'
import { partOf } from '../channels/simulator/test-numbers.ts'
import type { Context } from '../context.ts'
import { begin } from '../conversation/conversation.ts'
import { holdMandate } from '../mandates/mandate-rows.ts'
import { announce, type Tx } from '../platform/database/database.ts'
import { invalid } from '../platform/http/validation.ts'
import { newId, randomToken } from '../platform/ids.ts'
import { languages as allLanguages, getWorkflow, type Language, type Workflow } from '../workflows/workflows.ts'
import { type Campaign, getCampaign, lockChangeable } from './campaigns.ts'
import { flowOf, lockCandidacies } from './candidacy.ts'
import { declineStopped } from './contact/contact.ts'
import { indianDay, nextContactTime } from './contact/contact-hours.ts'
import { CONTACT_DUE } from './contact/messages.ts'
import { whoStopped } from './contact/opt-outs.ts'
import { balanceOf, spendCredits } from './credits.ts'
import { countPeople } from './daily-people-limit.ts'
import { recordSteps, tellChanges } from './progress.ts'

export interface CandidateInput {
  external_candidate_id: string
  name: string
  phone?: string
  email?: string
  language?: Language
  metadata?: Record<string, string>
}

export interface Enrolment {
  accepted: number
  duplicates: number
  credits_spent: number
  credits_left: number
}

/** Candidates of one call and of one campaign; one tenth of that for TEST. */
export const MOST_IN_CALL = { live: 1_000, test: 100 }
const MOST_IN_CAMPAIGN = { live: 20_000, test: 2_000 }

type Enroller = Pick<Context, 'clock' | 'vault' | 'config'>
type EnrollingCaller = Pick<Caller, 'orgId' | 'mode' | 'keyId' | 'key' | 'via'>

/** Adds candidates to a campaign that is there already, with the newest questions that are ready. */
export async function enrolInto(
  tx: Tx,
  caller: EnrollingCaller,
  enroller: Enroller,
  campaignId: string,
  candidates: CandidateInput[],
): Promise<{ campaign: Campaign; enrolment: Enrolment }> {
  const campaign = await lockChangeable(tx, caller, campaignId)
  if (campaign.hold === 'archived') throw problem('CONFLICT', 'This campaign is archived; nobody can be enrolled.')
  const mandate = await holdMandate(tx, caller, campaign.mandate_id)
  if (mandate!.status === 'archived') throw problem('CONFLICT', 'The mandate of this campaign is archived.')
  const flow_version = mandate!.status === 'ready' ? mandate!.flow_version : campaign.flow_version
  await requireChannelsOf(tx, caller, enroller, campaign)
  return enrol(tx, caller, enroller, { ...campaign, flow_version }, candidates)
}

/** A LIVE campaign needs a way to reach people; TEST has the simulator. */
export async function requireChannelsOf(
  tx: Tx,
  caller: Pick<Caller, 'orgId' | 'mode'>,
  { config }: Pick<Enroller, 'config'>,
  { workflow_id }: Pick<Campaign, 'workflow_id'>,
): Promise<void> {
  const { orgId, mode } = caller
  if (mode === 'test') return
  const { channels } = await getWorkflow(tx, caller, workflow_id)
  const open = await channelsOpenTo(tx, orgId, config.smtpUrl !== undefined)
  if (!channels.some((channel) => open.has(channel)))
    throw problem(
      'CONFLICT',
      `The organisation has no credentials for any channel of the workflow: ${channels.join(', ')}.`,
    )
}

/** Everybody or nobody. The campaign is locked, or was made by this very transaction. */
export async function enrol(
  tx: Tx,
  caller: EnrollingCaller,
  enroller: Enroller,
  campaign: Campaign,
  given: CandidateInput[],
): Promise<{ campaign: Campaign; enrolment: Enrolment }> {
  const { clock, vault } = enroller
  const workflow = await getWorkflow(tx, caller, campaign.workflow_id)
  const faults = rowFaults(given, workflow)
  if (faults.length > 0) throw invalid(faults)
  const rows = withoutRepeats(given)
  const now = clock.now()
  const flow = await flowOf(tx, caller, campaign.mandate_id, campaign.flow_version)
  const fallback = flow.languages[0] ?? workflow.languages[0]!
  const tokens = rows.map(() => randomToken(32))
  const ids = rows.map(() => newId('CD_', now))
  const start = Math.max(now, campaign.starts_at.getTime())
  const time = new Date(now)
  const { rows: added } = await sql<{ candidate_id: string; phone: string | null; email: string | null }>`
    with given as (
      select * from unnest(${ids}::text[], ${rows.map(() => newId('RS_', now))}::text[],
        ${rows.map((row) => row.external_candidate_id)}::text[], ${rows.map((row) => row.name)}::text[],
        ${rows.map((row) => row.phone ?? null)}::text[], ${rows.map((row) => row.email ?? null)}::text[],
        ${rows.map((row) => row.language ?? null)}::text[], ${rows.map((row) => JSON.stringify(row.metadata ?? {}))}::text[],
        ${tokens.map(hashToken)}::bytea[], ${tokens.map((token, at) => vault.seal(token, tokenPurpose(ids[at]!)))}::bytea[],
        ${rows.map((row) => JSON.stringify(begin(row.language ?? fallback, row.language !== undefined)))}::text[],
        ${rows.map((row) => new Date(firstContact(caller.mode, row, start)))}::timestamptz[])
        as n (candidate_id, result_id, external_candidate_id, name, phone, email, language, metadata, token_hash, token, conversation, due_at)
    ), added as (
      insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, name, phone, email, language, metadata,
        token_hash, token, enrolled_at)
      select candidate_id, ${campaign.campaign_id}, ${caller.orgId}, ${caller.mode}, external_candidate_id, name, phone, email, language,
        metadata, token_hash, token, ${time} from given
      on conflict do nothing returning candidate_id, phone, email
    ), progress as (
      insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version, conversation,
        created_at, updated_at)
      select candidate_id, ${campaign.campaign_id}, ${caller.orgId}, ${caller.mode}, ${campaign.mandate_id}, result_id, 'pending',
        ${campaign.flow_version}, conversation, ${time}, ${time} from given join added using (candidate_id)
    ), due as (
      insert into contacts (candidate_id, campaign_id, kind, step, due_at, held)
      select candidate_id, ${campaign.campaign_id}, 'contact', 0, due_at, ${campaign.hold === 'paused'}
      from given join added using (candidate_id)
    )
    select candidate_id, phone, email from added`.execute(tx)

  const accepted = added.length
  requireRoom(campaign, accepted)
  await countPeople(tx, clock, caller.keyId, caller.key.limits.peoplePerDay, added)
  const changed = await countEnrolled(tx, campaign, accepted, time)
  const left = await spendCredits(tx, caller, clock, campaign.campaign_id, accepted)
  const enrolment = { accepted, duplicates: given.length - accepted, credits_spent: accepted, credits_left: left }
  await tellEnrolled(
    tx,
    enroller,
    added.map(({ candidate_id }) => candidate_id),
  )
  const owner = { org_id: caller.orgId, mode: caller.mode }
  const stopped = await whoStopped(
    tx,
    added.map((row) => ({ ...row, ...owner })),
  )
  announce(tx, CONTACT_DUE)
  if (stopped.length === 0) return { campaign: changed, enrolment }
  await declineAtOnce(
    tx,
    enroller,
    stopped.map(({ candidate_id }) => candidate_id),
  )
  return {
    campaign: await getCampaign(tx, caller, campaign.campaign_id),
    enrolment: { ...enrolment, credits_left: await balanceOf(tx, caller) },
  }
}

/** Who has said STOP to the organisation is not contacted again: declined, and the credit given back. */
async function declineAtOnce(tx: Tx, { clock }: Enroller, candidateIds: string[]) {
  await recordSteps(tx, clock, (await lockCandidacies(tx, candidateIds)).map(declineStopped))
}

async function tellEnrolled(tx: Tx, { clock }: Enroller, candidateIds: string[]) {
  const candidates = await lockCandidacies(tx, candidateIds)
  // All were written at one moment; midnight may have passed since.
  const day = indianDay(candidates[0]?.created_at.getTime() ?? clock.now())
  await tellChanges(
    tx,
    clock,
    candidates.map((candidate) => ({
      orgId: candidate.org_id,
      mode: candidate.mode,
      workflowId: candidate.workflow_id,
      mandateId: candidate.mandate_id,
      campaignId: candidate.campaign_id,
      candidateId: candidate.candidate_id,
      enrolledDay: day,
      day,
      enrolled: true,
      reached: [],
      channels: [],
      followUps: [],
      calls: [],
      language: candidate.state.language,
      languageBefore: candidate.state.language,
      ended: undefined,
      dropOff: undefined,
      candidate,
    })),
  )
}

async function countEnrolled(tx: Tx, campaign: Campaign, accepted: number, time: Date): Promise<Campaign> {
  if (accepted === 0) return campaign
  const { rows } = await sql<Campaign>`
    update campaigns set candidates = candidates + ${accepted}, pending = pending + ${accepted}, completed_at = null,
      flow_version = ${campaign.flow_version}, version = version + 1, updated_at = ${time}
    where campaign_id = ${campaign.campaign_id} returning *`.execute(tx)
  return rows[0]!
}

/** Rules that lean on the workflow; every bad row is named. The rows may break the schema, which then says so itself. */
export function rowFaults(
  rows: { phone?: unknown; email?: unknown; language?: unknown }[],
  workflow: Workflow,
): Detail[] {
  const { channels, languages } = workflow
  const byMailAlone = channels.every((channel) => channel === 'email')
  const needed = byMailAlone ? 'email' : 'phone'
  const details: Detail[] = []
  rows.forEach((row, index) => {
    if (row[needed] === undefined) details.push({ path: `candidates[${index}].${needed}`, message: 'is required' })
    const language = allLanguages.find((code) => code === row.language)
    if (language && !languages.includes(language))
      details.push({
        path: `candidates[${index}].language`,
        message: `must be one of the workflow's: ${languages.join(', ')}`,
      })
  })
  return details
}

/** The first of those who share a phone or an external id. */
function withoutRepeats(rows: CandidateInput[]): CandidateInput[] {
  const phones = new Set<string>()
  const externalIds = new Set<string>()
  return rows.filter(({ phone, external_candidate_id }) => {
    const repeated = externalIds.has(external_candidate_id) || (phone !== undefined && phones.has(phone))
    externalIds.add(external_candidate_id)
    if (phone !== undefined) phones.add(phone)
    return !repeated
  })
}

function requireRoom({ candidates, mode }: Campaign, accepted: number) {
  const most = MOST_IN_CAMPAIGN[mode]
  if (candidates + accepted <= most) return
  const message = `${candidates + accepted} candidates are more than the ${most} that a campaign may have`
  throw problem('LIMIT_EXCEEDED', `${message}.`, { details: [{ path: 'candidates', message }] })
}

/** Test numbers sleep at no time. */
function firstContact(mode: Caller['mode'], { phone }: CandidateInput, start: number): number {
  return mode === 'test' && partOf(phone ?? null) ? start : nextContactTime(start)
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export function tokenPurpose(candidateId: string) {
  return `link of ${candidateId}`
}
