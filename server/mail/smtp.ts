import type { Config } from '../config.ts'

interface OutgoingEmail {
  from: string
  to: { name?: string | undefined; address: string }
  subject: string
  text: string
  html: string
  replyTo?: string | undefined
  /** The same for every attempt, so that an email client shows an email that was sent twice only once. */
  messageId: string
  headers?: Record<string, string>
}

/** The SMTP server rejected an email or could not be reached. */
export class SmtpSendError extends Error {
  /** Whether every retry would fail too. */
  readonly permanent: boolean
  /** The error as nodemailer reported it. */
  readonly smtp: { code?: string | undefined; responseCode?: number | undefined; message: string }

  constructor(message: string, permanent: boolean, smtp: SmtpSendError['smtp']) {
    super(message)
    this.permanent = permanent
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
    pool: true,
    maxConnections: 4,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0])
  return {
    async send({ to, headers, ...email }) {
      try {
        await transport.sendMail({
          ...email,
          to: { name: to.name ?? '', address: to.address },
          headers: { 'Auto-Submitted': 'auto-generated', ...headers },
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

/** Returns the domain of the sender's address, used in message IDs. */
export function senderDomain({ mailFrom }: Pick<Config, 'mailFrom'>): string {
  return /@([^\s@<>]+)>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost'
}
