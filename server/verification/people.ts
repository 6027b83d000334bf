import { sql } from 'kysely'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import type { Correction, ErasureDeps, ExportSection, PersonRecordIds, PersonRef } from '../people/identity/hooks.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { findGuardian } from './guardians.ts'
import { recordExpiries } from './outcome.ts'
import { sealReviewer, sealSession } from './personal-values.ts'
import { deleteProofFilesOf, getProofFileContent, listProofFiles, proofFileRecord } from './proofs/proof-files.ts'
import { findReview } from './reviews/reviews.ts'
import { changeSession, findVerification, lockVerification, type Session } from './sessions.ts'

async function listSessionIds(queries: Queries, { personId }: PersonRef): Promise<string[]> {
  const { rows } = await sql<{ verification_id: string }>`
    select verification_id from verification_sessions where person_id = ${personId} order by verification_id`.execute(
    queries,
  )
  return rows.map(({ verification_id }) => verification_id)
}

async function listReviewIds(queries: Queries, { personId }: PersonRef): Promise<string[]> {
  const { rows } = await sql<{ verification_id: string }>`
    select verification_id from verification_reviews where person_id = ${personId} order by verification_id`.execute(
    queries,
  )
  return rows.map(({ verification_id }) => verification_id)
}

/**
 * Ends the sessions and pending reviews of a person who is erased: they expire, and the hashes of the mailboxes are replaced. The links of
 * reviewers are kept, so that reviewers of an erased student can still exercise their own rights. They give access to nothing else.
 */
export async function endSessions(tx: Tx, deps: ErasureDeps, person: PersonRef): Promise<void> {
  const ownIds = await listSessionIds(tx, person)
  const reviewedIds = await listReviewIds(tx, person)
  for (const id of [...new Set([...ownIds, ...reviewedIds])].sort()) {
    const session = (await lockVerification(tx, deps.clock, id))!
    const isOwn = ownIds.includes(id)
    const isOpen = isOwn
      ? ['open', 'pending_review', 'in_assessment'].includes(session.status)
      : session.status === 'pending_review'
    if (isOpen) await expireSession(tx, session)
    await sql`update verification_reviews set remind_at = null, test_response_at = null
      where verification_id = ${id}`.execute(tx)
  }
  await sql`update verification_sessions set email_index = null where verification_id = any (${ownIds})`.execute(tx)
  await sql`update verification_reviews set addresses = '{}' where verification_id = any (${reviewedIds})`.execute(tx)
  await deleteProofFilesOf(tx, ownIds)
  await replaceMailbox(tx, 'student_mailbox', ownIds)
  await replaceMailbox(tx, 'reviewer_mailbox', reviewedIds)
}

async function expireSession(tx: Tx, session: Session): Promise<void> {
  const now = session.clock.now()
  await recordExpiries(tx, session.clock, [await changeSession(tx, session, now, { status: 'expired' })])
}

/** Replaces the hash of a mailbox with a value that belongs to the endorsement only, also in rings. */
async function replaceMailbox(tx: Tx, column: 'student_mailbox' | 'reviewer_mailbox', ids: string[]): Promise<void> {
  const { rows } = await sql<{ mailbox: string }>`
    with erased as (
      select verification_id, ${sql.ref(column)} as mailbox from endorsements where verification_id = any (${ids}) for update)
    update endorsements e set ${sql.ref(column)} = 'erased ' || e.verification_id
    from erased where e.verification_id = erased.verification_id and erased.mailbox not like 'erased %'
    returning erased.mailbox`.execute(tx)
  for (const { mailbox } of rows)
    await sql`update endorsement_rings set members = array_replace(members, ${mailbox}, 'erased')
      where members @> array[${mailbox}]::text[]`.execute(tx)
}

/** Nothing is sent to students without an action of theirs; reviewers are not reminded while they are restricted. */
export async function holdReviews(tx: Tx, _deps: ErasureDeps, person: PersonRef, isRestricted: boolean): Promise<void> {
  if (!isRestricted) return
  await sql`update verification_reviews set remind_at = null
    where verification_id = any (${[...(await listReviewIds(tx, person)), ...(await listSessionIds(tx, person))]})`.execute(
    tx,
  )
}

/** Corrects the name and the addresses in all sessions and reviews of a person. */
export async function correctSessions(
  tx: Tx,
  deps: ErasureDeps,
  person: PersonRef,
  { name, phone, email }: Correction,
): Promise<void> {
  for (const id of await listSessionIds(tx, person)) {
    const session = (await lockVerification(tx, deps.clock, id))!
    const { student } = session
    const corrected = {
      ...session,
      student: {
        ...student,
        name: name ?? student.name,
        email: email ?? student.email,
        ...(student.phone === undefined ? {} : { phone: phone ?? student.phone }),
      },
    }
    await sql`update verification_sessions set personal = ${sealSession(session.personKey!, id, corrected)},
      email_index = ${blindIndexOf(tx).email(person.scope, corrected.student.email)} where verification_id = ${id}`.execute(
      tx,
    )
  }
  for (const id of await listReviewIds(tx, person)) {
    await lockVerification(tx, deps.clock, id)
    const review = (await findReview(tx, id))!
    const { company, website } = review
    const values = {
      name: name ?? review.name,
      email: email ?? review.email,
      company,
      website,
      ...(review.phone === undefined ? {} : { phone: phone ?? review.phone }),
    }
    await sql`update verification_reviews set personal = ${sealReviewer(review.personKey!, id, values)}
      where verification_id = ${id}`.execute(tx)
  }
}

export async function listRecordIds(queries: Queries, person: PersonRef): Promise<PersonRecordIds> {
  const { rows } = await sql<NonNullable<PersonRecordIds['students']>[number]>`
    select u.user_id as service_user_id, max(s.student ->> 'externalStudentId') as external_student_id,
      array_agg(s.verification_id order by s.verification_id) as verification_ids
    from verification_sessions s join verification_students u using (user_id)
    where s.person_id = ${person.personId} group by u.user_id order by u.user_id`.execute(queries)
  const reviewIds = await listReviewIds(queries, person)
  return { students: rows, reviews: reviewIds.map((verification_id) => ({ verification_id })) }
}

/** An export is one string in memory, so it contains files only up to this total size. */
const MAX_EXPORTED_FILE_BYTES = 20 * 1024 * 1024
const OMITTED_CONTENT_NOTE =
  'The content is not included because the files of this person are larger than 20 MB together. The organisation can download each file on the page of the verification in the console.'

/** Returns the sessions and the reviews of a person. */
export async function exportSessions(
  queries: Queries,
  { clock }: ErasureDeps,
  person: PersonRef,
): Promise<ExportSection[]> {
  const sessions: Record<string, unknown>[] = []
  const sessionIds = await listSessionIds(queries, person)
  const withContent = (await sumFileSizes(queries, sessionIds)) <= MAX_EXPORTED_FILE_BYTES
  for (const id of sessionIds) {
    const session = (await findVerification(queries, clock, id))!
    const { student, items, skills, method, status, returnUrl, isMinor } = session
    const review = await findReview(queries, id)
    sessions.push({
      verification_id: id,
      ...student,
      ...items,
      skills,
      method,
      status,
      return_url: returnUrl ?? null,
      decisions: review?.decisions ?? [],
      decline_reason: review?.declineReason ?? null,
      below_18: isMinor,
      guardian: await findGuardian(queries, session),
      assessments: await listAssessments(queries, id),
      files: await exportFiles(queries, session, withContent),
    })
  }
  const reviews: Record<string, unknown>[] = []
  for (const id of await listReviewIds(queries, person)) {
    const { name, email, company, website, phone, decisions, declineReason } = (await findReview(queries, id))!
    reviews.push({
      verification_id: id,
      name,
      email,
      company,
      website: website ?? null,
      phone: phone ?? null,
      decisions: decisions ?? [],
      decline_reason: declineReason ?? null,
    })
  }
  return [
    { name: 'verifications', title: 'Verifications of skills', records: sessions },
    { name: 'reviews', title: 'Reviews of other people', records: reviews },
  ]
}

/** Returns the files of a session, with their content in Base64 unless the files of the person are too large for one export. */
async function exportFiles(
  queries: Queries,
  session: Session,
  withContent: boolean,
): Promise<Record<string, unknown>[]> {
  const files: Record<string, unknown>[] = []
  for (const file of await listProofFiles(queries, session)) {
    const content = withContent
      ? { content: (await getProofFileContent(queries, session, file.id)).content }
      : { note: OMITTED_CONTENT_NOTE }
    files.push({ ...proofFileRecord(file), ...content })
  }
  return files
}

async function sumFileSizes(queries: Queries, verificationIds: string[]): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select coalesce(sum(size), 0)::float8 as size from proof_files
    where verification_id = any (${verificationIds})`.execute(queries)
  return rows[0]!.size
}

async function listAssessments(queries: Queries, verificationId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{
    created_at: Date
    submitted_at: Date | null
    answers: unknown
    correct: number | null
    score: number | null
    passed: boolean | null
  }>`select created_at, submitted_at, answers, correct, score, passed from verification_attempts
    where verification_id = ${verificationId} order by number`.execute(queries)
  return rows.map(({ created_at, submitted_at, ...result }) => ({
    started_at: created_at.toISOString(),
    submitted_at: submitted_at?.toISOString() ?? null,
    ...result,
  }))
}
