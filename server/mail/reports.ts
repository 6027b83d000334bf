import { reportsUnknownAddress } from './smtp.ts'

/** A message that a mail server or a mailbox provider sent about one of our emails. */
export interface EmailReport {
  kind: 'bounce' | 'complaint'
  /** ID of the email (ML_…) or of the message to a candidate (MS_…). */
  emailId: string
  /** Whether the report says that the address does not exist. */
  isUnknownAddress: boolean
  /** The mail server's explanation. */
  error: string
  /** The addresses that the report is about, in lower case; empty if it names none. */
  recipients: string[]
}

export type InboundEmail = EmailReport | { kind: 'unsubscribe'; token: string }

const EMAIL_ID_PATTERN = /\b(ML|MS)_[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Z])/i
const UNSUBSCRIBE_SUBJECT_PATTERN = /^\s*unsubscribe\s+([\w-]{20,100})\s*$/i

/**
 * Reads a delivery status notification (RFC 3464), a complaint (RFC 5965), or a request to unsubscribe. Returns undefined for any
 * other email, such as a reply, and for reports that change nothing, such as a delay.
 */
export async function readInboundEmail(raw: Uint8Array): Promise<InboundEmail | undefined> {
  const { default: PostalMime } = await import('postal-mime') // loaded on demand: many deployments receive no reports
  const email = await PostalMime.parse(raw, { attachmentEncoding: 'arraybuffer' })
  const parts = email.attachments.map(({ mimeType, content }) => ({
    type: mimeType.toLowerCase(),
    text: Buffer.from(content as ArrayBuffer).toString(),
  }))
  const findPart = (...types: string[]) => parts.find(({ type }) => types.includes(type))?.text
  const headerValues = (...names: string[]) =>
    email.headers.filter(({ key }) => names.includes(key)).map(({ value }) => value)
  // The sender of our email carries its ID, so the report is addressed to it.
  const ownHeaders = headerValues('to', 'delivered-to', 'x-original-to', 'in-reply-to', 'references')
  const originalHeaders = parseFields(findPart('text/rfc822-headers', 'message/rfc822', 'message/global') ?? '')
  const originalIds = [originalHeaders.get('message-id') ?? '']

  const deliveryStatus = findPart('message/delivery-status', 'message/global-delivery-status')
  if (deliveryStatus !== undefined) {
    const [messageFields, ...recipientFields] = splitGroups(deliveryStatus).map(parseFields)
    const failure = recipientFields.find((fields) => fields.get('action')?.toLowerCase() === 'failed')
    const emailId = findEmailId([messageFields?.get('original-envelope-id') ?? '', ...originalIds, ...ownHeaders])
    if (!failure || emailId === undefined) return undefined
    const status = failure.get('status') ?? ''
    const diagnosis = (failure.get('diagnostic-code') ?? '').replace(/^[\w-]+;\s*/, '')
    return {
      kind: 'bounce',
      emailId,
      isUnknownAddress: reportsUnknownAddress(`${status} ${diagnosis}`),
      error: `${status} ${diagnosis}`.trim().slice(0, 500) || 'undeliverable',
      recipients: addressesOf(failure.get('original-recipient'), failure.get('final-recipient')),
    }
  }

  const feedback = findPart('message/feedback-report')
  if (feedback !== undefined) {
    const fields = parseFields(feedback)
    const type = fields.get('feedback-type')?.toLowerCase() ?? ''
    const emailId = findEmailId([
      ...originalIds,
      fields.get('original-envelope-id') ?? '',
      fields.get('original-mail-from') ?? '',
      ...ownHeaders,
    ])
    if (!COMPLAINT_TYPES.includes(type) || emailId === undefined) return undefined
    return {
      kind: 'complaint',
      emailId,
      isUnknownAddress: false,
      error: `reported as ${type}`,
      recipients: addressesOf(fields.get('original-rcpt-to')),
    }
  }

  const token = UNSUBSCRIBE_SUBJECT_PATTERN.exec(email.subject ?? '')?.[1]
  return token === undefined ? undefined : { kind: 'unsubscribe', token }
}

/** The other types report that an email is not spam, or problems of authentication. */
const COMPLAINT_TYPES = ['abuse', 'fraud', 'virus', 'other']

function findEmailId(texts: string[]): string | undefined {
  for (const text of texts) {
    const id = EMAIL_ID_PATTERN.exec(text)?.[0]
    if (id) return id.toUpperCase()
  }
  return undefined
}

/** Splits a delivery status into its groups of fields: of the message, then of each recipient. */
function splitGroups(text: string): string[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .filter((group) => group.trim() !== '')
}

/** Parses header fields, up to the first empty line. Of a repeated field, the first value counts. */
function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  const lines = text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/, 1)[0]!
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')
  for (const line of lines) {
    const colonIndex = line.indexOf(':')
    const name = line.slice(0, colonIndex).trim().toLowerCase()
    if (colonIndex > 0 && !fields.has(name)) fields.set(name, line.slice(colonIndex + 1).trim())
  }
  return fields
}

/** Reads addresses such as `rfc822; asha@example.com` or `<asha@example.com>`. */
function addressesOf(...values: (string | undefined)[]): string[] {
  return values
    .map((value) => /([^\s;<>]+@[^\s;<>]+)/.exec(value ?? '')?.[1]?.toLowerCase())
    .filter((address) => address !== undefined)
}
