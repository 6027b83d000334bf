import { sql } from 'kysely'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { readSkillFamilies } from '../catalogue/skill-families.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { openPersonKey } from '../people/identity/person-key.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { openReviewer, openSessionValues } from './personal-values.ts'
import { isSameMailbox } from './reviews/mailboxes.ts'
import type { EndorsementType } from './schema.ts'
import type { Session } from './sessions.ts'

/** Maximum number of different skills per source. */
export const MAX_SKILLS_PER_SOURCE = 10

/** Another session of the same student that shares a source and has a pending or submitted review. */
interface RelatedSession {
  endorsement_type: EndorsementType
  status: 'pending_review' | 'completed'
  sources: string[]
  skill_numbers: number[]
  endorsed: number[]
  email: string
  phone: string | undefined
}

/**
 * Checks that the skills may be verified against the chosen sources. The caller has locked the student, so that concurrent
 * sessions cannot both pass.
 */
export async function requireSourcesAvailable(tx: Tx, session: Session, now: number): Promise<void> {
  const relatedSessions = await findRelatedSessions(tx, session, now)
  const skillNumbers = session.skills.map(({ number }) => number)
  const families = await readSkillFamilies(tx, [
    ...skillNumbers,
    ...relatedSessions.flatMap(({ skill_numbers, endorsed }) => [...skill_numbers, ...endorsed]),
  ])
  const survivorOf = (number: number) => families.survivorOf(number)

  for (const { endorsement_type, status, endorsed } of relatedSessions) {
    if (status !== 'completed' || endorsement_type !== session.endorsementType) continue
    const endorsedSkills = new Set(endorsed.map(survivorOf))
    const duplicateSkill = skillNumbers.find((number) => endorsedSkills.has(survivorOf(number)))
    if (duplicateSkill !== undefined) {
      const type = session.endorsementType
      throw problem(
        'DUPLICATE_SKILLS_IN_BUNDLE',
        `${formatSkill(session, duplicateSkill)} is already endorsed for this source (${type}).`,
      )
    }
  }
  for (const source of session.sources) {
    const skillsOfSource = new Set(skillNumbers.map(survivorOf))
    for (const { sources, status, skill_numbers, endorsed } of relatedSessions) {
      if (!sources.includes(source)) continue
      for (const number of status === 'completed' ? endorsed : skill_numbers) skillsOfSource.add(survivorOf(number))
    }
    if (skillsOfSource.size > MAX_SKILLS_PER_SOURCE) {
      throw problem(
        'MAX_SKILLS_PER_SOURCE',
        `A source can have at most ${MAX_SKILLS_PER_SOURCE} skills; with this request, ${source} would have ${skillsOfSource.size}.`,
      )
    }
  }
  if (session.method === 'assessment') await requireNotPassed(tx, session, skillNumbers)
}

/** The addresses of a reviewer, of which the phone number is optional. */
interface ReviewerAddresses {
  email: string
  phone?: string | undefined
}

/**
 * Rejects a reviewer whose mailbox already reviews the same source under another endorsement type, or under another spelling of the
 * address: one mailbox is one reviewer of a source. Also rejects a phone number that a reviewer of the same source uses with a different mailbox.
 */
export async function requireReviewerAvailable(
  tx: Tx,
  session: Session,
  { email, phone }: ReviewerAddresses,
  now: number,
): Promise<void> {
  const relatedSessions = await findRelatedSessions(tx, session, now)
  const sameMailboxSessions = relatedSessions.filter((related) => isSameMailbox(related.email, email))
  if (sameMailboxSessions.some((related) => related.endorsement_type !== session.endorsementType)) {
    throw problem(
      'DUPLICATE_REVIEWER_EMAIL',
      'This reviewer already reviews the same source under a different endorsement type. Choose another reviewer.',
    )
  }
  if (sameMailboxSessions.some((related) => related.email !== email)) {
    throw problem(
      'DUPLICATE_REVIEWER_EMAIL',
      'Another spelling of this address already reviews the same source. Use the address as it was sent before, or choose another reviewer.',
    )
  }
  const hasSamePhone = (related: RelatedSession) => phone !== undefined && related.phone === phone
  if (relatedSessions.some((related) => hasSamePhone(related) && !isSameMailbox(related.email, email))) {
    throw problem(
      'DUPLICATE_REVIEWER_EMAIL',
      'phone: the reviewer with this phone number already reviews the same source with another email address. Use the address that was sent before, or choose another reviewer.',
    )
  }
}

/** Rejects every address of the student: the one of this session, and those of their other sessions. */
export async function requireNotStudent(tx: Tx, session: Session, { email, phone }: ReviewerAddresses): Promise<void> {
  if (await isMailboxOfStudent(tx, session, email)) {
    throw problem('INVALID_EMAIL', 'email: students cannot review themselves. Send the address of another person.')
  }
  if (phone !== undefined && (await isPhoneOfStudent(tx, session, phone)))
    throw invalid([
      { path: 'phone', message: 'must not be the phone number of the student, who cannot review themselves' },
    ])
}

/** Returns whether a student has used a mailbox as their own address, in any session. */
export async function isMailboxOfStudent(
  queries: Queries,
  { userId, scope }: Pick<Session, 'userId' | 'scope'>,
  email: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from verification_sessions
    where user_id = ${userId} and email_index = ${blindIndexOf(queries).email(scope, email)} limit 1`.execute(queries)
  return rows.length > 0
}

/** Returns whether a student has used a phone number as their own, in any session. */
export async function isPhoneOfStudent(
  queries: Queries,
  { userId }: Pick<Session, 'userId'>,
  phone: string,
): Promise<boolean> {
  const { rows } = await sql<{
    verification_id: string
    person_id: string
    personal: Buffer | null
    sealed_key: Buffer | null
  }>`
    select s.verification_id, s.person_id, s.personal, o.sealed_key
    from verification_sessions s join people o on o.person_id = s.person_id where s.user_id = ${userId}`.execute(
    queries,
  )
  const vault = vaultOf(queries)
  return rows.some(({ verification_id, person_id, personal, sealed_key }) => {
    const values = openSessionValues(openPersonKey(vault, person_id, sealed_key), verification_id, personal)
    return values?.student.phone !== undefined && isSamePhone(values.student.phone, phone)
  })
}

/** Minimum number of digits of a phone number without a country code. */
const MIN_NATIONAL_DIGITS = 7

/** Compares the phone number of a student, which partners send in any format, with a number in E.164 format. */
function isSamePhone(studentPhone: string, phone: string): boolean {
  const digits = phone.slice(1)
  const studentDigits = studentPhone.replace(/\D/g, '').replace(/^0+/, '')
  if (studentDigits === digits) return true
  const hasCountryCode = /^\s*(\+|00)/.test(studentPhone)
  return !hasCountryCode && studentDigits.length >= MIN_NATIONAL_DIGITS && digits.endsWith(studentDigits)
}

async function findRelatedSessions(tx: Tx, { id, userId, sources }: Session, now: number): Promise<RelatedSession[]> {
  if (sources.length === 0) return []
  const { rows } = await sql<
    Omit<RelatedSession, 'email' | 'phone'> & {
      verification_id: string
      person_id: string
      personal: Buffer | null
      sealed_key: Buffer | null
    }
  >`
    select s.verification_id, s.endorsement_type, s.status, s.sources, s.skill_numbers, r.endorsed, r.person_id, r.personal, o.sealed_key
    from verification_sessions s join verification_reviews r using (verification_id) join people o on o.person_id = r.person_id
    where s.user_id = ${userId} and s.verification_id <> ${id} and s.method = 'human' and s.sources && ${sources}::text[]
      and (s.status = 'completed' or (s.status = 'pending_review' and r.expires_at > ${new Date(now)}))`.execute(tx)
  const vault = vaultOf(tx)
  return rows.map(({ verification_id, person_id, personal, sealed_key, ...row }) => {
    const { email, phone } = openReviewer(openPersonKey(vault, person_id, sealed_key), verification_id, personal)
    return { ...row, email, phone }
  })
}

/** Rejects skills that the student has passed in another session. Skills that were passed in this session are not asked again. */
async function requireNotPassed(tx: Tx, session: Session, skillNumbers: number[]) {
  const { rows } = await sql<{ skill: number }>`
    select skill from verification_attempts, unnest(${skillNumbers}::integer[]) as skill
    where user_id = ${session.userId} and verification_id <> ${session.id} and passed_skills && same_skills(array[skill])
    limit 1`.execute(tx)
  const [passed] = rows
  if (passed) {
    throw problem(
      'ASSESSMENT_ALREADY_PASSED',
      `The student has already passed an assessment of ${formatSkill(session, passed.skill)}.`,
    )
  }
}

function formatSkill({ skills }: Session, number: number): string {
  return `${skillId(number)} (${skills.find((skill) => skill.number === number)!.name})`
}
