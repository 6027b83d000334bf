import { randomInt, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { queueEmail } from '../../mail/mail.ts'
import { MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { emailBox, emailHtml, emailParagraph } from '../email-parts.ts'
import { type AccountLanguage, findLanguage } from './account-language.ts'
import { confirmSession, type SignedInSession } from './sessions.ts'
import { SIGN_IN_EMAIL_TEXTS } from './sign-in-email-texts.ts'

const CODE_VALID_MS = 10 * MINUTE
const CODE_DIGITS = 8
const MAX_ATTEMPTS = 5

type CodeDeps = Pick<Context, 'clock' | 'vault' | 'queue' | 'config' | 'mailboxes'>

/** Emails a code to the person of the session, which replaces their previous code: in their language, or else in that of the page. */
export async function sendConfirmationCode(
  tx: Tx,
  deps: CodeDeps,
  session: SignedInSession,
  pageLanguage: AccountLanguage,
): Promise<void> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
  await sql`
    insert into console_codes (token_hash, code_mac, expires_at)
    values (${session.tokenHash}, ${codeMac(deps, session, code)}, ${new Date(deps.clock.now() + CODE_VALID_MS)})
    on conflict (token_hash) do update
    set code_mac = excluded.code_mac, expires_at = excluded.expires_at, attempts = 0`.execute(tx)
  const language = (await findLanguage(tx, session.email)) ?? pageLanguage
  const { subject, title, disclaimer, ...texts } = SIGN_IN_EMAIL_TEXTS[language].code
  const shownCode = `${code.slice(0, 4)} ${code.slice(4)}`
  const intro = texts.intro(shownCode, CODE_VALID_MS / MINUTE)
  await queueEmail(tx, deps, {
    kind: 'sign_in',
    to: { address: session.email },
    subject,
    text: [intro, disclaimer].join('\n\n'),
    html: emailHtml(language, subject, [emailParagraph(intro), emailBox(title, shownCode), emailParagraph(disclaimer)]),
  })
}

/** Confirms the session with the emailed code. Returns false if the code is wrong or has expired, or after too many attempts. */
export async function confirmWithCode(
  deps: Pick<Context, 'clock' | 'vault' | 'db'>,
  session: SignedInSession,
  submittedCode: string,
): Promise<boolean> {
  const { db, clock } = deps
  const codeMatches = await db.transaction(async (tx) => {
    // The attempt is counted before the comparison, so that parallel requests cannot exceed the limit.
    const { rows } = await sql<{ code_mac: Buffer }>`
      update console_codes set attempts = attempts + 1
      where token_hash = ${session.tokenHash} and attempts < ${MAX_ATTEMPTS} and expires_at > ${new Date(clock.now())}
      returning code_mac`.execute(tx)
    return rows[0] !== undefined && timingSafeEqual(rows[0].code_mac, codeMac(deps, session, submittedCode))
  })
  if (!codeMatches) return false
  return db.transaction(async (tx) => {
    const { rows } = await sql`delete from console_codes where token_hash = ${session.tokenHash} returning 1`.execute(
      tx,
    )
    if (rows.length === 0) return false // used by a parallel request
    await confirmSession(tx, clock, session.tokenHash)
    return true
  })
}

/** Binds the code to the session, and keeps a copy of the database from revealing it. */
function codeMac({ vault }: Pick<Context, 'vault'>, { tokenHash }: SignedInSession, code: string): Buffer {
  return vault.mac(`${tokenHash.toString('hex')} ${code.replace(/\s/g, '')}`, 'confirmation code')
}
