import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import type { Vault } from '../platform/vault.ts'

export const emailKinds = [
  'review_request',
  'review_reminder',
  'review_outcome',
  'sign_in',
  'notice',
  'candidate',
] as const
export type EmailKind = (typeof emailKinds)[number]

export interface EmailContent {
  subject: string
  text: string
  html: string
  replyTo?: string
}

export interface NewEmail extends EmailContent {
  kind: EmailKind
  to: { name?: string; address: string }
  scope?: OrgScope
  /** The ID of the record that the email is about, such as a verification; `listEmails` can filter by it. */
  subjectId?: string
  /** Earliest send time, in epoch milliseconds. */
  earliestSendTime?: number
}

/** `kept`: stored for reading in the console, not sent, because no SMTP server is configured. */
export const emailStatuses = ['queued', 'sent', 'failed', 'kept'] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** An email without its content. */
export interface EmailSummary {
  mail_id: string
  org_id: string | null
  mode: 'test' | 'live' | null
  kind: EmailKind
  about: string | null
  to_name: string | null
  to_address: string
  status: EmailStatus
  attempts: number
  last_error: string | null
  created_at: Date
  sent_at: Date | null
}

/** Retry policy: the first retry is within a minute, the last one after more than a day. */
export const sendEmail = defineJob<{ mail_id: string }>('send-mail', {
  retries: 40,
  retryDelaySeconds: 15,
  maxRetryDelaySeconds: 3600,
  timeoutSeconds: 90,
  concurrency: 4,
})

/** Queues an email in the transaction of the change it reports: it is sent if and only if that transaction commits. */
export async function queueEmail(
  tx: Tx,
  { queue, clock, vault }: Pick<Context, 'queue' | 'clock' | 'vault'>,
  { kind, to, scope, subjectId, earliestSendTime, subject, text, html, replyTo }: NewEmail,
): Promise<string> {
  const now = clock.now()
  const emailId = newId('ML_', now)
  const content: EmailContent = { subject: toHeaderValue(subject), text, html, ...(replyTo ? { replyTo } : {}) }
  await tx
    .insertInto('mails')
    .values({
      mail_id: emailId,
      org_id: scope?.orgId ?? null,
      mode: scope?.mode ?? null,
      kind,
      about: subjectId ?? null,
      to_name: (to.name && toHeaderValue(to.name)) || null,
      to_address: to.address,
      content: vault.seal(JSON.stringify(content), contentPurpose(emailId)),
      status: 'queued',
      created_at: new Date(now),
    })
    .execute()
  await queue.enqueue(
    tx,
    sendEmail,
    { mail_id: emailId },
    earliestSendTime === undefined ? {} : { at: earliestSendTime },
  )
  return emailId
}

const MAX_HEADER_LENGTH = 300

/** Returns the text on one line and shortened, for use in an email header. */
export function toHeaderValue(text: string): string {
  return toSingleLine(text).slice(0, MAX_HEADER_LENGTH).toWellFormed()
}

export interface EmailFilter {
  scope?: OrgScope
  subjectId?: string
  kind?: EmailKind
  status?: EmailStatus
  /** The ID of the last email on the previous page. */
  beforeId?: string
  limit: number
}

/** Returns emails, newest first. */
export async function listEmails(
  queries: Queries,
  { scope, subjectId, kind, status, beforeId, limit }: EmailFilter,
): Promise<EmailSummary[]> {
  const rows = await selectSummaries(queries)
    .$if(scope !== undefined, (query) => query.where('org_id', '=', scope!.orgId).where('mode', '=', scope!.mode))
    .$if(subjectId !== undefined, (query) => query.where('about', '=', subjectId!))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(beforeId !== undefined, (query) => query.where('mail_id', '<', beforeId!))
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute()
  return rows as EmailSummary[]
}

export async function getEmail(queries: Queries, vault: Vault, emailId: string): Promise<EmailSummary & EmailContent> {
  const row = await selectSummaries(queries).select('content').where('mail_id', '=', emailId).executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Email ${emailId} not found.`)
  const { content, ...summary } = row
  return { ...(summary as EmailSummary), ...openContent(vault, emailId, content) }
}

function openContent(vault: Vault, emailId: string, content: Buffer): EmailContent {
  return JSON.parse(vault.open(content, contentPurpose(emailId))) as EmailContent
}

function selectSummaries(queries: Queries) {
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

/** Stores the outcome of an attempt to send an email. */
export async function recordSendAttempt(
  tx: Tx,
  emailId: string,
  now: number,
  outcome: { status: EmailStatus; error?: string },
): Promise<void> {
  await tx
    .updateTable('mails')
    .set(({ eb }) => ({
      status: outcome.status,
      last_error: outcome.error ?? null,
      attempts: outcome.status === 'kept' ? eb.ref('attempts') : eb('attempts', '+', 1),
      ...(outcome.status === 'sent' ? { sent_at: new Date(now) } : {}),
    }))
    .where('mail_id', '=', emailId)
    .where('status', '!=', 'sent')
    .execute()
}

/** Returns the purpose with which the vault encrypts an email's content, so that it cannot be decrypted as that of another email. */
function contentPurpose(emailId: string) {
  return `mail ${emailId}`
}
