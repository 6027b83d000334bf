import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { type EmailBrand, findEmailBrand } from '../branding/email-brand.ts'
import type { Context } from '../context.ts'
import { type EmailDeps, queueEmail } from '../mail/mail.ts'
import { plainEmail } from '../mail/plain-email.ts'
import { noticeText, noticeVersion } from '../notices/notice.ts'
import { lockPersonKey } from '../people/identity/people.ts'
import { openPersonal, sealPersonal } from '../people/identity/person-key.ts'
import { DAY } from '../platform/clock.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import { linkErrors } from '../platform/text/links.ts'
import { isEmail } from './fields.ts'
import { ADULT_AGE_YEARS, readGuardianState } from './guardian-consents.ts'
import { mailboxOf } from './reviews/mailboxes.ts'
import type { Session } from './sessions.ts'

const CODE_DIGITS = 6
const CODE_VALID_MS = 7 * DAY
const MAX_ATTEMPTS = 10
/** Emails to guardians per session, so that a student cannot use it to send many emails. */
const MAX_EMAILS = 5

/**
 * Stores whether the student is below 18. A student who stated an age below 18 cannot change it to 18 or above: the gate for minors would
 * have no effect. The organisation can create another session with the right age.
 */
export async function stateAge(tx: Tx, session: Session, age: number): Promise<Session> {
  const isMinor = age < ADULT_AGE_YEARS
  if (session.isMinor === true && !isMinor)
    throw problem(
      'SESSION_LOCKED',
      'An age below 18 cannot be changed. If it is wrong, ask the organisation for a new session.',
    )
  await sql`update verification_sessions set is_minor = ${isMinor} where verification_id = ${session.id}`.execute(tx)
  return { ...session, isMinor }
}

/** Emails a code to the guardian, who gives it to the student if they agree. A new request replaces the previous code. */
export async function askGuardian(
  tx: Tx,
  deps: EmailDeps,
  session: Session,
  guardian: { name: string; email: string; language: Language },
): Promise<void> {
  const { name, email, language } = guardian
  requireGuardian(session, guardian)
  const state = await readGuardianState(tx, session)
  if (state === 'given') return
  if (state !== 'required' && state !== 'pending')
    throw problem('FORBIDDEN', 'This session does not need the consent of a guardian.')
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
  const now = deps.clock.now()
  const { orgId, mode } = session.scope
  const studentKey = await lockPersonKey(tx, session.personId)
  const { rows } = await sql`
    insert into guardian_consents as g (verification_id, org_id, mode, personal, code_mac, requested_at, expires_at, notice_version, language)
    values (${session.id}, ${orgId}, ${mode},
      ${studentKey && sealPersonal(studentKey, { name, email }, guardianPurpose(session.id))},
      ${deps.vault.mac(codeText(session.id, code), CODE_PURPOSE)}, ${new Date(now)}, ${new Date(now + CODE_VALID_MS)},
      ${noticeVersion()}, ${language})
    on conflict (verification_id) do update
    set personal = excluded.personal, code_mac = excluded.code_mac, attempts = 0, emails = g.emails + 1,
      requested_at = excluded.requested_at, expires_at = excluded.expires_at, notice_version = excluded.notice_version,
      language = excluded.language
    where g.emails < ${MAX_EMAILS}
    returning 1`.execute(tx)
  if (rows.length === 0)
    throw problem('RATE_LIMITED', `At most ${MAX_EMAILS} emails can be sent to guardians of one session.`, {
      retryAfter: 3600,
    })
  const brand = await findEmailBrand(tx, deps.config, orgId)
  const organisation = brand?.name ?? (await getOrganisation(tx, orgId)).name
  const values = { guardian: name, student: session.student.name, organisation, code }
  const content = guardianEmail(language, values, brand)
  // The name and the address of the guardian are sealed with the key of the student, so that they are erased together.
  await queueEmail(tx, deps, {
    kind: 'confirmation_code',
    to: { name, address: email },
    scope: session.scope,
    people: [{ personId: session.personId, key: studentKey }],
    subjectId: session.id,
    ...content,
  })
}

function requireGuardian({ student }: Session, { name, email }: { name: string; email: string }): void {
  const details = [...linkErrors([['name', name]])]
  if (!isEmail(email)) details.push({ path: 'email', message: 'must be an email address, such as asha@example.com' })
  else if (mailboxOf(email) === mailboxOf(student.email))
    details.push({ path: 'email', message: 'must be the address of the guardian, not that of the student' })
  if (details.length > 0) throw invalid(details)
}

/** Returns the guardian who was asked for consent, for the export of the student's data. */
export async function findGuardian(
  queries: Queries,
  { id, personKey }: Pick<Session, 'id' | 'personKey'>,
): Promise<{ name: string; email: string; requested_at: string; consent_given_at: string | null } | null> {
  const { rows } = await sql<{ personal: Buffer | null; requested_at: Date; given_at: Date | null }>`
    select personal, requested_at, given_at from guardian_consents where verification_id = ${id}`.execute(queries)
  const [row] = rows
  const guardian = row && openPersonal<{ name: string; email: string }>(personKey, row.personal, guardianPurpose(id))
  if (!row || !guardian) return null
  return {
    ...guardian,
    requested_at: row.requested_at.toISOString(),
    consent_given_at: row.given_at?.toISOString() ?? null,
  }
}

/** Records the consent of the guardian. Attempts are counted in a transaction of their own, so that wrong codes count. */
export async function confirmGuardian(
  db: Database,
  { clock, vault }: Pick<Context, 'clock' | 'vault'>,
  session: Session,
  code: string,
): Promise<void> {
  const now = new Date(clock.now())
  const isCode = await db.transaction(async (tx) => {
    const { rows } = await sql<{ code_mac: Buffer; given_at: Date | null }>`
      update guardian_consents set attempts = attempts + 1
      where verification_id = ${session.id} and attempts < ${MAX_ATTEMPTS} and expires_at > ${now}
      returning code_mac, given_at`.execute(tx)
    return rows[0] !== undefined && vault.verifyMac(rows[0].code_mac, codeText(session.id, code), CODE_PURPOSE)
  })
  if (!isCode) throw problem('FORBIDDEN', 'This code is wrong or has expired. Check it, or request a new one.')
  await db.transaction(async (tx) => {
    await sql`update guardian_consents set given_at = ${now}
      where verification_id = ${session.id} and given_at is null`.execute(tx)
  })
}

const CODE_PURPOSE = 'code of a guardian'

function codeText(verificationId: string, code: string): string {
  return `${verificationId} ${code.replace(/\s/g, '')}`
}

function guardianPurpose(verificationId: string): string {
  return `guardian of ${verificationId}`
}

function guardianEmail(
  language: Language,
  values: Record<'guardian' | 'student' | 'organisation' | 'code', string>,
  brand: EmailBrand | undefined,
) {
  const text = (key: string) =>
    noticeText(language, key, { ...values, age: ADULT_AGE_YEARS, days: CODE_VALID_MS / DAY })
  return plainEmail({
    language,
    subject: text('guardian_subject'),
    paragraphs: [text('guardian_greeting'), text('guardian_why'), text('guardian_code')],
    brand,
  })
}
