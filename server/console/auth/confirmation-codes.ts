import { randomInt, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { queueEmail } from '../../mail/mail.ts'
import { MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { emailBox, emailHtml, emailParagraph } from '../email-parts.ts'
import { confirmSession, type SignedInSession } from './sessions.ts'

const CODE_VALID_MS = 10 * MINUTE
const CODE_DIGITS = 8
const MAX_ATTEMPTS = 5

type CodeDeps = Pick<Context, 'clock' | 'vault' | 'queue' | 'config' | 'mailboxes'>

/** Emails a code to the person of the session, which replaces their previous code. */
export async function sendConfirmationCode(tx: Tx, deps: CodeDeps, session: SignedInSession): Promise<void> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
  await sql`
    insert into console_codes (token_hash, code_mac, expires_at)
    values (${session.tokenHash}, ${codeMac(deps, session, code)}, ${new Date(deps.clock.now() + CODE_VALID_MS)})
    on conflict (token_hash) do update
    set code_mac = excluded.code_mac, expires_at = excluded.expires_at, attempts = 0`.execute(tx)
  const subject = 'Your confirmation code'
  const intro = `Your confirmation code for the Attestry console is ${code.slice(0, 4)} ${code.slice(4)}. It works once and expires in ${CODE_VALID_MS / MINUTE} minutes. Do not share it.`
  const disclaimer =
    'If you did not request this code, another person may be using your session: open the console and sign out of all sessions.'
  await queueEmail(tx, deps, {
    kind: 'sign_in',
    to: { address: session.email },
    subject,
    text: [intro, disclaimer].join('\n\n'),
    html: emailHtml(subject, [
      emailParagraph(intro),
      emailBox('Confirmation code', `${code.slice(0, 4)} ${code.slice(4)}`),
      emailParagraph(disclaimer),
    ]),
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
