import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { testReviewerOf } from '../../mail/test-addresses.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { findReview, type Review } from '../reviews/reviews.ts'
import type { EndorsementType } from '../schema.ts'
import { lockVerification, type Session } from '../sessions.ts'
import { isMailboxOfStudent, isPhoneOfStudent } from '../source-rules.ts'
import { type EmailDomains, isAddressOfWebsite } from './email-domains.ts'
import { deriveEvidence, type Evidence, type EvidenceCode } from './evidence.ts'
import { compareOrigins } from './origins.ts'
import { findNewRing } from './rings.ts'

/** Time from the email to the response within which a response counts as quick. */
const QUICK_ANSWER_MS = 2 * MINUTE
const COUNTED_PERIOD_MS = 90 * DAY
/** Numbers of students in that period above which a mailbox has endorsed unusually many. Teachers endorse whole classes. */
const MAX_USUAL_STUDENTS = 20
const MAX_USUAL_STUDENTS_OF_TEACHER = 200

/** Stores a submitted review as an endorsement, with the facts that are known now, and returns its evidence. */
export async function recordEndorsement(
  tx: Tx,
  { clock, emailDomains }: Pick<Context, 'clock' | 'emailDomains'>,
  session: Session,
  review: Review,
): Promise<Evidence> {
  const now = clock.now()
  const facts = await reviewFacts(emailDomains, session.endorsementType, review, now)
  const origin = await compareOrigins(tx, session, now)
  if (origin) facts.push(origin)
  await insertEndorsement(tx, session, review, facts, now)
  const emails = { reviewerEmail: review.email, studentEmail: session.student.email }
  await findNewRing(tx, clock, session.scope.mode, emails)
  return (await findEvidence(tx, session, review))!
}

async function insertEndorsement(tx: Tx, session: Session, review: Review, facts: EvidenceCode[], endorsedAt: number) {
  await tx
    .insertInto('endorsements')
    .values({
      verification_id: session.id,
      org_id: session.scope.orgId,
      mode: session.scope.mode,
      user_id: session.userId,
      reviewer_mailbox: blindIndexOf(tx).mailbox(review.email),
      student_mailbox: blindIndexOf(tx).mailbox(session.student.email),
      endorsement_type: session.endorsementType,
      facts,
      endorsed_at: new Date(endorsedAt),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns the facts about the address, the relation and the time of a review. */
async function reviewFacts(
  emailDomains: EmailDomains,
  endorsementType: EndorsementType,
  { email, website, link }: Pick<Review, 'email' | 'website' | 'link'>,
  submittedAt: number,
): Promise<EvidenceCode[]> {
  const facts: EvidenceCode[] = [endorsementType === 'peer' ? 'peer_relation' : 'saw_the_work']
  if (emailDomains.isDisposable(email)) facts.push('disposable_mail')
  else if (emailDomains.isFreeMail(email)) facts.push('free_mail')
  else if (website === undefined) facts.push('no_website')
  else facts.push((await isAddressOfWebsite(email, website)) ? 'company_domain' : 'other_domain')
  if (link && submittedAt - link.sentAt < QUICK_ANSWER_MS) facts.push('quick_answer')
  return facts
}

interface EndorsementRow {
  facts: EvidenceCode[]
  endorsement_type: EndorsementType
  is_mutual: boolean
  is_in_ring: boolean
  students: number
}

/** Returns the evidence of a session's endorsement as it is known now, or undefined if no skill was endorsed. */
export async function findEvidence(
  queries: Queries,
  session: Session,
  review: Review | undefined,
): Promise<Evidence | undefined> {
  if (session.method !== 'human' || session.status !== 'completed' || !review) return undefined
  const { rows } = await sql<EndorsementRow>`
    select e.facts, e.endorsement_type,
      exists (select from endorsements back where back.mode = e.mode and back.reviewer_mailbox = e.student_mailbox
        and back.student_mailbox = e.reviewer_mailbox) as is_mutual,
      exists (select from endorsement_rings g where g.status = 'open' and g.mode = e.mode
        and g.members @> array[e.reviewer_mailbox, e.student_mailbox]) as is_in_ring,
      (select count(*)::int from (
        select distinct o.student_mailbox from endorsements o
        where o.mode = e.mode and o.reviewer_mailbox = e.reviewer_mailbox
          and o.endorsed_at > e.endorsed_at - ${COUNTED_PERIOD_MS}::float8 * interval '1 millisecond'
          and o.endorsed_at < e.endorsed_at + ${COUNTED_PERIOD_MS}::float8 * interval '1 millisecond'
        limit ${MAX_USUAL_STUDENTS_OF_TEACHER + 1}) as students) as students
    from endorsements e where e.verification_id = ${session.id}`.execute(queries)
  const [row] = rows
  if (!row) return undefined
  const facts = [...row.facts]
  if (row.is_mutual) facts.push('mutual')
  if (row.is_in_ring) facts.push('ring')
  const maxStudents = row.endorsement_type === 'faculty' ? MAX_USUAL_STUDENTS_OF_TEACHER : MAX_USUAL_STUDENTS
  // All organisations share the test reviewers: their number of students means nothing.
  if (row.students > maxStudents && testReviewerOf(review.email) === undefined) facts.push('many_endorsements')
  const isStudent =
    (await isMailboxOfStudent(queries, session, review.email)) ||
    (review.phone !== undefined && (await isPhoneOfStudent(queries, session, review.phone)))
  if (isStudent) facts.push('reviewer_is_student')
  return deriveEvidence(facts)
}

const BATCH_SIZE = 500

/** Adds the endorsements of reviews that were submitted before endorsements were stored. */
export async function addMissingEndorsements({
  db,
  clock,
  emailDomains,
}: Pick<Context, 'db' | 'clock' | 'emailDomains'>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ verification_id: string }>`
      select r.verification_id from verification_reviews r left join endorsements e using (verification_id)
      where r.submitted_at is not null and cardinality(r.endorsed) > 0 and e.verification_id is null
      limit ${BATCH_SIZE}`.execute(db.queries)
    await db.transaction(async (tx) => {
      for (const { verification_id } of rows) {
        const session = await lockVerification(tx, clock, verification_id)
        const review = await findReview(tx, verification_id)
        const submittedAt = review!.submittedAt!
        const facts = await reviewFacts(emailDomains, session!.endorsementType, review!, submittedAt)
        await insertEndorsement(tx, session!, review!, facts, submittedAt)
      }
    })
    if (rows.length < BATCH_SIZE) return
  }
}
