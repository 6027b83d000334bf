import { type Config, isLoopback } from '../config.ts'

/** A header value such as `Attestry <no-reply@example.com>`, or its parts. */
type EmailSender = string | { name: string; address: string }

interface OutgoingEmail {
  from: EmailSender
  to: { name?: string | undefined; address: string }
  subject: string
  text: string
  html: string
  replyTo?: string | undefined
  /** The same for every attempt, so that an email client shows an email that was sent twice only once. */
  messageId: string
  headers?: Record<string, string>
  /** The ID by which a delivery report names the email. */
  reportId: string
  /** Address that receives delivery reports; the report ID is added to it as a tag. By default, the sender. */
  bounceAddress?: string | undefined
}

/** The SMTP server rejected an email or could not be reached. */
export class SmtpSendError extends Error {
  /** Whether every retry would fail too. */
  readonly permanent: boolean
  /** Whether the address does not exist, so that no email to it can be delivered. */
  readonly isUnknownAddress: boolean
  /** The error as nodemailer reported it. */
  readonly smtp: { code?: string | undefined; responseCode?: number | undefined; message: string }

  constructor(message: string, permanent: boolean, smtp: SmtpSendError['smtp']) {
    super(message)
    this.permanent = permanent
    this.isUnknownAddress = permanent && smtp.code === 'EENVELOPE' && reportsUnknownAddress(message)
    this.smtp = smtp
  }
}

export interface SmtpTransport {
  send(email: OutgoingEmail): Promise<void>
  /** Rejects if the server cannot be reached or rejects the credentials. */
  verify(): Promise<void>
  close(): void
}

const CONNECT_TIMEOUT_MS = 10_000
const SOCKET_TIMEOUT_MS = 30_000

/** Opens a pool of connections to an SMTP server. Connections are opened when the first email is sent. */
export async function openSmtp(smtpUrl: string): Promise<SmtpTransport> {
  const { createTransport } = await import('nodemailer') // loaded on demand: many deployments have no SMTP server
  const transport = createTransport({
    url: smtpUrl,
    ...(sendsPasswordOverNetwork(smtpUrl) ? { requireTLS: true } : {}),
    pool: true,
    maxConnections: 4,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0])
  return {
    async send({ to, headers, reportId, bounceAddress, ...email }) {
      try {
        await transport.sendMail({
          ...email,
          to: { name: to.name ?? '', address: to.address },
          headers: { 'Auto-Submitted': 'auto-generated', ...headers },
          // Ignored by nodemailer if the server does not offer delivery status notifications.
          dsn: {
            id: reportId,
            return: 'headers',
            notify: ['failure'],
            ...(isAscii(to.address) ? { recipient: to.address } : {}),
          },
          ...(bounceAddress ? { envelope: { from: taggedAddress(bounceAddress, reportId), to: to.address } } : {}),
        })
      } catch (error) {
        throw toSendError(error as NodemailerError)
      }
    },
    async verify() {
      await transport.verify()
    },
    close: () => transport.close(),
  }
}

/**
 * Returns whether the URL has a password that is sent to another machine, unless the URL has an option about it: someone on the way could
 * remove the offer of STARTTLS, and would then read the password and sign-in links.
 */
function sendsPasswordOverNetwork(smtpUrl: string): boolean {
  const { protocol, password, hostname, searchParams } = new URL(smtpUrl)
  if (searchParams.has('requireTLS') || searchParams.has('ignoreTLS')) return false
  return protocol === 'smtp:' && password !== '' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

interface NodemailerError extends Error {
  code?: string
  responseCode?: number
  response?: string
}

/** A 5xx response to the recipient or the message is permanent; every other error may be temporary. */
function toSendError({ code, responseCode, response, message }: NodemailerError): SmtpSendError {
  const isPermanent = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode >= 500
  return new SmtpSendError((response ?? message).slice(0, 500), isPermanent, { code, responseCode, message })
}

/**
 * Returns whether an SMTP response or a delivery report means that the address does not exist: status 5.1.1 (bad mailbox), 5.1.2 (bad
 * domain), 5.1.3 (bad syntax), 5.1.6 (mailbox moved), 5.1.10 (domain without mail) or 5.2.1 (mailbox disabled). Other 5.1 statuses are
 * about the sender. Servers without status codes use words.
 */
export function reportsUnknownAddress(text: string): boolean {
  const status = /\b5\.\d{1,3}\.\d{1,3}\b/.exec(text)?.[0]
  if (status && status !== '5.0.0') return /^5\.(1\.([1236]|10)|2\.1)$/.test(status)
  return /\b(user|mailbox|recipient|address|account) (is )?(unknown|not found|does not exist|doesn't exist)|\b(no such|unknown|invalid) (user|mailbox|recipient|address|account)/i.test(
    text,
  )
}

function isAscii(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Adds a tag to the local part: `bounces@example.com` becomes `bounces+ML_1@example.com`. */
function taggedAddress(address: string, tag: string): string {
  const atIndex = address.lastIndexOf('@')
  return `${address.slice(0, atIndex)}+${tag}${address.slice(atIndex)}`
}

/** Returns the sender of an email. With the name of an organisation, such as `Acme via Attestry <no-reply@example.com>`. */
export function senderFor({ mailFrom }: Pick<Config, 'mailFrom'>, organisation: string | undefined): EmailSender {
  if (organisation === undefined) return mailFrom
  const [, ownName = '', address = mailFrom.trim()] = /^\s*(.*?)\s*<([^<>]+)>\s*$/.exec(mailFrom) ?? []
  return { name: `${organisation} via ${ownName.replaceAll('"', '') || 'Attestry'}`, address }
}

/** Returns the domain of the sender's address, used in message IDs. */
export function senderDomain({ mailFrom }: Pick<Config, 'mailFrom'>): string {
  return /@([^\s@<>]+)>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost'
}
