import { sql } from 'kysely'
import { findEmailBrand } from '../branding/email-brand.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import { queueMessages } from '../campaigns/contact/messages.ts'
import type { ChannelName } from '../channels/channel.ts'
import { findCountryRefusal } from '../channels/country-refusal.ts'
import { availableChannels, findCredentials } from '../channels/credentials.ts'
import type { Context } from '../context.ts'
import { type EmailDeps, queueEmail } from '../mail/mail.ts'
import { plainEmail } from '../mail/plain-email.ts'
import { lockPersonKey } from '../people/identity/people.ts'
import { HOUR } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import { findReview } from '../verification/reviews/reviews.ts'
import { findVerification } from '../verification/sessions.ts'
import type { Subject } from './subjects.ts'

/** A stored phone number or email address of a person, to which a code can be sent. */
export interface ContactAddress {
  kind: 'phone' | 'email'
  address: string
  /** The channel that delivers to the phone number; undefined for an email address. */
  channel?: ChannelName
}

export type AddressDeps = EmailDeps & Pick<Context, 'smtp'>

/** WhatsApp delivers free text only within this time after the last message of the person. */
const WHATSAPP_WINDOW_MS = 24 * HOUR

/** Returns the stored addresses to which a code can be sent now. */
export async function listContactAddresses(
  queries: Queries,
  deps: AddressDeps,
  subject: Subject,
): Promise<ContactAddress[]> {
  if (subject.kind !== 'candidate') {
    const email =
      subject.kind === 'session'
        ? (await findVerification(queries, deps.clock, subject.id))?.student.email
        : (await findReview(queries, subject.id))?.email
    return email ? [{ kind: 'email', address: email }] : []
  }
  const { phone, email } = (await findCandidacy(queries, subject.id))!
  if (phone) {
    // The email address of a candidate with a phone number is not verified: it may belong to another person.
    const channel = await findPhoneChannel(queries, deps, subject, phone)
    return channel ? [{ kind: 'phone', address: phone, channel }] : []
  }
  return email ? [{ kind: 'email', address: email }] : []
}

/** Returns the channel that can deliver free text to the phone of a candidate now. In TEST mode, the simulator delivers it. */
async function findPhoneChannel(
  queries: Queries,
  { clock, vault }: AddressDeps,
  { id, scope }: Subject,
  phone: string,
): Promise<ChannelName | undefined> {
  if (scope.mode === 'test') return 'sms'
  const channels = await availableChannels(queries, scope.orgId, false)
  if (channels.has('sms')) {
    const credentials = await findCredentials(queries, vault, scope.orgId, 'sms')
    if (!findCountryRefusal('sms', credentials, phone)) return 'sms'
  }
  if (!channels.has('whatsapp')) return undefined
  const { rows } = await sql`
    select 1 from messages where candidate_id = ${id} and direction = 'in' and channel = 'whatsapp'
      and created_at > ${new Date(clock.now() - WHATSAPP_WINDOW_MS)} limit 1`.execute(queries)
  return rows.length > 0 ? 'whatsapp' : undefined
}

/**
 * Queues a text with a code to an address of the person, in the transaction of the request. Returns `not_sent` if the mailbox is
 * suppressed or a daily limit is reached.
 */
export async function sendCode(
  tx: Tx,
  deps: AddressDeps,
  subject: Subject,
  { kind, address, channel }: ContactAddress,
  { text, code, title, language }: { text: string; code: string; title: string; language: Language },
): Promise<'sent' | 'not_sent' | 'erased'> {
  if (kind === 'phone') {
    const candidate = (await findCandidacy(tx, subject.id))!
    await queueMessages(tx, deps.clock, [{ candidate, channel: channel!, prompts: [], text, code }])
    return 'sent'
  }
  const personId = subject.personId!
  const key = await lockPersonKey(tx, personId)
  if (key === null) return 'erased'
  const emailId = await queueEmail(tx, deps, {
    kind: 'confirmation_code',
    to: { address },
    scope: subject.scope,
    people: [{ personId, key }],
    subjectId: subject.id,
    ...plainEmail({
      language,
      subject: title,
      paragraphs: [text],
      brand: await findEmailBrand(tx, deps.config, subject.scope.orgId),
    }),
  })
  const { rows } = await sql<{ status: string }>`select status from mails where mail_id = ${emailId}`.execute(tx)
  return rows[0]!.status === 'skipped' ? 'not_sent' : 'sent'
}

/** Masks an address so that only its owner recognises it: `+91 •••• 3210`, `a•••@example.com`. */
export function maskAddress({ kind, address }: Pick<ContactAddress, 'kind' | 'address'>): string {
  if (kind === 'phone') return `${address.slice(0, 3)} •••• ${address.slice(-4)}`
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}•••${address.slice(at)}`
}
