import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { type EmailKind, findEmailByUnsubscribeToken } from './mail.ts'
import { suppressMailbox } from './suppressions.ts'
import { type PageLanguage, REVIEWER_TEXTS, STUDENT_TEXTS, type UnsubscribeTexts } from './unsubscribe-texts.ts'

/** The person whose unsubscribe link was opened. */
export interface UnsubscribeTarget {
  /** The organisation that sent the email; null if the server sent it. */
  orgId: string | null
  /** Language of the texts; undefined if they exist in all languages of the page, and the browser's language is used. */
  language?: string
  texts: UnsubscribeTexts | Record<PageLanguage, UnsubscribeTexts>
  /** Stops the emails. Has no further effect when it is called again. */
  unsubscribe(tx: Tx): Promise<void>
}

export type FindUnsubscribeTarget = (queries: Queries, tokenHash: Buffer) => Promise<UnsubscribeTarget | undefined>

/** Finds the recipient of the email that an unsubscribe link belongs to. Reviewers and students unsubscribe from every organisation. */
export function findUnsubscribingRecipient(deps: Pick<Context, 'clock' | 'mailboxes'>): FindUnsubscribeTarget {
  return async (queries, tokenHash) => {
    const email = await findEmailByUnsubscribeToken(queries, tokenHash)
    if (!email) return undefined
    const { mail_id: emailId, to_address: address } = email
    const audience = isForStudent(email.kind) ? 'student' : 'reviewer'
    return {
      orgId: email.org_id,
      texts: audience === 'student' ? STUDENT_TEXTS : REVIEWER_TEXTS,
      async unsubscribe(tx) {
        await suppressMailbox(tx, deps, { address, audience, reason: 'unsubscribed', causedBy: emailId })
      },
    }
  }
}

function isForStudent(kind: EmailKind): boolean {
  return kind === 'review_outcome'
}
