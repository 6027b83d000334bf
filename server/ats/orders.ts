import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { type AtsKey, sharedLimitsId } from '../access/keyring.ts'
import type { Mode } from '../access/keys.ts'
import { combineLimits, type KeyLimits } from '../access/limits/table.ts'
import { Problem, problem } from '../api/problem.ts'
import { createCampaign } from '../campaigns/campaigns.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { type CandidateInput, enrolInCampaign, MAX_CANDIDATES_PER_CAMPAIGN } from '../campaigns/enrolment.ts'
import { isEmailAddress } from '../campaigns/schema.ts'
import { withdrawCandidate } from '../campaigns/withdrawal.ts'
import type { ChannelName } from '../channels/channel.ts'
import { findCountryRefusal } from '../channels/country-refusal.ts'
import { availableChannels, listAccounts } from '../channels/credentials.ts'
import type { Context } from '../context.ts'
import { findMandateIds, type Mandate, shareLockMandate } from '../mandates/mandate-rows.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import type { Vault } from '../platform/vault.ts'
import { getWorkflow } from '../workflows/workflows.ts'
import { adapters } from './adapters.ts'
import { type AtsConnection, lockActiveConnection, recordConnectionError } from './connections.ts'
import { isOffered } from './offered-mandates.ts'
import type { AtsOrder } from './order.ts'
import type { OrderState } from './order-state.ts'
import { rejectedOutcome } from './outcome.ts'
import { type OrderValues, openOrders, type StoredOrder, sealOrder, sealRejectedOrder } from './personal-values.ts'
import { normalisePhone } from './phone.ts'
import { queueReport } from './reports/reports.ts'

const OPEN_STATES: readonly OrderState[] = ['ordered', 'started']

/** An order in the terms of all systems. */
export interface NewOrder {
  /** The ATS's own ID of the order. An identity that is sent again does not create a second order. */
  identity: string
  testId: string
  candidate: {
    /** The ATS's ID of the person; undefined if it sends none. */
    id?: string | undefined
    name: string
    email?: string | undefined
    /** As entered by a person. */
    phone?: string | undefined
    language?: string | undefined
    profileUrl?: string | undefined
  }
  callbackUrl: string | null
}

/** Metadata of a candidate that refers to the order. It is part of the result. */
export const ORDER_METADATA_KEY = 'ats_order_id'

type OrderDeps = Pick<Context, 'clock' | 'vault' | 'config' | 'keyring'>

/**
 * Places an order: enrols the candidate in the standing campaign of the mandate. Returns the existing order if the identity was ordered
 * before, so that a repeated call neither enrols nor charges again. Throws a problem whose message a recruiter understands.
 */
export async function placeOrder(tx: Tx, deps: OrderDeps, key: AtsKey, input: NewOrder): Promise<AtsOrder> {
  const scope = { orgId: key.orgId, mode: key.mode }
  const connection = await lockActiveConnection(tx, scope, key.connectionId)
  await lockName(tx, `ATS order ${connection.connection_id} ${input.identity}`)
  const existingOrder = await findOrderByIdentity(tx, connection.connection_id, input.identity)
  if (existingOrder) {
    if (!adapters[connection.adapter].allowsReorder || OPEN_STATES.includes(existingOrder.state)) return existingOrder
    await sql`update ats_orders set superseded = true where order_id = ${existingOrder.order_id}`.execute(tx)
  }
  const mandate = await getOrderableMandate(tx, scope, connection, input.testId)
  const orderId = newId('AO_', deps.clock.now())
  const candidate = await toCandidate(tx, deps, connection, mandate, orderId, input)
  const { campaignId, candidateId } = await enrolOnce(tx, deps, key, mandate, candidate)
  const now = new Date(deps.clock.now())
  const { rows } = await sql<StoredOrder>`
    insert into ats_orders (order_id, connection_id, org_id, mode, adapter, key_id, identity, mandate_id, campaign_id, candidate_id,
      personal, callback_url, consent_basis, created_at, updated_at)
    values (${orderId}, ${connection.connection_id}, ${scope.orgId}, ${scope.mode}, ${connection.adapter}, ${key.keyId}, ${input.identity},
      ${mandate.mandate_id}, ${campaignId}, ${candidateId},
      ${await sealOrder(tx, candidateId, orderId, orderValuesOf(input.candidate))},
      ${input.callbackUrl}, ${connection.consent_basis}, ${now}, ${now})
    returning ${columns}`.execute(tx)
  const order = (await openOrders(tx, rows))[0]!
  if (order.is_paused && adapters[order.adapter].reports.has('paused'))
    await queueReport(tx, deps.clock, { ...order, kind: 'paused', version: 1 })
  return order
}

/**
 * Places an order of an ATS that does not show the response to the recruiter. An order that is rejected is stored, and the rejection is
 * reported as its result.
 */
export async function placeOrReject(
  context: OrderDeps & Pick<Context, 'db'>,
  key: AtsKey,
  input: NewOrder,
): Promise<AtsOrder> {
  try {
    return await context.db.transaction((tx) => placeOrder(tx, context, key, input))
  } catch (error) {
    if (!(error instanceof Problem) || (error.code !== 'CONFLICT' && error.code !== 'VALIDATION_FAILED')) throw error
    return context.db.transaction((tx) => recordRejectedOrder(tx, context, key, input, error.message))
  }
}

async function recordRejectedOrder(
  tx: Tx,
  { clock }: OrderDeps,
  { orgId, mode, connectionId, keyId }: AtsKey,
  { identity, testId, candidate, callbackUrl }: NewOrder,
  summary: string,
): Promise<AtsOrder> {
  const scope = { orgId, mode }
  const connection = await lockActiveConnection(tx, scope, connectionId)
  await lockName(tx, `ATS order ${connectionId} ${identity}`)
  const existingOrder = await findOrderByIdentity(tx, connectionId, identity)
  if (existingOrder) return existingOrder
  const orderId = newId('AO_', clock.now())
  const now = new Date(clock.now())
  const { personId, personal } = await sealRejectedOrder(
    tx,
    scope,
    clock.now(),
    orderId,
    validAddresses(connection, candidate),
    orderValuesOf(candidate),
  )
  const isOwnMandate = (await findMandateIds(tx, scope, [testId])).has(testId)
  await sql`
    insert into ats_orders (order_id, connection_id, org_id, mode, adapter, key_id, identity, mandate_id, person_id, personal, callback_url,
      consent_basis, state, outcome, created_at, updated_at)
    values (${orderId}, ${connectionId}, ${orgId}, ${mode}, ${connection.adapter}, ${keyId}, ${identity},
      ${isOwnMandate ? testId : null}, ${personId}, ${personal}, ${callbackUrl}, ${connection.consent_basis}, 'rejected',
      ${JSON.stringify(rejectedOutcome(summary, now))}::jsonb, ${now}, ${now})`.execute(tx)
  await queueReport(tx, clock, {
    order_id: orderId,
    org_id: orgId,
    mode,
    connection_id: connectionId,
    kind: 'result',
    version: 1,
  })
  return getOrder(tx, scope, orderId)
}

async function getOrderableMandate(
  tx: Tx,
  scope: OrgScope,
  connection: AtsConnection,
  testId: string,
): Promise<Mandate> {
  const mandate = isOffered(connection, testId) ? await shareLockMandate(tx, scope, testId) : undefined
  if (!mandate)
    throw rejection(`The test ${testId} does not exist. Load the list of tests again, and choose one of them.`)
  if (mandate.status === 'archived')
    throw rejection(`The test "${mandate.body.title}" is archived in Attestry. Choose another test.`)
  if (mandate.status !== 'ready')
    throw rejection(
      `The test "${mandate.body.title}" is not ready in Attestry: its questions are ${mandate.status === 'failed' ? 'missing, because preparing them failed' : 'being prepared'}. Try again later, or choose another test.`,
    )
  return mandate
}

async function toCandidate(
  tx: Tx,
  { config, vault }: OrderDeps,
  connection: AtsConnection,
  mandate: Mandate,
  orderId: string,
  { candidate }: NewOrder,
): Promise<CandidateInput> {
  const { orgId, mode } = { orgId: connection.org_id, mode: connection.mode }
  const { phone, email } = validAddresses(connection, candidate)
  if (phone === undefined && email === undefined)
    throw rejection(
      'The candidate cannot be reached: the profile has neither a valid email address nor a valid phone number. Add one of them, and send the test again.',
    )
  const workflow = await getWorkflow(tx, { orgId, mode }, mandate.workflow_id)
  if (mode === 'live') {
    const channels = await availableChannels(tx, orgId, config.smtpUrl !== undefined)
    const phoneChannels = workflow.channels.filter((channel) => channel !== 'email' && channels.has(channel))
    const refusals = phone === undefined ? [] : await countryRefusals(tx, vault, orgId, phoneChannels, phone)
    const isReachableByPhone = phone !== undefined && refusals.length < phoneChannels.length
    const isReachableByEmail =
      email !== undefined && channels.has('email') && (phone === undefined || workflow.channels.includes('email'))
    if (!isReachableByPhone && !isReachableByEmail)
      throw rejection(
        phone === undefined
          ? 'The candidate cannot be reached: without a phone number, Attestry needs email, which is not set up. Add the phone number to the profile, or ask the operator to set up email.'
          : refusals.length > 0
            ? `The candidate cannot be reached: ${refusals.join(' ')}`
            : 'The candidate cannot be reached: no channel of this test is set up. Ask the operator to set up a channel.',
      )
  }
  const language = LANGUAGES.find((code) => code === candidate.language)
  const blindIndex = blindIndexOf(tx)
  // Orders for two addresses of one mailbox are different candidates.
  const addressHash =
    email === undefined
      ? blindIndex.phone({ orgId, mode }, phone!)
      : blindIndex.spelling({ orgId, mode }, email.toLowerCase())
  return {
    external_candidate_id: externalIdOf(connection, candidate.id, addressHash),
    name: candidate.name,
    ...(phone === undefined ? {} : { phone }),
    ...(email === undefined ? {} : { email }),
    ...(language && workflow.languages.includes(language) ? { language: language as Language } : {}),
    metadata: {
      ats: connection.adapter,
      [ORDER_METADATA_KEY]: orderId,
      consent_basis: connection.consent_basis,
    },
  }
}

/** Returns the valid addresses of a candidate. */
function validAddresses(
  { country }: AtsConnection,
  { phone, email }: NewOrder['candidate'],
): { phone: string | undefined; email: string | undefined } {
  return {
    phone: phone ? normalisePhone(phone, country) : undefined,
    email: email && isEmailAddress(email) ? email : undefined,
  }
}

function orderValuesOf({ name, profileUrl }: NewOrder['candidate']): OrderValues {
  return { candidate_name: name, profile_url: profileUrl ?? null }
}

/** Returns, for each of the channels that cannot send messages to the country of a phone number, the reason and the remedy. */
async function countryRefusals(
  tx: Tx,
  vault: Vault,
  orgId: string,
  channels: ChannelName[],
  phone: string,
): Promise<string[]> {
  const accounts = await listAccounts(tx, vault, orgId)
  return accounts.flatMap(({ channel, credentials }) => {
    const refusal = channels.includes(channel) ? findCountryRefusal(channel, credentials, phone) : undefined
    return refusal ? [`${refusal.problem} ${refusal.remedy}`] : []
  })
}

/** Returns the ATS's ID of the person or, without one, the keyed hash of the address: the ID appears in lists and events. */
function externalIdOf({ adapter }: AtsConnection, id: string | undefined, addressHash: Buffer): string {
  const isUsable = id !== undefined && /^[A-Za-z0-9._:-]{1,100}$/.test(id)
  if (isUsable) return `${adapter}:${id}`
  const hash = id === undefined ? addressHash : createHash('sha256').update(id).digest()
  return `${adapter}:${hash.toString('hex').slice(0, 32)}`
}

/**
 * Enrols the candidate in the first standing campaign of the mandate that does not contain the person. A person whose earlier
 * assessment has ended is thus assessed again; one whose assessment is open is rejected as a duplicate.
 */
async function enrolOnce(
  tx: Tx,
  deps: OrderDeps,
  key: AtsKey,
  mandate: Mandate,
  candidate: CandidateInput,
): Promise<{ campaignId: string; candidateId: string }> {
  const scope = { orgId: key.orgId, mode: key.mode }
  await lockName(tx, `ATS campaigns ${mandate.mandate_id}`)
  for (const campaignId of await listStandingCampaigns(tx, mandate.mandate_id, key.limits.scale)) {
    const candidateId = await enrolIn(campaignId)
    if (candidateId !== undefined) return { campaignId, candidateId }
    if (await hasOpenCandidacy(tx, scope, campaignId, candidate))
      throw problem('CONFLICT', 'This candidate is already being assessed for this test. Wait for the result.')
  }
  const campaignId = await createStandingCampaign(tx, deps, scope, mandate)
  return { campaignId, candidateId: (await enrolIn(campaignId))! }

  async function enrolIn(campaignId: string): Promise<string | undefined> {
    const caller = { ...scope, keyId: key.keyId, key: { limits: withSharedLimits(deps, key) }, via: 'api' as const }
    try {
      const { enrolment } = await enrolInCampaign(tx, caller, deps, campaignId, [candidate], { allowEmailOnly: true })
      if (enrolment.accepted === 0) return undefined
    } catch (error) {
      throw recruiterProblem(error)
    }
    return requirePendingCandidate(tx, campaignId, candidate.external_candidate_id)
  }
}

/** Adds the daily limit of people that all keys of the organisation and mode share, partner keys included. */
function withSharedLimits({ keyring }: OrderDeps, key: AtsKey): KeyLimits {
  const limits = combineLimits([key.limits], keyring.limitFactor(key.orgId))
  return { ...key.limits, shared: { id: sharedLimitsId(key), limits } }
}

/** Returns the ID of the enrolled candidate. Rejects the order if the person has opted out: it is rolled back and costs nothing. */
async function requirePendingCandidate(tx: Tx, campaignId: string, externalId: string): Promise<string> {
  const { rows } = await sql<{ candidate_id: string; status: string }>`
    select candidate_id, p.status from candidates c join candidate_progress p using (candidate_id)
    where c.campaign_id = ${campaignId} and c.external_candidate_id = ${externalId}`.execute(tx)
  const { candidate_id, status } = rows[0]!
  if (status === 'pending') return candidate_id
  throw rejection(
    'The candidate cannot be reached: they opted out of messages from your organisation. Contact them in another way.',
  )
}

async function hasOpenCandidacy(
  tx: Tx,
  scope: OrgScope,
  campaignId: string,
  { external_candidate_id, phone }: CandidateInput,
): Promise<boolean> {
  const phoneIndex = phone === undefined ? null : blindIndexOf(tx).phone(scope, phone)
  const { rows } = await sql`
    select from candidates c join candidate_progress p using (candidate_id)
    where c.campaign_id = ${campaignId} and (c.external_candidate_id = ${external_candidate_id} or c.phone_index = ${phoneIndex})
      and p.status = 'pending' limit 1`.execute(tx)
  return rows.length > 0
}

async function listStandingCampaigns(tx: Tx, mandateId: string, scale: Mode): Promise<string[]> {
  const { rows } = await sql<{ campaign_id: string }>`
    select campaign_id from ats_campaigns join campaigns using (campaign_id)
    where ats_campaigns.mandate_id = ${mandateId} and hold is distinct from 'archived'
      and candidates < ${MAX_CANDIDATES_PER_CAMPAIGN[scale]}
    order by number`.execute(tx)
  return rows.map(({ campaign_id }) => campaign_id)
}

async function createStandingCampaign(
  tx: Tx,
  { clock }: OrderDeps,
  scope: OrgScope,
  { mandate_id }: Mandate,
): Promise<string> {
  const { campaign_id } = await createCampaign(tx, scope, clock, { mandate_id, name: 'Orders of your ATS' }, 'api')
  await sql`
    insert into ats_campaigns (mandate_id, number, org_id, mode, campaign_id)
    select ${mandate_id}, coalesce(max(number), 0) + 1, ${scope.orgId}, ${scope.mode}, ${campaign_id}
    from ats_campaigns where mandate_id = ${mandate_id}`.execute(tx)
  return campaign_id
}

/** Converts a problem to a message for recruiters, without terms such as keys, campaigns and fields of requests. */
function recruiterProblem(error: unknown): unknown {
  if (!(error instanceof Problem)) return error
  if (error.code === 'INSUFFICIENT_CREDITS')
    return rejection('No credits are left in Attestry. Ask your administrator to add credits, and send the test again.')
  if (error.code === 'LIMIT_EXCEEDED')
    return rejection('The daily limit of candidates is reached in Attestry. Send the test again tomorrow.')
  if (error.details?.some(({ path }) => path.endsWith('.consent')))
    return rejection(
      'Your organisation has not declared in Attestry why it may contact candidates. Ask your administrator to set the contact basis in the privacy settings, and send the test again.',
    )
  return error.code === 'CONFLICT' ? rejection(error.message) : error
}

/** A problem with the order itself, which every ATS shows with the status 422. */
function rejection(message: string): Problem {
  return problem('CONFLICT', message, { status: 422 })
}

/** Cancels an open order: the candidate is not contacted any more. An order that has ended is left as it is. */
export async function cancelOrder(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  key: AtsKey,
  orderId: string,
): Promise<AtsOrder> {
  const { candidate_id } = await getOrderOfConnection(tx, key, orderId)
  // Lock order: the candidate before the order, as when a reply changes both. The state is read afterwards, because a reply may have
  // ended the order in between.
  await lockCandidacy(tx, candidate_id!)
  const order = await getOrderOfConnection(tx, key, orderId)
  if (!OPEN_STATES.includes(order.state)) return order
  // Set before the candidate ends, so that the outcome is a cancellation.
  await sql`update ats_orders set state = 'cancelled', updated_at = ${new Date(clock.now())} where order_id = ${orderId}`.execute(
    tx,
  )
  await withdrawCandidate(tx, clock, order.candidate_id!)
  return getOrderOfConnection(tx, key, orderId)
}

/** Returns an order of the key's connection; a key never sees the orders of another one. */
export async function getOrderOfConnection(
  queries: Queries,
  { connectionId }: Pick<AtsKey, 'connectionId'>,
  orderId: string,
): Promise<AtsOrder> {
  const { rows } = await sql<StoredOrder>`
    select ${columns} from ats_orders where order_id = ${orderId} and connection_id = ${connectionId}`.execute(queries)
  if (!rows[0]) throw problem('NOT_FOUND', `Assessment ${orderId.slice(0, 60)} not found.`)
  return (await openOrders(queries, rows))[0]!
}

async function findOrderByIdentity(tx: Tx, connectionId: string, identity: string): Promise<AtsOrder | undefined> {
  const { rows } = await sql<StoredOrder>`
    select ${columns} from ats_orders where connection_id = ${connectionId} and identity = ${identity} and not superseded`.execute(
    tx,
  )
  return (await openOrders(tx, rows))[0]
}

export interface OrderFilter {
  connection_id?: string | undefined
  /** The last order of the previous page. */
  before?: string | undefined
  limit: number
}

/** Lists orders, newest first. */
export async function listOrders(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { connection_id, before, limit }: OrderFilter,
): Promise<AtsOrder[]> {
  const { rows } = await sql<StoredOrder>`
    select ${columns} from ats_orders where org_id = ${orgId} and mode = ${mode}
      and (${connection_id ?? null}::text is null or connection_id = ${connection_id ?? null})
      and (${before ?? null}::text is null or order_id < ${before ?? null})
    order by order_id desc limit ${limit}`.execute(queries)
  return openOrders(queries, rows)
}

export async function getOrder(queries: Queries, { orgId, mode }: OrgScope, orderId: string): Promise<AtsOrder> {
  const { rows } = await sql<StoredOrder>`
    select ${columns} from ats_orders where order_id = ${orderId} and org_id = ${orgId} and mode = ${mode}`.execute(
    queries,
  )
  if (!rows[0]) throw problem('NOT_FOUND', `Order ${orderId.slice(0, 60)} not found.`)
  return (await openOrders(queries, rows))[0]!
}

/** Returns an order for background work, which has no scope. */
export async function findOrderById(queries: Queries, orderId: string): Promise<AtsOrder | undefined> {
  const { rows } = await sql<StoredOrder>`select ${columns} from ats_orders where order_id = ${orderId}`.execute(
    queries,
  )
  return (await openOrders(queries, rows))[0]
}

/**
 * Stores errors that the ATS reported, for the console: with the order that they are about or, if they name none of the connection's,
 * with the connection. They may repeat values of the candidate.
 */
export async function recordAtsErrors(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  { connectionId }: Pick<AtsKey, 'connectionId'>,
  orderId: string | undefined,
  errors: string[],
): Promise<void> {
  const { numAffectedRows } = await sql`
    update ats_orders set ats_errors = ${JSON.stringify(errors.map(redactAddresses))}::jsonb, updated_at = ${new Date(clock.now())}
    where order_id = ${orderId ?? null} and connection_id = ${connectionId}`.execute(tx)
  if (numAffectedRows === 0n) await recordConnectionError(tx, clock, connectionId, errors.join('; '))
}

/** Serialises concurrent calls about the same subject until the transaction ends. */
async function lockName(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
}

const columns = sql`order_id, connection_id, org_id, mode, adapter, key_id, identity, mandate_id, campaign_id, candidate_id,
  personal, coalesce(person_id, (select person_id from candidates c where c.candidate_id = ats_orders.candidate_id)) as person_id, callback_url, consent_basis, state,
  state in ('ordered', 'started') and exists (
    select from campaigns c where c.campaign_id = ats_orders.campaign_id and c.hold = 'paused') as is_paused, outcome, reported_version, ats_errors, created_at, updated_at`
