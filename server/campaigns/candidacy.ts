import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { ChannelName } from '../channels/channel.ts'
import type { TestScript } from '../channels/simulator/test-script.ts'
import { fromStoredState, type StoredState } from '../conversation/earlier-format.ts'
import type { ConversationState } from '../conversation/state.ts'
import { type Flow, getFlow } from '../mandates/flow.ts'
import type { ContactConsent } from '../notices/contact-basis.ts'
import { openPersonKey, openPersonKeys, type PersonKey } from '../people/identity/person-key.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { joinConversation, openCandidate } from './personal-values.ts'

export const resultStatuses = ['pending', 'completed', 'declined', 'failed'] as const
export type ResultStatus = (typeof resultStatuses)[number]
export const resultReasons = ['no_response', 'unreachable', 'stopped', 'expired', 'refused'] as const
export type ResultReason = (typeof resultReasons)[number]

/** A candidate in a campaign, with the conversation's state and the campaign's questions. */
export interface Candidacy {
  candidate_id: string
  campaign_id: string
  org_id: string
  mode: 'test' | 'live'
  mandate_id: string
  workflow_id: string
  job_id: string | null
  result_id: string
  external_candidate_id: string
  person_id: string
  /** Seals what the candidate says; null after the erasure of the person. */
  person_key: PersonKey
  /** Whether the person must not be contacted, nor their data processed. */
  is_restricted: boolean
  name: string
  phone: string | null
  email: string | null
  metadata: Record<string, string>
  /** The basis of the contact; absent in TEST mode, in rows of earlier versions and after the erasure of the person. */
  consent?: ContactConsent | undefined
  token: Buffer
  status: ResultStatus
  reason: ResultReason | null
  flow_version: number
  state: ConversationState
  flow: Flow
  /** Bit mask of the reached stages, as in `stages.ts`. */
  stages: number
  /** Number of the last sent message: 0 for the first one, then 1, 2, … for the follow-ups; null before the first one. */
  contact_step: number | null
  channel: ChannelName | null
  started_at: Date | null
  completed_at: Date | null
  version: number
  created_at: Date
  updated_at: Date
  /** Why the campaign currently contacts no candidates; null if it does contact them. */
  hold: 'paused' | 'archived' | null
  /** The test clock of the campaign; null in real time. */
  test_clock_id: string | null
  /** The script of a simulated candidate of TEST mode. */
  test_script: TestScript | null
}

/** The fields of a candidacy that a result contains. */
export type ResultCandidacy = Pick<
  Candidacy,
  | 'candidate_id'
  | 'campaign_id'
  | 'org_id'
  | 'mode'
  | 'mandate_id'
  | 'job_id'
  | 'result_id'
  | 'external_candidate_id'
  | 'person_key'
  | 'name'
  | 'phone'
  | 'email'
  | 'metadata'
  | 'status'
  | 'reason'
  | 'flow_version'
  | 'state'
  | 'flow'
  | 'channel'
  | 'started_at'
  | 'completed_at'
  | 'version'
  | 'created_at'
  | 'updated_at'
>

/** The columns from which the values of a candidacy are decrypted. */
interface SealedCandidacy {
  conversation: string
  sealed_key: Buffer | null
  personal: Buffer | null
  answers: Buffer | null
}

type OpenedValues = 'state' | 'flow' | 'person_key' | 'name' | 'phone' | 'email' | 'metadata' | 'consent'
type ResultRow = Omit<ResultCandidacy, OpenedValues | 'job_id'> & SealedCandidacy
type CandidacyRow = Omit<Candidacy, OpenedValues | 'is_restricted'> & SealedCandidacy & { restricted_at: Date | null }

const resultColumns = sql`p.candidate_id, p.campaign_id, p.org_id, p.mode, p.mandate_id, p.result_id, c.external_candidate_id,
  c.personal, o.sealed_key, p.status, p.reason, p.flow_version, p.conversation, p.personal as answers, p.channel, p.started_at,
  p.completed_at, p.version, p.created_at, p.updated_at`
const columns = sql`${resultColumns}, g.job_id, g.workflow_id, c.person_id, o.restricted_at, c.token, p.stages, p.contact_step, g.hold, g.test_clock_id,
  c.test_script`
const joinedTables = sql`candidate_progress p join candidates c using (candidate_id) join campaigns g on g.campaign_id = p.campaign_id
  join people o on o.person_id = c.person_id`

/** Locks the candidates that no other transaction has locked, ordered by ID. */
export async function lockAvailableCandidacies(tx: Tx, candidateIds: string[]): Promise<Candidacy[]> {
  if (candidateIds.length === 0) return []
  const { rows } =
    await sql<CandidacyRow>`select ${columns} from ${joinedTables} where p.candidate_id = any (${candidateIds})
    order by p.candidate_id for update of p skip locked`.execute(tx)
  return toCandidacies(tx, rows)
}

export async function lockCandidacies(tx: Tx, candidateIds: string[]): Promise<Candidacy[]> {
  if (candidateIds.length === 0) return []
  const { rows } =
    await sql<CandidacyRow>`select ${columns} from ${joinedTables} where p.candidate_id = any (${candidateIds})
    order by p.candidate_id for update of p`.execute(tx)
  return toCandidacies(tx, rows)
}

export async function lockCandidacy(tx: Tx, candidateId: string): Promise<Candidacy | undefined> {
  return (await lockCandidacies(tx, [candidateId]))[0]
}

export async function findCandidacy(tx: Queries, candidateId: string): Promise<Candidacy | undefined> {
  const { rows } =
    await sql<CandidacyRow>`select ${columns} from ${joinedTables} where p.candidate_id = ${candidateId}`.execute(tx)
  return (await toCandidacies(tx, rows))[0]
}

export async function findCandidacies(tx: Queries, candidateIds: string[]): Promise<Candidacy[]> {
  const { rows } =
    await sql<CandidacyRow>`select ${columns} from ${joinedTables} where p.candidate_id = any (${candidateIds})`.execute(
      tx,
    )
  return toCandidacies(tx, rows)
}

/** A candidacy with its position in the list of results. */
export interface ListedCandidacy extends ResultCandidacy {
  listed_at: Date
  /** Whether the candidacy has changed since it got its position. */
  moved: boolean
}

/**
 * Returns the candidacies that match `where`, a condition on `candidate_progress p`. `order` is an `order by` clause, with or without
 * a limit. The page is selected before the joins: after a large enrolment the statistics of the tables are outdated, and PostgreSQL
 * would otherwise join and sort all candidates for each page.
 */
export async function selectCandidacies(
  tx: Queries,
  where: ReturnType<typeof sql>,
  order: ReturnType<typeof sql>,
): Promise<ListedCandidacy[]> {
  const { rows } = await sql<ResultRow & Pick<ListedCandidacy, 'listed_at' | 'moved'>>`
    with page as materialized (select * from candidate_progress p where ${where} ${order})
    select ${resultColumns}, p.listed_at, p.moved from page p join candidates c using (candidate_id)
      join people o on o.person_id = c.person_id ${order}`.execute(tx)
  const jobIds = await jobIdsOf(tx, new Set(rows.map(({ campaign_id }) => campaign_id)))
  // All columns are listed, because copying an object of this size with a spread takes longer than decrypting the values.
  const personKeys = openPersonKeys(vaultOf(tx), rows) // only read: results are not sealed with them
  return openCandidacies(tx, rows, personKeys, (row, { person_key, flow, state, name, phone, email, metadata }) => ({
    candidate_id: row.candidate_id,
    campaign_id: row.campaign_id,
    org_id: row.org_id,
    mode: row.mode,
    mandate_id: row.mandate_id,
    job_id: jobIds.get(row.campaign_id)!,
    result_id: row.result_id,
    external_candidate_id: row.external_candidate_id,
    person_key,
    name,
    phone,
    email,
    metadata,
    status: row.status,
    reason: row.reason,
    flow_version: row.flow_version,
    state,
    flow,
    channel: row.channel,
    started_at: row.started_at,
    completed_at: row.completed_at,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    listed_at: row.listed_at,
    moved: row.moved,
  }))
}

function toCandidacies(tx: Queries, rows: CandidacyRow[]): Promise<Candidacy[]> {
  const vault = vaultOf(tx)
  const personKeys = rows.map(({ person_id, sealed_key }) => openPersonKey(vault, person_id, sealed_key))
  return openCandidacies(
    tx,
    rows,
    personKeys,
    (row, { person_key, flow, state, name, phone, email, metadata, consent }) => ({
      candidate_id: row.candidate_id,
      campaign_id: row.campaign_id,
      org_id: row.org_id,
      mode: row.mode,
      mandate_id: row.mandate_id,
      workflow_id: row.workflow_id,
      job_id: row.job_id,
      result_id: row.result_id,
      external_candidate_id: row.external_candidate_id,
      person_id: row.person_id,
      person_key,
      is_restricted: row.restricted_at !== null,
      name,
      phone,
      email,
      metadata,
      consent,
      token: row.token,
      status: row.status,
      reason: row.reason,
      flow_version: row.flow_version,
      state,
      flow,
      stages: row.stages,
      contact_step: row.contact_step,
      channel: row.channel,
      started_at: row.started_at,
      completed_at: row.completed_at,
      version: row.version,
      created_at: row.created_at,
      updated_at: row.updated_at,
      hold: row.hold,
      test_clock_id: row.test_clock_id,
      test_script: row.test_script,
    }),
  )
}

/** Decrypts the values of candidacies, and builds an object of each row. */
async function openCandidacies<Row extends ResultRow, Opened>(
  tx: Queries,
  rows: Row[],
  personKeys: PersonKey[],
  build: (row: Row, values: Pick<Candidacy, OpenedValues>) => Opened,
): Promise<Opened[]> {
  const flows = new Map<string, Flow>()
  for (const { org_id, mode, mandate_id, flow_version } of rows) {
    const key = flowKey(mandate_id, flow_version)
    if (!flows.has(key)) flows.set(key, await flowOf(tx, { orgId: org_id, mode }, mandate_id, flow_version))
  }
  return rows.map((row, index) => {
    const { candidate_id, mandate_id, flow_version } = row
    const flow = flows.get(flowKey(mandate_id, flow_version))!
    const person_key = personKeys[index] ?? null
    const { name, phone, email, metadata, consent } = openCandidate(person_key, candidate_id, row.personal)
    const storedState = fromStoredState(JSON.parse(row.conversation) as StoredState, flow)
    const state = joinConversation(person_key, candidate_id, storedState, row.answers)
    return build(row, { person_key, flow, state, name, phone, email, metadata, consent })
  })
}

// Each version of a flow is immutable, except that items are retired.
const MAX_CACHED_FLOWS = 200
const FLOW_VALID_MS = 60_000
const flowCache = new BoundedMap<string, { flow: Flow; expiresAt: number }>(MAX_CACHED_FLOWS)

function flowKey(mandateId: string, version: number): string {
  return `${mandateId} ${version}`
}

export async function flowOf(tx: Queries, scope: OrgScope, mandateId: string, version: number): Promise<Flow> {
  const key = flowKey(mandateId, version)
  const cached = flowCache.get(key)
  if (cached && cached.expiresAt > performance.now()) return cached.flow
  const flow = await getFlow(tx, scope, mandateId, version)
  flowCache.set(key, { flow, expiresAt: performance.now() + FLOW_VALID_MS })
  return flow
}

const MAX_CACHED_JOB_IDS = 1000
const jobIdCache = new BoundedMap<string, string | null>(MAX_CACHED_JOB_IDS)

/** Returns the job IDs of campaigns. They never change, and reading them from the cache is faster than joining the table on each page. */
async function jobIdsOf(tx: Queries, campaignIds: Set<string>): Promise<Map<string, string | null>> {
  const jobIds = new Map<string, string | null>()
  for (const id of campaignIds) {
    const jobId = jobIdCache.get(id)
    if (jobId !== undefined) jobIds.set(id, jobId)
  }
  const missingIds = [...campaignIds].filter((id) => !jobIds.has(id))
  if (missingIds.length === 0) return jobIds
  const { rows } = await sql<{ campaign_id: string; job_id: string | null }>`
    select campaign_id, job_id from campaigns where campaign_id = any (${missingIds})`.execute(tx)
  for (const { campaign_id, job_id } of rows) {
    jobIdCache.set(campaign_id, job_id)
    jobIds.set(campaign_id, job_id)
  }
  return jobIds
}

export interface ListedCandidate {
  candidate_id: string
  external_candidate_id: string
  name: string
  status: ResultStatus
  result_id: string
}

/** Lists the candidates of a campaign, newest first. */
export async function listCandidates(
  tx: Queries,
  campaignId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ListedCandidate[]> {
  const { rows } = await sql<
    Omit<ListedCandidate, 'name'> & { person_id: string; sealed_key: Buffer | null; personal: Buffer | null }
  >`
    select candidate_id, c.external_candidate_id, c.person_id, o.sealed_key, c.personal, p.status, p.result_id
    from candidates c join candidate_progress p using (candidate_id) join people o on o.person_id = c.person_id
    where c.campaign_id = ${campaignId} and (${before ?? null}::text is null or candidate_id < ${before ?? null})
    order by candidate_id desc limit ${limit}`.execute(tx)
  const vault = vaultOf(tx)
  return rows.map(({ person_id, sealed_key, personal, candidate_id, external_candidate_id, status, result_id }) => {
    const { name } = openCandidate(openPersonKey(vault, person_id, sealed_key), candidate_id, personal)
    return { candidate_id, external_candidate_id, name, status, result_id }
  })
}
