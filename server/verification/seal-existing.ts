import { sql } from 'kysely'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { findPersonKey, identifyPerson } from '../people/identity/people.ts'
import { ERASED } from '../people/identity/person-key.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Items } from './items.ts'
import { commentsOf, redactSession, sealReviewer, sealSession, sealWords, withoutComments } from './personal-values.ts'
import type { Student } from './session-input.ts'
import type { ChosenSkill, SkillDecision } from './session-skills.ts'

const BATCH_SIZE = 200

interface PlainSession {
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  student: Student
  items: Items
  skills: ChosenSkill[]
  return_url: string | null
  created_at: Date
}

/** Seals a batch of sessions that earlier versions stored. */
export async function sealExistingSessions(tx: Tx) {
  const { rows } = await sql<PlainSession>`
    select verification_id, org_id, mode, student, items, skills, return_url, created_at from verification_sessions
    where person_id is null order by verification_id limit ${BATCH_SIZE} for update`.execute(tx)
  for (const { verification_id: id, org_id: orgId, mode, student, items, skills, return_url, created_at } of rows) {
    const scope = { orgId, mode }
    const person = await identifyPerson(tx, scope, created_at.getTime(), { email: student.email })
    const values = { student, items, skills, returnUrl: return_url ?? undefined }
    const redacted = redactSession(values)
    await sql`update verification_sessions set person_id = ${person.personId}, personal = ${sealSession(person.key, id, values)},
      email_index = ${person.emailIndex}, student = ${JSON.stringify(redacted.student)}, items = ${JSON.stringify(redacted.items)},
      skills = ${JSON.stringify(redacted.skills)}, return_url = null where verification_id = ${id}`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}

interface PlainReview {
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  student_id: string
  name: string
  email: string
  company: string
  website: string | null
  addresses: string[]
  decisions: SkillDecision[] | null
  decline_reason: string | null
  created_at: Date
}

/** Seals a batch of reviews that earlier versions stored, and replaces the mailboxes of endorsements with their hashes. */
export async function sealExistingReviews(tx: Tx) {
  const { rows } = await sql<PlainReview>`
    select r.verification_id, s.org_id, s.mode, s.person_id as student_id, r.name, r.email, r.company, r.website, r.addresses, r.decisions,
      r.decline_reason, s.created_at
    from verification_reviews r join verification_sessions s using (verification_id)
    where r.person_id is null order by r.verification_id limit ${BATCH_SIZE} for update of r`.execute(tx)
  const blindIndex = blindIndexOf(tx)
  for (const row of rows) {
    const { verification_id: id, org_id: orgId, mode, name, email, company, website, decisions, decline_reason } = row
    const scope = { orgId, mode }
    const person = await identifyPerson(tx, scope, row.created_at.getTime(), { email })
    const studentKey = await findPersonKey(tx, row.student_id)
    const words = sealWords({ reviewerKey: person.key, studentKey }, id, {
      comments: commentsOf(decisions ?? []),
      reason: decline_reason ?? undefined,
    })
    const personal = sealReviewer(person.key, id, { name, email, company, website: website ?? undefined })
    await sql`update verification_reviews set person_id = ${person.personId}, personal = ${personal}, words = ${words}, name = null,
      email = null, company = null, website = null,
      addresses = ${row.addresses.map((address) => blindIndex.spelling(scope, address).toString('hex'))}::text[],
      decisions = ${decisions === null ? null : JSON.stringify(withoutComments(decisions))},
      decline_reason = ${decline_reason === null ? null : ERASED} where verification_id = ${id}`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === BATCH_SIZE ? '' : undefined }
}

/** Replaces the mailboxes of a batch of endorsements, and of rings, with their hashes. */
export async function hashExistingMailboxes(tx: Tx) {
  const blindIndex = blindIndexOf(tx)
  const { rows } = await sql<{ verification_id: string; reviewer_mailbox: string; student_mailbox: string }>`
    select verification_id, reviewer_mailbox, student_mailbox from endorsements
    where strpos(reviewer_mailbox, '@') > 0 order by verification_id limit ${BATCH_SIZE} for update`.execute(tx)
  for (const { verification_id, reviewer_mailbox, student_mailbox } of rows)
    await sql`update endorsements set reviewer_mailbox = ${blindIndex.mailbox(reviewer_mailbox)},
      student_mailbox = ${blindIndex.mailbox(student_mailbox)} where verification_id = ${verification_id}`.execute(tx)
  const { rows: rings } = await sql<{ ring_id: string; members: string[] }>`
    select ring_id, members from endorsement_rings where strpos(members[1], '@') > 0 limit ${BATCH_SIZE} for update`.execute(
    tx,
  )
  for (const { ring_id, members } of rings)
    await sql`update endorsement_rings set members = ${members.map((mailbox) => blindIndex.mailbox(mailbox))}::text[]
      where ring_id = ${ring_id}`.execute(tx)
  const isLast = rows.length < BATCH_SIZE && rings.length < BATCH_SIZE
  return { rows: rows.length + rings.length, last: isLast ? undefined : '' }
}
