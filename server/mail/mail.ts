import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import { findPersonIds, findPersonKeys } from '../people/identity/people.ts'
import { ERASED, openForPeople, type PersonKey, sealForPeople } from '../people/identity/person-key.ts'
import { formatWait, realClock } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { vaultOf } from '../platform/database/database-vault.ts'
import { defineHook } from '../platform/hook.ts'
import { newId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import { breakLinks } from '../platform/text/links.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import { redactTokens } from '../platform/text/redact-tokens.ts'
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
  'invitation',
  'notice',
  'confirmation_code',
  'candidate',
  'digest',
] as const
export type EmailKind = (typeof emailKinds)[number]

export interface EmailContent {
  subject: string
  text: string
  html: string
  /** The organisation in whose name the email is sent; by default, the sender is that of the configuration. */
  fromName?: string
  replyTo?: string
  /** The URL at which the recipient can unsubscribe, for the header List-Unsubscribe. */
  unsubscribeUrl?: string
}

export interface NewEmail extends Omit<EmailContent, 'unsubscribeUrl'> {
  kind: EmailKind
  to: { name?: string; address: string }
  /** Omitted for emails of the server itself, such as sign-in links, which are always sent. */
  scope?: OrgScope
  /**
   * The people whose values the email contains, the recipient first: the email becomes unreadable when one of them is erased. Omitted for
   * emails to members and operators.
   */
  people?: readonly { personId: string; key: PersonKey }[]
  /** The ID of the record that the email is about, such as a verification; `listEmails` can filter by it. */
  subjectId?: string
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
  'person_erased',
  'person_restricted',
] as const
export type EmailStatusReason = (typeof emailStatusReasons)[number]

/** Replaces a text with a code, which only its recipient may read. */
export const HIDDEN_CODE = 'A message with a confirmation code, which only its recipient can read.'

const STATUS_REASON_TEXTS: Record<EmailStatusReason, string> = {
  no_smtp: 'No email server is configured (SMTP_URL): emails are stored, not sent.',
  test_mode:
    "TEST emails are stored, not sent, except to the organisation's members and to addresses in TEST_MAIL_ALLOW.",
  recipient_limit: 'The daily limit of emails to this mailbox was reached.',
  organisation_limit: 'The daily limit of emails of this organisation was reached.',
  suppressed:
    'The mailbox is on the suppression list: the recipient unsubscribed or complained, emails to it bounced, or an operator added it.',
  complained: 'The recipient reported this email as spam.',
  person_erased: 'The recipient, or a person in the email, was erased.',
  person_restricted:
    'The recipient, or a person in the email, withdrew consent, or the processing of their data is restricted.',
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
  const { kind, to, scope, subjectId, subject, text, html, fromName, replyTo, unsubscribeLink } = email
  const now = clock.now()
  const emailId = newId('ML_', now)
  const content: EmailContent = {
    subject: toHeaderValue(subject),
    text,
    html,
    ...(fromName ? { fromName: toHeaderValue(fromName) } : {}),
    ...(replyTo ? { replyTo } : {}),
    ...(unsubscribeLink ? { unsubscribeUrl: unsubscribeLink.url } : {}),
  }
  const unsent =
    (await findSendObstacle(
      tx,
      deps,
      { kind, org_id: scope?.orgId ?? null, mode: scope?.mode ?? null, to_address: to.address },
      sql`${(email.people ?? []).map(({ personId }) => personId)}::text[]`,
    )) ?? (await countAgainstLimits(tx, deps, email))
  await tx
    .insertInto('mails')
    .values({
      mail_id: emailId,
      org_id: scope?.orgId ?? null,
      mode: scope?.mode ?? null,
      kind,
      about: subjectId ?? null,
      ...sealEmail(vault, emailId, email, {
        ...content,
        to_name: (to.name && breakLinks(toHeaderValue(to.name))) || null,
        to_address: to.address,
      }),
      status: unsent?.status ?? 'queued',
      status_reason: unsent?.reason ?? null,
      unsubscribe_hash: unsubscribeLink ? hashToken(unsubscribeLink.token) : null,
      created_at: new Date(now),
    })
    .execute()
  if (!unsent) await queue.enqueue(tx, sendEmail, { mail_id: emailId })
  return emailId
}

/** The content and the recipient of an email, which are sealed together. */
type SealedEmail = EmailContent & Pick<EmailSummary, 'to_name' | 'to_address'>

/**
 * Seals an email for the people in it. An email without people is sealed by the vault, and its recipient, a member or an operator, is
 * stored as it is.
 */
function sealEmail(vault: Vault, emailId: string, { people = [] }: NewEmail, email: SealedEmail) {
  if (people.length === 0) {
    const { to_name, to_address, ...content } = email
    return { to_name, to_address, content: vault.seal(JSON.stringify(content), contentPurpose(emailId)) }
  }
  const keys = people.map(({ key }) => key)
  const readableKeys = keys.filter((key): key is Buffer => key !== null)
  if (readableKeys.length < keys.length) throw problem('CONFLICT', 'The person was erased; no email is sent.')
  return {
    person_ids: people.map(({ personId }) => personId),
    personal: sealForPeople(readableKeys, email, contentPurpose(emailId)),
  }
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
  invitation: 'all',
  notice: 'all',
  digest: 'all',
  confirmation_code: 'all',
  sign_in: undefined,
}

/**
 * Returns why an email must not be sent: a person in it is restricted (confirmation codes are sent nevertheless), its mailbox is
 * suppressed, or it belongs to TEST mode and its recipient is neither a member
 * of the organisation nor in TEST_MAIL_ALLOW, or does not exist (a test address). Checked when the email is queued, and again before every attempt to send it.
 */
export async function findSendObstacle(
  queries: Queries,
  deps: Pick<Context, 'config' | 'mailboxes'>,
  { kind, org_id, mode, to_address }: Pick<EmailSummary, 'kind' | 'org_id' | 'mode' | 'to_address'>,
  personIds: RawBuilder<unknown>,
): Promise<UnsentStatus | undefined> {
  if (org_id === null) return undefined
  if (kind !== 'confirmation_code' && (await isAnyRestricted(queries, personIds)))
    return { status: 'skipped', reason: 'person_restricted' }
  if (mode === 'test' && isTestAddress(to_address)) return { status: 'kept', reason: 'test_mode' }
  const audience = AUDIENCES[kind]
  const suppression =
    audience && (await findSuppression(queries, deps, { address: to_address, audience, orgId: org_id }))
  if (suppression) return { status: 'skipped', reason: 'suppressed' }
  if (mode !== 'test' || isAllowedInTest(deps.config.testMailAllow, to_address)) return undefined
  const { console: isMember } = await isMemberAddress.run(queries, org_id, to_address)
  return isMember ? undefined : { status: 'kept', reason: 'test_mode' }
}

async function isAnyRestricted(queries: Queries, personIds: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`
    select 1 from people where person_id = any (${personIds}) and restricted_at is not null limit 1`.execute(queries)
  return rows.length > 0
}

function isAllowedInTest(entries: string[], address: string): boolean {
  const lowerCaseAddress = address.toLowerCase()
  return entries.some((entry) =>
    entry.startsWith('@') ? lowerCaseAddress.endsWith(entry) : lowerCaseAddress === entry,
  )
}

const RECIPIENT_GROUPS: Record<EmailKind, RecipientGroup | undefined> = {
  review_request: 'review',
  review_reminder: 'review',
  review_outcome: 'review',
  candidate: 'candidate',
  invitation: 'notice',
  notice: 'notice',
  digest: 'notice',
  confirmation_code: 'notice',
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
  /** Part of the recipient's address or name. */
  recipient?: string | undefined
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
  { scope, subjectId, kind, status, recipient, beforeId, limit }: EmailFilter,
): Promise<EmailSummary[]> {
  const rows = await selectSummaries(queries)
    .$if(scope !== undefined, (query) => query.where('org_id', '=', scope!.orgId).where('mode', '=', scope!.mode))
    .$if(subjectId !== undefined, (query) => query.where('about', '=', subjectId!))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .$if(recipient !== undefined, (query) => query.where(emailRecipientCondition(recipient!)))
    .$if(beforeId !== undefined, (query) => query.where('mail_id', '<', beforeId!))
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute()
  return (await openEmails(queries, rows)).map(({ content: _, ...summary }) => summary)
}

/** Returns the condition that a recipient's address contains a text, or that the text is the ID of the email. */
export function emailRecipientCondition(text: string) {
  const pattern = `%${text
    .trim()
    .toLowerCase()
    .replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`(lower(to_address) like ${pattern} or lower(to_name) like ${pattern} or mail_id = ${text.trim()})`
}

export async function getEmail(queries: Queries, vault: Vault, emailId: string): Promise<EmailSummary & EmailContent> {
  const row = await selectSummaries(queries)
    .select('content as vault_content')
    .where('mail_id', '=', emailId)
    .executeTakeFirst()
  if (!row) throw problem('NOT_FOUND', `Email ${emailId} not found.`)
  const { vault_content, ...stored } = row
  const [email] = await openEmails(queries, [stored])
  const { content, ...summary } = email!
  if (content) return { ...summary, ...content }
  return { ...summary, ...(vault_content ? openContent(vault, emailId, vault_content) : ERASED_CONTENT) }
}

const ERASED_CONTENT: EmailContent = { subject: ERASED, text: ERASED, html: ERASED }

/** A row as it is stored. */
type StoredEmail = { person_ids: string[] | null; personal: Buffer | null; to_address: string | null; mail_id: string }

/** Returns emails with their recipient and, if it was sealed for people, their content. */
async function openEmails(
  queries: Queries,
  rows: StoredEmail[],
): Promise<(EmailSummary & { content: EmailContent | undefined })[]> {
  const keys = await findPersonKeys(
    queries,
    rows.flatMap(({ person_ids }) => person_ids ?? []),
  )
  return rows.map(({ person_ids, personal, ...row }) => {
    const summary = row as unknown as EmailSummary
    if (person_ids === null) return { ...summary, content: undefined }
    const personKeys = person_ids.map((id) => keys.get(id) ?? null)
    const email = openForPeople<SealedEmail>(personKeys, personal, contentPurpose(row.mail_id))
    if (!email) return { ...summary, to_name: null, to_address: ERASED, content: ERASED_CONTENT }
    const { to_name, to_address, ...content } = email
    return { ...summary, to_name, to_address, content }
  })
}

const SEAL_BATCH_SIZE = 200

/**
 * Seals a batch of emails that earlier versions stored. Emails about a verification are sealed for the reviewer and the student; others for
 * the person who has the address, if there is one: the rest are emails to members and operators.
 */
export async function sealExistingEmails(tx: Tx, after: string) {
  const vault = vaultOf(tx)
  const { rows } = await sql<PlainEmail>`
    select m.mail_id, m.org_id, m.mode, m.kind, m.to_name, m.to_address, m.content, m.last_error, s.person_id as student_id,
      r.person_id as reviewer_id
    from mails m left join verification_sessions s on s.verification_id = m.about
      left join verification_reviews r on r.verification_id = m.about
    where m.mail_id > ${after} and m.person_ids is null and m.org_id is not null and m.kind <> 'sign_in' and m.to_address is not null
    order by m.mail_id limit ${SEAL_BATCH_SIZE} for update of m`.execute(tx)
  for (const email of rows) {
    const { mail_id, to_name, to_address, content, last_error } = email
    const personIds = await peopleOfPlainEmail(tx, email)
    if (personIds.length === 0) continue
    const keys = await findPersonKeys(tx, personIds)
    const people = personIds.map((personId) => keys.get(personId) ?? null).filter((key): key is Buffer => key !== null)
    const personal =
      people.length === personIds.length
        ? sealForPeople(
            people,
            { to_name, to_address, ...openContent(vault, mail_id, content) },
            contentPurpose(mail_id),
          )
        : null
    await sql`update mails set person_ids = ${personIds}::text[], personal = ${personal}, to_name = null, to_address = null,
      content = null, last_error = ${last_error && redactAddresses(last_error)} where mail_id = ${mail_id}`.execute(tx)
  }
  return { rows: rows.length, last: rows.length === SEAL_BATCH_SIZE ? rows.at(-1)!.mail_id : undefined }
}

interface PlainEmail {
  mail_id: string
  org_id: string
  mode: 'test' | 'live' | null
  kind: EmailKind
  to_name: string | null
  to_address: string
  content: Buffer
  last_error: string | null
  student_id: string | null
  reviewer_id: string | null
}

async function peopleOfPlainEmail(tx: Tx, email: PlainEmail): Promise<string[]> {
  const { org_id: orgId, mode, kind, to_address, student_id, reviewer_id } = email
  const ids = kind === 'review_outcome' ? [student_id, reviewer_id] : [reviewer_id, student_id]
  const known = ids.filter((id): id is string => id !== null)
  if (known.length > 0 || mode === null) return known
  return (await findPersonIds(tx, { orgId, mode }, { email: to_address })).slice(0, 1)
}

/** Ends the emails of a person who is erased: those that are not sent yet are skipped, and their links no longer work. */
export async function skipEmailsOf(tx: Tx, _deps: ErasureDeps, { personId }: PersonRef): Promise<void> {
  await sql`update mails set status = 'skipped', status_reason = 'person_erased', held = false
    where mail_id in (select mails_of_person(${personId})) and status = 'queued'`.execute(tx)
  await sql`update mails set unsubscribe_hash = null, last_error = null
    where mail_id in (select mails_of_person(${personId})) and person_ids[1] = ${personId}`.execute(tx)
}

/**
 * Returns the emails to a person. Codes and the tokens of links are left out, because the organisation can read the export: with the
 * token of a review link, it could submit the review itself.
 */
export async function exportEmails(
  queries: Queries,
  _deps: ErasureDeps,
  { personId }: PersonRef,
): Promise<ExportSection[]> {
  const rows = await selectSummaries(queries)
    .where(sql<boolean>`mail_id in (select mails_of_person(${personId})) and person_ids[1] = ${personId}`)
    .orderBy('mail_id')
    .execute()
  const emails = await openEmails(queries, rows)
  const records = emails.map(({ mail_id, kind, to_address, status, content, created_at, sent_at }) => ({
    mail_id,
    to: to_address,
    subject: content?.subject ?? '',
    text: kind === 'confirmation_code' ? HIDDEN_CODE : redactTokens(content?.text ?? ''),
    status,
    created_at: created_at.toISOString(),
    sent_at: sent_at?.toISOString() ?? null,
  }))
  return [{ name: 'emails', title: 'Emails', records }]
}

/** Returns the email whose unsubscribe link contains the token. */
export async function findEmailByUnsubscribeToken(
  queries: Queries,
  tokenHash: Buffer,
): Promise<EmailSummary | undefined> {
  const row = await selectSummaries(queries).where('unsubscribe_hash', '=', tokenHash).executeTakeFirst()
  return row && (await openEmails(queries, [row]))[0]
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
      'person_ids',
      'personal',
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
      last_error: outcome.error === undefined ? null : redactAddresses(outcome.error),
      attempts: wasAttempted ? eb('attempts', '+', 1) : eb.ref('attempts'),
      ...(outcome.status === 'sent' ? { sent_at: new Date(now) } : {}),
    }))
    .where('mail_id', '=', emailId)
    .where('status', 'not in', ['sent', 'bounced', 'skipped'])
    .execute()
}

/** Applies a bounce or a complaint to an email. Returns false if there is no such email. Applying it again has no effect. */
export async function recordReport(
  tx: Tx,
  deps: Pick<Context, 'clock' | 'mailboxes'>,
  { emailId, kind, isUnknownAddress, error, recipients }: EmailReport,
): Promise<boolean> {
  const row = await selectSummaries(tx).where('mail_id', '=', emailId).forUpdate().executeTakeFirst()
  const [email] = row ? await openEmails(tx, [row]) : []
  // The address of an erased person is not known.
  if (!email || email.to_address === ERASED) return false
  const isComplaint = kind === 'complaint'
  // A report may be about another address that the recipient forwards emails to; then only the email has bounced.
  const isAboutRecipient = recipients.length === 0 || recipients.includes(email.to_address.toLowerCase())
  await tx
    .updateTable('mails')
    .set({
      last_error: error === undefined ? null : redactAddresses(error),
      ...(isComplaint ? { status_reason: 'complained' } : { status: 'bounced' }),
    })
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
