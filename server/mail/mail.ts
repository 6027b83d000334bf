import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { oneLine } from '../platform/text/strip-invisible.ts'
import type { Vault } from '../platform/vault.ts'

export const mailKinds = [
  'review_request',
  'review_reminder',
  'review_outcome',
  'sign_in',
  'notice',
  'candidate',
] as const
export type MailKind = (typeof mailKinds)[number]

export interface MailContent {
  subject: string
  text: string
  html: string
  replyTo?: string
}

export interface OutgoingMail extends MailContent {
  kind: MailKind
  to: { name?: string; address: string }
  scope?: OwnerScope
  /** What the mail is about, such as the id of a verification; mails are found by it. */
  subjectId?: string
  /** Not before, in epoch milliseconds. */
  at?: number
}

export const mailStatuses = ['queued', 'sent', 'failed', 'kept'] as const
export type MailStatus = (typeof mailStatuses)[number]

/** A mail without its content. */
export interface MailHead {
  mail_id: string
  org_id: string | null
  mode: 'test' | 'live' | null
  kind: MailKind
  about: string | null
  to_name: string | null
  to_address: string
  status: MailStatus
  attempts: number
  last_error: string | null
  created_at: Date
  sent_at: Date | null
}

/** The first retry comes within a minute; a mail server that is away for a day is waited for. */
export const sendMail = defineJob<{ mail_id: string }>('send-mail', {
  retries: 40,
  retryDelay: 15,
  retryDelayMax: 3600,
  timeout: 90,
  concurrency: 4,
})

/** Asks for a mail, in the transaction of what it tells of: it is sent if and only if that transaction commits. */
export async function queueMail(
  tx: Tx,
  { queue, clock, vault }: Pick<Context, 'queue' | 'clock' | 'vault'>,
  { kind, to, scope, subjectId, at, subject, text, html, replyTo }: OutgoingMail,
): Promise<string> {
  const now = clock.now()
  const mailId = newId('ML_', now)
  const content: MailContent = { subject: headerText(subject), text, html, ...(replyTo ? { replyTo } : {}) }
  await tx
    .insertInto('mails')
    .values({
      mail_id: mailId,
      org_id: scope?.orgId ?? null,
      mode: scope?.mode ?? null,
      kind,
      about: subjectId ?? null,
      to_name: (to.name && headerText(to.name)) || null,
      to_address: to.address,
      content: vault.seal(JSON.stringify(content), purpose(mailId)),
      status: 'queued',
      created_at: new Date(now),
    })
    .execute()
  await queue.enqueue(tx, sendMail, { mail_id: mailId }, at === undefined ? {} : { at })
  return mailId
}

/** For headers, as short as a mail program shows them. */
export function headerText(text: string): string {
  return oneLine(text).slice(0, 300).toWellFormed()
}

export interface MailFilter {
  scope?: OwnerScope
  /** What the mails are about. */
  subjectId?: string
  kind?: MailKind
  status?: MailStatus
  /** The last one of the page before. */
  before?: string
  limit: number
}

/** Newest first. */
export async function listMails(
  queries: Queries,
  { scope, subjectId, kind, status, before, limit }: MailFilter,
): Promise<MailHead[]> {
  const rows = await heads(queries)
    .$if(scope !== undefined, (query) => query.where('org_id', '=', scope!.orgId).where('mode', '=', scope!.mode))
    .$if(subjectId !== undefined, (query) => query.where('about', '=', subjectId!))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(before !== undefined, (query) => query.where('mail_id', '<', before!))
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute()
  return rows as MailHead[]
}

export async function getMail(queries: Queries, vault: Vault, mailId: string): Promise<MailHead & MailContent> {
  const head = await heads(queries).select('content').where('mail_id', '=', mailId).executeTakeFirst()
  if (!head) throw problem('NOT_FOUND', `There is no mail ${mailId}.`)
  const { content, ...rest } = head
  return { ...(rest as MailHead), ...openContent(vault, mailId, content) }
}

function openContent(vault: Vault, mailId: string, content: Buffer): MailContent {
  return JSON.parse(vault.open(content, purpose(mailId))) as MailContent
}

function heads(queries: Queries) {
  return queries
    .selectFrom('mails')
    .select([
      'mail_id',
      'org_id',
      'mode',
      'kind',
      'about',
      'to_name',
      'to_address',
      'status',
      'attempts',
      'last_error',
      'created_at',
      'sent_at',
    ])
}

/** What became of an attempt to send. */
export async function recordAttempt(
  tx: Tx,
  mailId: string,
  now: number,
  outcome: { status: MailStatus; error?: string },
): Promise<void> {
  await tx
    .updateTable('mails')
    .set(({ eb }) => ({
      status: outcome.status,
      last_error: outcome.error ?? null,
      attempts: outcome.status === 'kept' ? eb.ref('attempts') : eb('attempts', '+', 1),
      ...(outcome.status === 'sent' ? { sent_at: new Date(now) } : {}),
    }))
    .where('mail_id', '=', mailId)
    .where('status', '!=', 'sent')
    .execute()
}

function purpose(mailId: string) {
  return `mail ${mailId}`
}
