import { sql } from 'kysely'
import type { Caller, OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { type Detail, problem } from '../api/problem.ts'
import { checkChannel } from '../channels/check.ts'
import { findCountryRefusal } from '../channels/country-refusal.ts'
import { availableChannels, type ChannelAccount, listAccounts } from '../channels/credentials.ts'
import { rulesFor } from '../channels/rules.ts'
import type { TestScript } from '../channels/simulator/test-script.ts'
import type { Context } from '../context.ts'
import { startConversation } from '../conversation/conversation.ts'
import { fromStoredState } from '../conversation/earlier-format.ts'
import { shareLockMandate } from '../mandates/mandate-rows.ts'
import { type ContactBasis, type ContactConsent, declaredConsent } from '../notices/contact-basis.ts'
import { getPrivacySettings } from '../notices/settings.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { identifyPeople } from '../people/identity/people.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import { notifyAfterCommit, type Queries, RepeatTransactionError, type Tx } from '../platform/database/database.ts'
import { newId, randomToken } from '../platform/ids.ts'
import { indianDate } from '../platform/india-time.ts'
import { mapInTurns } from '../platform/map-in-turns.ts'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { hashToken } from '../platform/token-hash.ts'
import { requireActiveClock, TEST_CLOCK_DUE, withLockedClock } from '../test-clocks/test-clocks.ts'
import { getWorkflow, type Workflow } from '../workflows/workflows.ts'
import { type Campaign, getCampaign, lockEditableCampaign } from './campaigns.ts'
import { type Candidacy, flowOf, lockCandidacies } from './candidacy.ts'
import { declineOptedOut } from './contact/contact.ts'
import { hasContactHours, nextContactTime } from './contact/contact-hours.ts'
import { CONTACT_DUE } from './contact/messages.ts'
import { findOptedOut } from './contact/opt-outs.ts'
import { balanceOf, spendCredits } from './credits.ts'
import { countDailyPeople } from './daily-people-limit.ts'
import { shareLockDndCheck } from './dnd/dnd-check.ts'
import { type CandidateValues, sealCandidate } from './personal-values.ts'
import { publishChanges, recordTransitions } from './progress.ts'
import { testScriptErrors } from './test-scripts.ts'

export interface CandidateInput {
  external_candidate_id: string
  name: string
  phone?: string
  email?: string
  language?: Language
  metadata?: Record<string, string>
  consent?: { basis: ContactBasis; obtained_at: string; source: string; text_version?: string }
  /** In TEST mode, how the candidate behaves. */
  test_script?: TestScript
}

/** Fields by which duplicates are recognised, in the order in which they are compared. */
export const duplicateReasons = ['external_candidate_id', 'phone'] as const

/** A row of the request that was skipped, with the candidate that was kept instead. */
interface DuplicateRow {
  index: number
  external_candidate_id: string
  /** The field that has the same value. */
  reason: (typeof duplicateReasons)[number]
  /** Index of the row that was enrolled; absent if `kept_candidate_id` is set. */
  kept_index?: number
  /** ID of the candidate who was in the campaign before; absent if `kept_index` is set. */
  kept_candidate_id?: string
}

export interface Enrolment {
  accepted: number
  duplicates: number
  duplicate_rows: DuplicateRow[]
  credits_spent: number
  credits_left: number
}

export const MAX_CANDIDATES_PER_REQUEST = { live: 1_000, test: 100 }
export const MAX_CANDIDATES_PER_CAMPAIGN = { live: 20_000, test: 2_000 }

type EnrolmentDeps = Pick<Context, 'clock' | 'vault' | 'config'>
type EnrollingCaller = Pick<Caller, 'orgId' | 'mode' | 'keyId' | 'via'> & { key: Pick<Caller['key'], 'limits'> }

interface EnrolmentOptions {
  /** Whether an email address is enough for every workflow. Candidates without a phone number are then contacted by email. */
  allowEmailOnly?: boolean
}

/** Enrols candidates in an existing campaign, with the latest prepared questions. */
export async function enrolInCampaign(
  tx: Tx,
  caller: EnrollingCaller,
  deps: EnrolmentDeps,
  campaignId: string,
  candidates: CandidateInput[],
  options: EnrolmentOptions = {},
): Promise<{ campaign: Campaign; enrolment: Enrolment }> {
  const campaign = await lockEditableCampaign(tx, caller, campaignId)
  if (campaign.hold === 'archived')
    throw problem(
      'CONFLICT',
      'This campaign is archived; candidates can no longer be enrolled. Create another campaign.',
    )
  await requireActiveClock(tx, campaign.test_clock_id)
  const mandate = await shareLockMandate(tx, caller, campaign.mandate_id)
  if (mandate!.status === 'archived')
    throw problem(
      'CONFLICT',
      'The mandate of this campaign is archived; candidates can no longer be enrolled. Create a mandate, and a campaign of it.',
    )
  const flow_version = mandate!.status === 'ready' ? mandate!.flow_version : campaign.flow_version
  if (!options.allowEmailOnly) await requireChannelCredentials(tx, caller, deps, campaign, candidates)
  return enrolCandidates(tx, caller, deps, { ...campaign, flow_version }, candidates, options)
}

/**
 * Requires at least one channel of a LIVE campaign that has credentials and can send messages to the candidates; TEST uses the simulator.
 */
export async function requireChannelCredentials(
  tx: Tx,
  caller: Pick<Caller, 'orgId' | 'mode'>,
  { config, vault }: Pick<EnrolmentDeps, 'config' | 'vault'>,
  { workflow_id }: Pick<Campaign, 'workflow_id'>,
  candidates: Pick<CandidateInput, 'phone'>[],
): Promise<void> {
  const { orgId, mode } = caller
  if (mode === 'test') return
  const { channels } = await getWorkflow(tx, caller, workflow_id)
  const configuredChannels = await availableChannels(tx, orgId, config.smtpUrl !== undefined)
  if (!channels.some((channel) => configuredChannels.has(channel)))
    throw problem(
      'CONFLICT',
      `The organisation has no credentials for any channel of the workflow (${channels.join(', ')}). Ask the operator to set one up.`,
    )
  const usedChannels = channels.filter((channel) => configuredChannels.has(channel))
  const phones = onePhonePerCountry(candidates)
  const refusals = (await listAccounts(tx, vault, orgId))
    .filter(({ channel }) => usedChannels.includes(channel))
    .flatMap((account) => {
      const findings = checkChannel(account, config.publicUrl).filter(({ severity }) => severity === 'refused')
      return findings.length > 0 ? findings : countryRefusals(account, phones)
    })
  if (usedChannels.every((name) => refusals.some(({ channel }) => channel === name)))
    throw problem(
      'CONFLICT',
      `This campaign can reach nobody. ${refusals.map((each) => `${each.channel}: ${each.problem} ${each.remedy}`).join(' ')}`,
    )
}

function onePhonePerCountry(candidates: Pick<CandidateInput, 'phone'>[]): string[] {
  const phones = candidates.flatMap(({ phone }) => (phone === undefined ? [] : [phone]))
  return [...new Map(phones.map((phone) => [rulesFor(phone).country, phone])).values()]
}

/** Returns why a channel can reach none of the phone numbers; nothing if it can reach one. */
function countryRefusals({ channel, credentials }: ChannelAccount, phones: string[]) {
  const refusals = phones.map((phone) => findCountryRefusal(channel, credentials, phone))
  return refusals.every((refusal) => refusal !== undefined) ? refusals.map((each) => ({ channel, ...each })) : []
}

/** Enrols all candidates or none. The campaign must be locked, or created in the same transaction. */
export async function enrolCandidates(
  tx: Tx,
  caller: EnrollingCaller,
  deps: EnrolmentDeps,
  campaign: Campaign,
  candidates: CandidateInput[],
  options: EnrolmentOptions = {},
): Promise<{ campaign: Campaign; enrolment: Enrolment }> {
  const ownDeps = await withLockedClock(tx, deps, campaign)
  const { clock, vault } = ownDeps
  const workflow = await getWorkflow(tx, caller, campaign.workflow_id)
  const declared = await findDeclaredConsent(tx, caller)
  const errors = [
    ...candidateRuleErrors(candidates, workflow, options),
    ...consentErrors(caller, candidates, declared, deps.clock.now()),
  ]
  if (errors.length > 0) throw invalid(errors)
  const { keptIndexes, repeats } = findRepeats(candidates)
  const earlierRows = await findInCampaign(tx, campaign, candidates, keptIndexes)
  const rows = keptIndexes.filter((index) => !earlierRows.has(index)).map((index) => candidates[index]!)
  const acceptedCount = rows.length
  requireCampaignCapacity(campaign, acceptedCount, caller.key.limits.scale)
  const now = clock.now()
  const flow = await flowOf(tx, caller, campaign.mandate_id, campaign.flow_version)
  const scriptErrors = testScriptErrors(candidates, flow, campaign.test_clock_id !== null)
  if (scriptErrors.length > 0) throw invalid(scriptErrors)
  const fallbackLanguage = flow.languages[0] ?? workflow.languages[0]!
  const startTime = Math.max(now, campaign.starts_at.getTime())
  const firstContactTime = new Date(hasContactHours(campaign) ? nextContactTime(startTime) : startTime)
  const enrolledAt = new Date(now)
  const hasDndCheck = caller.mode === 'live' && (await shareLockDndCheck(tx, caller.orgId))
  // All at once, so that they are in the order of the rows.
  const candidateIds = rows.map(() => newId('CD_', now))
  const resultIds = rows.map(() => newId('RS_', now))
  // Values are encrypted while the database executes the statement before the one that stores them.
  const [people, prepared] = await Promise.all([
    identifyPeople(tx, caller, now, rows),
    mapInTurns(rows, ({ language }, index) => {
      const token = randomToken(32)
      return {
        tokenHash: hashToken(token),
        sealedToken: vault.seal(token, tokenPurpose(candidateIds[index]!)),
        conversation: startConversation(language ?? fallbackLanguage, language !== undefined, randomToken(9)),
      }
    }),
  ])
  const [, personalValues] = await Promise.all([
    insertProgress(),
    mapInTurns(people, ({ key }, index) => sealCandidate(key, candidateIds[index]!, valuesOf(rows[index]!, declared))),
  ])
  const [, addedCandidates] = await Promise.all([insertCandidates(), mapInTurns(rows, newCandidacy)])
  await countDailyPeople(
    tx,
    deps.clock,
    caller,
    people.map(({ phoneIndex, emailIndex }) => (phoneIndex ?? emailIndex)!),
  )
  const updatedCampaign = await addToCampaignCounts(tx, campaign, acceptedCount, enrolledAt)
  const creditsLeft = await spendCredits(tx, caller, clock, campaign.campaign_id, acceptedCount)
  const enrolment = {
    accepted: acceptedCount,
    duplicates: candidates.length - acceptedCount,
    duplicate_rows: listDuplicateRows(candidates, repeats, earlierRows),
    credits_spent: acceptedCount,
    credits_left: creditsLeft,
  }
  await publishEnrolments(tx, ownDeps, addedCandidates)
  const optedOutCandidates = await findOptedOut(tx, addedCandidates)
  notifyAfterCommit(tx, campaign.test_clock_id === null ? CONTACT_DUE : TEST_CLOCK_DUE)
  if (optedOutCandidates.length === 0) return { campaign: updatedCampaign, enrolment }
  await declineAllOptedOut(
    tx,
    ownDeps,
    optedOutCandidates.map(({ candidate_id }) => candidate_id),
  )
  return {
    campaign: await getCampaign(tx, caller, campaign.campaign_id),
    enrolment: { ...enrolment, credits_left: await balanceOf(tx, caller) },
  }

  async function insertProgress() {
    await sql`
      with input as (
        select * from unnest(${candidateIds}::text[], ${resultIds}::text[],
          ${prepared.map(({ conversation }) => JSON.stringify(conversation))}::text[],
          ${people.map(({ isRestricted }) => isRestricted)}::bool[], ${people.map(({ phoneIndex }) => phoneIndex !== null)}::bool[])
          as n (candidate_id, result_id, conversation, restricted, has_phone)
      ), progress as (
        insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version,
          conversation, created_at, updated_at)
        select candidate_id, ${campaign.campaign_id}, ${caller.orgId}, ${caller.mode}, ${campaign.mandate_id}, result_id, 'pending',
          ${campaign.flow_version}, conversation, ${enrolledAt}, ${enrolledAt} from input
      )
      insert into contacts (candidate_id, campaign_id, kind, step, due_at, held, restricted, dnd_check_at)
      select candidate_id, ${campaign.campaign_id}, 'contact', 0, ${firstContactTime},
        ${campaign.hold === 'paused' || campaign.test_clock_id !== null}, restricted,
        case when ${hasDndCheck} and has_phone then ${enrolledAt}::timestamptz end
      from input`.execute(tx)
  }

  async function insertCandidates() {
    await sql`
      insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, person_id, personal, phone_index,
        email_index, language, token_hash, token, enrolled_at, test_script)
      select candidate_id, ${campaign.campaign_id}, ${caller.orgId}, ${caller.mode}, external_candidate_id, person_id, personal,
        phone_index, email_index, language, token_hash, token, ${enrolledAt}, test_script::jsonb
      from unnest(${candidateIds}::text[], ${rows.map((row) => row.external_candidate_id)}::text[],
        ${people.map(({ personId }) => personId)}::text[], ${personalValues}::bytea[],
        ${people.map(({ phoneIndex }) => phoneIndex)}::bytea[], ${people.map(({ emailIndex }) => emailIndex)}::bytea[],
        ${rows.map((row) => row.language ?? null)}::text[], ${prepared.map(({ tokenHash }) => tokenHash)}::bytea[],
        ${prepared.map(({ sealedToken }) => sealedToken)}::bytea[],
        ${rows.map(({ test_script }) => (test_script ? JSON.stringify(test_script) : null))}::text[])
        as n (candidate_id, external_candidate_id, person_id, personal, phone_index, email_index, language, token_hash, token, test_script)`
      .execute(tx)
      .catch(retryAfterCorrection)
  }

  /** Returns the candidacy as it was inserted: to read a thousand of them and decrypt their values takes a third of the enrolment. */
  function newCandidacy(row: CandidateInput, index: number): Candidacy {
    const { personId, key, isRestricted } = people[index]!
    const { sealedToken, conversation } = prepared[index]!
    return {
      candidate_id: candidateIds[index]!,
      campaign_id: campaign.campaign_id,
      org_id: caller.orgId,
      mode: caller.mode,
      mandate_id: campaign.mandate_id,
      workflow_id: campaign.workflow_id,
      job_id: campaign.job_id,
      result_id: resultIds[index]!,
      external_candidate_id: row.external_candidate_id,
      person_id: personId,
      person_key: key,
      is_restricted: isRestricted,
      ...valuesOf(row, declared),
      token: sealedToken,
      status: 'pending',
      reason: null,
      flow_version: campaign.flow_version,
      state: fromStoredState(conversation, flow),
      flow,
      stages: 0,
      contact_step: null,
      channel: null,
      started_at: null,
      completed_at: null,
      version: 1,
      created_at: enrolledAt,
      updated_at: enrolledAt,
      hold: campaign.hold,
      test_clock_id: campaign.test_clock_id,
      test_script: row.test_script ?? null,
    }
  }
}

function valuesOf(
  { name, phone, email, metadata, consent }: CandidateInput,
  declared: ContactConsent | undefined,
): CandidateValues {
  const ownConsent: ContactConsent | undefined = consent && {
    basis: consent.basis,
    obtained_at: new Date(consent.obtained_at).toISOString(),
    source: consent.source,
    text_version: consent.text_version ?? null,
    stated_by: 'enrolment',
  }
  return {
    name,
    phone: phone ?? null,
    email: email ?? null,
    metadata: metadata ?? {},
    consent: ownConsent ?? declared,
  }
}

/** Returns the basis that the organisation declared for its LIVE candidates. TEST candidates need none. */
export async function findDeclaredConsent(
  queries: Queries,
  { orgId, mode }: OrgScope,
): Promise<ContactConsent | undefined> {
  return mode === 'test' ? undefined : declaredConsent(await getPrivacySettings(queries, orgId))
}

/** Requires a basis for contacting each LIVE candidate. The rows may violate the schema, which is reported separately. */
export function consentErrors(
  { mode }: Pick<OrgScope, 'mode'>,
  rows: { consent?: unknown }[],
  declared: ContactConsent | undefined,
  now: number,
): Detail[] {
  return rows.flatMap(({ consent }, index): Detail[] => {
    if (consent === undefined)
      return mode === 'test' || declared ? [] : [{ path: `candidates[${index}].consent`, message: MISSING_CONSENT }]
    const time = Date.parse(String((consent as { obtained_at?: unknown } | null)?.obtained_at))
    if (!(time > now)) return []
    return [{ path: `candidates[${index}].consent.obtained_at`, message: 'must not be in the future' }]
  })
}

const MISSING_CONSENT =
  'is required in LIVE mode: state why the candidate may be contacted, or declare a basis for all candidates in the privacy settings of the organisation'

/** Declines candidates who have opted out of the organisation's messages, and refunds their credits. */
async function declineAllOptedOut(tx: Tx, { clock }: EnrolmentDeps, candidateIds: string[]) {
  await recordTransitions(tx, clock, (await lockCandidacies(tx, candidateIds)).map(declineOptedOut))
}

async function publishEnrolments(tx: Tx, { clock }: EnrolmentDeps, candidates: Candidacy[]) {
  // Count on the day of the enrolment, even if midnight has passed since then.
  const day = indianDate(candidates[0]?.created_at.getTime() ?? clock.now())
  await publishChanges(
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

/** Adds newly enrolled candidates to the counts of the campaign, which is then no longer completed. */
async function addToCampaignCounts(tx: Tx, campaign: Campaign, acceptedCount: number, time: Date): Promise<Campaign> {
  if (acceptedCount === 0) return campaign
  const { rows } = await sql<Campaign>`
    update campaigns set candidates = candidates + ${acceptedCount}, pending = pending + ${acceptedCount}, completed_at = null,
      flow_version = ${campaign.flow_version}, version = version + 1, updated_at = ${time}
    where campaign_id = ${campaign.campaign_id} returning *`.execute(tx)
  return rows[0]!
}

/** Checks every row against the workflow. The rows may violate the schema, which is reported separately. */
export function candidateRuleErrors(
  rows: { phone?: unknown; email?: unknown; language?: unknown }[],
  workflow: Workflow,
  { allowEmailOnly = false }: EnrolmentOptions = {},
): Detail[] {
  const { channels, languages } = workflow
  const isEmailOnly = channels.every((channel) => channel === 'email')
  const requiredField = isEmailOnly ? 'email' : 'phone'
  const details: Detail[] = []
  rows.forEach((row, index) => {
    if (row[requiredField] === undefined && !(allowEmailOnly && row.email !== undefined))
      details.push({ path: `candidates[${index}].${requiredField}`, message: 'is required' })
    const language = LANGUAGES.find((code) => code === row.language)
    if (language && !languages.includes(language))
      details.push({
        path: `candidates[${index}].language`,
        message: `must be one of the workflow's languages: ${languages.join(', ')}`,
      })
  })
  return details
}

interface Repeat {
  index: number
  reason: DuplicateRow['reason']
  keptIndex: number
}

/** Keeps the first candidate with each phone number and each external ID. Rows that are like a skipped row are skipped too. */
function findRepeats(rows: CandidateInput[]): { keptIndexes: number[]; repeats: Repeat[] } {
  const keptByPhone = new Map<string, number>()
  const keptByExternalId = new Map<string, number>()
  const keptIndexes: number[] = []
  const repeats: Repeat[] = []
  rows.forEach(({ phone, external_candidate_id }, index) => {
    const sameExternalId = keptByExternalId.get(external_candidate_id)
    const keptIndex = sameExternalId ?? (phone === undefined ? undefined : keptByPhone.get(phone))
    if (keptIndex === undefined) keptIndexes.push(index)
    else repeats.push({ index, reason: sameExternalId === undefined ? 'phone' : 'external_candidate_id', keptIndex })
    if (sameExternalId === undefined) keptByExternalId.set(external_candidate_id, keptIndex ?? index)
    if (phone !== undefined && !keptByPhone.has(phone)) keptByPhone.set(phone, keptIndex ?? index)
  })
  return { keptIndexes, repeats }
}

/** Lists the skipped rows by index: those that repeat a row of the request, and those of candidates who were in the campaign before. */
function listDuplicateRows(
  candidates: CandidateInput[],
  repeats: Repeat[],
  earlierRows: Map<number, DuplicateRow>,
): DuplicateRow[] {
  const rowsInRequest = repeats.map(({ index, reason, keptIndex }): DuplicateRow => {
    const { external_candidate_id } = candidates[index]!
    // The first of the equal rows may have been skipped too.
    const kept_candidate_id = earlierRows.get(keptIndex)?.kept_candidate_id
    const kept = kept_candidate_id === undefined ? { kept_index: keptIndex } : { kept_candidate_id }
    return { index, external_candidate_id, reason, ...kept }
  })
  return [...earlierRows.values(), ...rowsInRequest].sort((a, b) => a.index - b.index)
}

/** Finds which of the rows have the external ID or the phone number of a candidate who is already in the campaign. */
async function findInCampaign(
  tx: Tx,
  campaign: Campaign,
  candidates: CandidateInput[],
  indexes: number[],
): Promise<Map<number, DuplicateRow>> {
  const duplicates = new Map<number, DuplicateRow>()
  if (campaign.candidates === 0) return duplicates
  const scope = { orgId: campaign.org_id, mode: campaign.mode }
  const rows = indexes.map((index) => candidates[index]!)
  const phoneIndexes = new Map(
    rows.flatMap(({ phone }) => (phone === undefined ? [] : [[phone, blindIndexOf(tx).phone(scope, phone)]])),
  )
  const { rows: existing } = await sql<{
    candidate_id: string
    external_candidate_id: string
    phone_index: Buffer | null
  }>`
    select candidate_id, external_candidate_id, phone_index from candidates
    where campaign_id = ${campaign.campaign_id} and external_candidate_id = any(${rows.map((row) => row.external_candidate_id)}::text[])
    union
    select candidate_id, external_candidate_id, phone_index from candidates
    where campaign_id = ${campaign.campaign_id} and phone_index = any(${[...phoneIndexes.values()]}::bytea[])`.execute(
    tx,
  )
  const idsByExternalId = new Map(existing.map((row) => [row.external_candidate_id, row.candidate_id]))
  const idsByPhone = new Map(
    existing.flatMap(({ phone_index, candidate_id }) =>
      phone_index === null ? [] : [[phone_index.toString('hex'), candidate_id]],
    ),
  )
  for (const index of indexes) {
    const { external_candidate_id, phone } = candidates[index]!
    const sameExternalId = idsByExternalId.get(external_candidate_id)
    const samePhone = phone === undefined ? undefined : idsByPhone.get(phoneIndexes.get(phone)!.toString('hex'))
    const kept_candidate_id = sameExternalId ?? samePhone
    if (kept_candidate_id === undefined) continue
    const reason = sameExternalId === undefined ? 'phone' : 'external_candidate_id'
    duplicates.set(index, { index, external_candidate_id, reason, kept_candidate_id })
  }
  return duplicates
}

/**
 * The campaign is locked, so only the correction of a phone number can create a duplicate after `findInCampaign`. The transaction is then
 * run again, and finds it.
 */
function retryAfterCorrection(error: Error & { constraint?: string }): never {
  throw error.constraint === 'candidates_phone' ? new RepeatTransactionError({ cause: error }) : error
}

function requireCampaignCapacity({ candidates }: Campaign, acceptedCount: number, scale: 'test' | 'live') {
  const limit = MAX_CANDIDATES_PER_CAMPAIGN[scale]
  if (candidates + acceptedCount <= limit) return
  const message = `with this request, the campaign would have ${candidates + acceptedCount} candidates; the limit is ${limit}`
  throw problem('LIMIT_EXCEEDED', `candidates: ${message}.`, { details: [{ path: 'candidates', message }] })
}

/** Returns the vault purpose of the token in a candidate's link. */
export function tokenPurpose(candidateId: string) {
  return `link of ${candidateId}`
}

export const sealedCandidateTokens: SealedColumn = {
  table: 'candidates',
  column: 'token',
  id: ['candidate_id'],
  purpose: tokenPurpose,
}
