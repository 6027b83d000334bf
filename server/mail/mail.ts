import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { formatWait, realClock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { breakLinks } from '../platform/text/links.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Vault } from '../platform/vault.ts'
import { countEmail, type DailyLimit, type RecipientGroup, secondsUntilReset } from './daily-limits.ts'
import type { EmailReport } from './reports.ts'
import { type Audience, findSuppression, suppressMailbox } from './suppressions.ts'
import { isTestAddress } from './test-addresses.ts'
import type { UnsubscribeLink } from './unsubscribe-links.ts'

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
  /** The URL at which the recipient can unsubscribe, for the header List-Unsubscribe. */
  unsubscribeUrl?: string
}

export interface NewEmail extends Omit<EmailContent, 'unsubscribeUrl'> {
  kind: EmailKind
  to: { name?: string; address: string }
  /** Omitted for emails of the server itself, such as sign-in links, which are always sent. */
  scope?: OrgScope
  /** The ID of the record that the email is about, such as a verification; `listEmails` can filter by it. */
  subjectId?: string
  /** Earliest send time, in epoch milliseconds. */
  earliestSendTime?: number
  /** The link in the text, if the recipient can unsubscribe. */
  unsubscribeLink?: UnsubscribeLink
  /** Whether to throw RATE_LIMITED if a daily limit is reached. Without it, the email is stored as `skipped`. */
  rejectOverLimit?: boolean
}

/**
 * `kept`: stored for reading in the console, not sent. `skipped`: not sent, because a daily limit is reached or the mailbox is
 * suppressed. `bounced`: sent, and reported as undeliverable. The status reason has the details.
 */
export const emailStatuses = ['queued', 'sent', 'failed', 'kept', 'skipped', 'bounced'] as const
export type EmailStatus = (typeof emailStatuses)[number]

/** Why an email was not sent, or `complained`: the recipient reported it as spam. */
export const emailStatusReasons = [
  'no_smtp',
  'test_mode',
  'recipient_limit',
  'organisation_limit',
  'suppressed',
  'complained',
] as const
export type EmailStatusReason = (typeof emailStatusReasons)[number]

const STATUS_REASON_TEXTS: Record<EmailStatusReason, string> = {
  no_smtp: 'No email server is configured (SMTP_URL): emails are stored, not sent.',
  test_mode:
    "TEST emails are stored, not sent, except to the organisation's members and to addresses in TEST_MAIL_ALLOW.",
  recipient_limit: 'The daily limit of emails to this mailbox was reached.',
  organisation_limit: 'The daily limit of emails of this organisation was reached.',
  suppressed:
    'The mailbox is on the suppression list: the recipient unsubscribed or complained, emails to it bounced, or an operator added it.',
  complained: 'The recipient reported this email as spam.',
}

/** Explains a status reason in a sentence. */
export function describeStatusReason(reason: EmailStatusReason | null): string | undefined {
  return reason === null ? undefined : STATUS_REASON_TEXTS[reason]
}

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
  status_reason: EmailStatusReason | null
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

/** Tells whether an address belongs to a member of the organisation. Members are the only people whom TEST mode may write to. */
export const isMemberAddress = defineHook<[queries: Queries, orgId: string, address: string], boolean>(
  'isMemberAddress',
).handledBy('console')

export type EmailDeps = Pick<Context, 'queue' | 'clock' | 'vault' | 'config' | 'mailboxes'>

/**
 * Queues an email in the transaction of the change it reports: it is sent if and only if that transaction commits. An email that
 * must not be sent is stored with the reason.
 */
export async function queueEmail(tx: Tx, callerDeps: EmailDeps, email: NewEmail): Promise<string> {
  // Emails are sent, counted and listed in real time, also those of a session with a test clock.
  const deps = { ...callerDeps, clock: realClock(callerDeps.clock) }
  const { queue, clock, vault } = deps
  const { kind, to, scope, subjectId, earliestSendTime, subject, text, html, replyTo, unsubscribeLink } = email
  const now = clock.now()
  const emailId = newId('ML_', now)
  const content: EmailContent = {
    subject: toHeaderValue(subject),
    text,
    html,
    ...(replyTo ? { replyTo } : {}),
    ...(unsubscribeLink ? { unsubscribeUrl: unsubscribeLink.url } : {}),
  }
  const unsent =
    (await findSendObstacle(tx, deps, {
      kind,
      org_id: scope?.orgId ?? null,
      mode: scope?.mode ?? null,
      to_address: to.address,
    })) ?? (await countAgainstLimits(tx, deps, email))
  await tx
    .insertInto('mails')
    .values({
      mail_id: emailId,
      org_id: scope?.orgId ?? null,
      mode: scope?.mode ?? null,
      kind,
      about: subjectId ?? null,
      to_name: (to.name && breakLinks(toHeaderValue(to.name))) || null,
      to_address: to.address,
      content: vault.seal(JSON.stringify(content), contentPurpose(emailId)),
      status: unsent?.status ?? 'queued',
      status_reason: unsent?.reason ?? null,
      unsubscribe_hash: unsubscribeLink ? hashToken(unsubscribeLink.token) : null,
      created_at: new Date(now),
    })
    .execute()
  if (!unsent)
    await queue.enqueue(
      tx,
      sendEmail,
      { mail_id: emailId },
      earliestSendTime === undefined ? {} : { at: earliestSendTime },
    )
  return emailId
}

interface UnsentStatus {
  status: 'kept' | 'skipped'
  reason: EmailStatusReason
}

/** The role in which the recipient of each kind of email gets it; emails without one cannot be suppressed. */
const AUDIENCES: Record<EmailKind, Audience | undefined> = {
  review_request: 'reviewer',
  review_reminder: 'reviewer',
  review_outcome: 'student',
  candidate: 'candidate',
  notice: 'all',
  sign_in: undefined,
}

/**
 * Returns why an email must not be sent: its mailbox is suppressed, or it belongs to TEST mode and its recipient is neither a member
 * of the organisation nor in TEST_MAIL_ALLOW, or does not exist (a test address). Checked when the email is queued, and again before every attempt to send it.
 */
export async function findSendObstacle(
  queries: Queries,
  deps: Pick<Context, 'config' | 'mailboxes'>,
  { kind, org_id, mode, to_address }: Pick<EmailSummary, 'kind' | 'org_id' | 'mode' | 'to_address'>,
): Promise<UnsentStatus | undefined> {
  if (org_id === null) return undefined
  if (mode === 'test' && isTestAddress(to_address)) return { status: 'kept', reason: 'test_mode' }
  const audience = AUDIENCES[kind]
  const suppression =
    audience && (await findSuppression(queries, deps, { address: to_address, audience, orgId: org_id }))
  if (suppression) return { status: 'skipped', reason: 'suppressed' }
  if (mode !== 'test' || isAllowedInTest(deps.config.testMailAllow, to_address)) return undefined
  const { console: isMember } = await isMemberAddress.run(queries, org_id, to_address)
  return isMember ? undefined : { status: 'kept', reason: 'test_mode' }
}

function isAllowedInTest(entries: string[], address: string): boolean {
  const lowerCaseAddress = address.toLowerCase()
  return entries.some((entry) =>
    entry.startsWith('@')
      ? lowerCaseAddress.endsWith(entry) && !lowerCaseAddress.startsWith('@')
      : lowerCaseAddress === entry,
  )
}

const RECIPIENT_GROUPS: Record<EmailKind, RecipientGroup | undefined> = {
  review_request: 'review',
  review_reminder: 'review',
  review_outcome: 'review',
  candidate: 'candidate',
  notice: 'notice',
  sign_in: undefined, // limited per address and per IP address when the link is requested
}

async function countAgainstLimits(
  tx: Tx,
  deps: EmailDeps,
  { kind, to, scope, rejectOverLimit }: NewEmail,
): Promise<UnsentStatus | undefined> {
  const group = RECIPIENT_GROUPS[kind]
  if (!group || !scope || !deps.config.smtpUrl) return undefined // without SMTP_URL, nothing is sent
  const limit = await countEmail(tx, deps, { orgId: scope.orgId, group, address: to.address })
  if (limit && rejectOverLimit) throw dailyLimitProblem(deps, limit)
  return limit && { status: 'skipped', reason: limit }
}

function dailyLimitProblem({ clock, config }: Pick<Context, 'clock' | 'config'>, limit: DailyLimit) {
  const { perRecipient, perOrganisation } = config.mailLimits
  const retryAfter = secondsUntilReset(clock.now())
  const reason =
    limit === 'recipient_limit'
      ? `This mailbox has received the maximum of ${perRecipient} review emails per day, counted over all sessions and organisations`
      : `Your organisation has sent the maximum of ${perOrganisation} emails per day`
  const alternative = limit === 'recipient_limit' ? ', or use another reviewer' : ''
  return problem('RATE_LIMITED', `${reason}. Try again in ${formatWait(retryAfter)}${alternative}.`, { retryAfter })
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

/** Returns the email whose unsubscribe link contains the token. */
export async function findEmailByUnsubscribeToken(
  queries: Queries,
  tokenHash: Buffer,
): Promise<EmailSummary | undefined> {
  const row = await selectSummaries(queries).where('unsubscribe_hash', '=', tokenHash).executeTakeFirst()
  return row as EmailSummary | undefined
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
      'status_reason',
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
  outcome: { status: EmailStatus; reason?: EmailStatusReason; error?: string },
): Promise<void> {
  const wasAttempted = outcome.status !== 'kept' && outcome.status !== 'skipped'
  await tx
    .updateTable('mails')
    .set(({ eb }) => ({
      status: outcome.status,
      status_reason: outcome.reason ?? null,
      last_error: outcome.error ?? null,
      attempts: wasAttempted ? eb('attempts', '+', 1) : eb.ref('attempts'),
      ...(outcome.status === 'sent' ? { sent_at: new Date(now) } : {}),
    }))
    .where('mail_id', '=', emailId)
    .where('status', 'not in', ['sent', 'bounced'])
    .execute()
}

/** Applies a bounce or a complaint to an email. Returns false if there is no such email. Applying it again has no effect. */
export async function recordReport(
  tx: Tx,
  deps: Pick<Context, 'clock' | 'mailboxes'>,
  { emailId, kind, isUnknownAddress, error, recipients }: EmailReport,
): Promise<boolean> {
  const email = await selectSummaries(tx).where('mail_id', '=', emailId).forUpdate().executeTakeFirst()
  if (!email) return false
  const isComplaint = kind === 'complaint'
  // A report may be about another address that the recipient forwards emails to; then only the email has bounced.
  const isAboutRecipient = recipients.length === 0 || recipients.includes(email.to_address.toLowerCase())
  await tx
    .updateTable('mails')
    .set({ last_error: error, ...(isComplaint ? { status_reason: 'complained' } : { status: 'bounced' }) })
    .where('mail_id', '=', emailId)
    .execute()
  if (isComplaint || (isUnknownAddress && isAboutRecipient))
    await suppressMailbox(tx, deps, {
      address: email.to_address,
      audience: 'all',
      reason: isComplaint ? 'complained' : 'bounced',
      causedBy: emailId,
    })
  return true
}

/** Returns the purpose with which the vault encrypts an email's content, so that it cannot be decrypted as that of another email. */
function contentPurpose(emailId: string) {
  return `mail ${emailId}`
}

export const sealedEmails: SealedColumn = {
  table: 'mails',
  column: 'content',
  id: ['mail_id'],
  purpose: contentPurpose,
}
