import { sql } from 'kysely'
import { verdictsOf } from '../conversation/verdicts.ts'
import { HIDDEN_CODE } from '../mail/mail.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import type { Correction, ErasureDeps, ExportSection, PersonRecordIds, PersonRef } from '../people/identity/hooks.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { lockClock } from '../test-clocks/test-clocks.ts'
import { type Candidacy, findCandidacy, lockCandidacies } from './candidacy.ts'
import { CONTACT_DUE, listMessages } from './contact/messages.ts'
import { sealCandidate } from './personal-values.ts'
import { recordTransitions } from './progress.ts'
import { hasReached } from './stages.ts'

async function listCandidateIds(queries: Queries, { scope: { orgId, mode }, personId }: PersonRef): Promise<string[]> {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates where person_id = ${personId} and org_id = ${orgId} and mode = ${mode}
    order by candidate_id`.execute(queries)
  return rows.map(({ candidate_id }) => candidate_id)
}

/**
 * Ends the conversations of a person who is erased: the result is `failed` with the reason `stopped`, and the credit is refunded if the
 * candidate was never contacted. Queued messages are dropped, and the hashes of the addresses and the links are deleted.
 */
export async function endCandidacies(tx: Tx, deps: ErasureDeps, person: PersonRef): Promise<void> {
  const ids = await listCandidateIds(tx, person)
  if (ids.length === 0) return
  const pendingByClock = Map.groupBy(
    (await lockCandidacies(tx, ids)).filter(({ status }) => status === 'pending'),
    ({ test_clock_id }) => test_clock_id,
  )
  for (const [clockId, candidates] of pendingByClock) {
    const clock = await lockClock(tx, deps.clock, clockId)
    await recordTransitions(
      tx,
      clock,
      candidates.map((before) => ({
        before,
        end: { status: 'failed', reason: 'stopped' },
        refund: !hasReached(before.stages, 'contacted'),
      })),
    )
  }
  await sql`delete from contacts where candidate_id = any (${ids})`.execute(tx)
  await sql`delete from simulator_turns where candidate_id = any (${ids})`.execute(tx)
  await sql`update messages set state = 'dropped', updated_at = ${new Date(deps.clock.now())}
    where candidate_id = any (${ids}) and state = 'queued'`.execute(tx)
  await sql`delete from whatsapp_users where phone_index in (
    select phone_index from candidates where candidate_id = any (${ids}))`.execute(tx)
  await sql`update candidates set phone_index = null, email_index = null where candidate_id = any (${ids})`.execute(tx)
}

/** Holds the contacts and messages of a person, or releases them. */
export async function holdContacts(
  tx: Tx,
  { clock }: ErasureDeps,
  person: PersonRef,
  isRestricted: boolean,
): Promise<void> {
  const ids = await listCandidateIds(tx, person)
  await sql`update contacts set restricted = ${isRestricted} where candidate_id = any (${ids})`.execute(tx)
  await sql`update messages set due_at = ${isRestricted ? null : new Date(clock.now())}
    where candidate_id = any (${ids}) and state = 'queued' and not is_code and (due_at is null) <> ${isRestricted}`.execute(
    tx,
  )
  notifyAfterCommit(tx, CONTACT_DUE)
}

/** Corrects the name and the addresses in all candidacies of a person. */
export async function correctCandidates(
  tx: Tx,
  _deps: ErasureDeps,
  person: PersonRef,
  correction: Correction,
): Promise<void> {
  const blindIndex = blindIndexOf(tx)
  for (const candidacy of await lockCandidacies(tx, await listCandidateIds(tx, person))) {
    const { candidate_id, person_key } = candidacy
    const values = correctedValues(candidacy, correction)
    await sql`update candidates set personal = ${sealCandidate(person_key!, candidate_id, values)},
      phone_index = ${values.phone === null ? null : blindIndex.phone(person.scope, values.phone)},
      email_index = ${values.email === null ? null : blindIndex.email(person.scope, values.email)}
      where candidate_id = ${candidate_id}`.execute(tx)
  }
}

/** Replaces the values of a candidate. An address is only replaced, not added: the candidate is not contacted on further channels. */
function correctedValues({ name, phone, email, metadata, consent }: Candidacy, correction: Correction) {
  return {
    name: correction.name ?? name,
    phone: phone === null ? null : (correction.phone ?? phone),
    email: email === null ? null : (correction.email ?? email),
    metadata,
    consent,
  }
}

export async function listRecordIds(queries: Queries, person: PersonRef): Promise<PersonRecordIds> {
  const { rows } = await sql<NonNullable<PersonRecordIds['candidates']>[number]>`
    select candidate_id, external_candidate_id, c.campaign_id, p.result_id
    from candidates c join candidate_progress p using (candidate_id)
    where c.person_id = ${person.personId} order by candidate_id`.execute(queries)
  return { candidates: rows }
}

/** Returns the candidacies of a person, with their answers and messages. */
export async function exportCandidacies(
  queries: Queries,
  _deps: ErasureDeps,
  person: PersonRef,
): Promise<ExportSection[]> {
  const candidacies: Record<string, unknown>[] = []
  const messages: Record<string, unknown>[] = []
  for (const id of await listCandidateIds(queries, person)) {
    const candidacy = (await findCandidacy(queries, id))!
    candidacies.push(candidacyRecord(candidacy))
    for (const { message_id, direction, channel, state, content, created_at } of await listMessages(queries, id))
      messages.push({
        message_id,
        candidate_id: id,
        direction: direction === 'in' ? 'received' : 'sent',
        channel,
        state,
        text: Array.isArray(content)
          ? content.map(({ text, isCode }) => (isCode ? HIDDEN_CODE : text)).join('\n')
          : (content.text ?? content.value ?? ''),
        at: created_at.toISOString(),
      })
  }
  return [
    { name: 'candidacies', title: 'Candidacies', records: candidacies },
    { name: 'messages', title: 'Messages', records: messages },
  ]
}

function candidacyRecord(candidacy: Candidacy): Record<string, unknown> {
  const { state, flow } = candidacy
  return {
    candidate_id: candidacy.candidate_id,
    external_candidate_id: candidacy.external_candidate_id,
    company: flow.company_name,
    job: flow.title,
    name: candidacy.name,
    phone: candidacy.phone,
    email: candidacy.email,
    metadata: candidacy.metadata,
    consent: candidacy.consent ?? null,
    language: state.language,
    status: candidacy.status,
    reason: candidacy.reason,
    answers: Object.fromEntries(
      state.enrichment.flatMap((answer, index) => (answer === null ? [] : [[flow.enrichment[index]!.key, answer]])),
    ),
    interested: state.interest,
    skills: verdictsOf(state, flow).map(({ skill_id, name, verdict, confidence, correct, asked }) => ({
      skill_id,
      name,
      verdict,
      confidence,
      correct,
      asked,
    })),
    enrolled_at: candidacy.created_at.toISOString(),
    started_at: candidacy.started_at?.toISOString() ?? null,
    completed_at: candidacy.completed_at?.toISOString() ?? null,
  }
}
