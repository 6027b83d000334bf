import type { Config } from '../config.ts'

export interface Letter {
  from: string
  to: { name?: string | undefined; address: string }
  subject: string
  text: string
  html: string
  replyTo?: string | undefined
  /** The same at every attempt, so that a mail program shows a mail once that was sent twice. */
  messageId: string
  headers?: Record<string, string>
}

/** Why a mail server did not take a letter, and whether it might another time. */
export class Undelivered extends Error {
  readonly permanent: boolean
  /** What the mail library said of it. */
  readonly smtp: { code?: string | undefined; responseCode?: number | undefined; message: string }

  constructor(message: string, permanent: boolean, smtp: Undelivered['smtp']) {
    super(message)
    this.permanent = permanent
    this.smtp = smtp
  }
}

export interface PostOffice {
  post(letter: Letter): Promise<void>
  /** Whether the server answers and takes the credentials. */
  verify(): Promise<void>
  close(): void
}

const CONNECT = 10_000
const SILENCE = 30_000

/** The mail server that SMTP_URL names. */
export async function openPostOffice(smtpUrl: string): Promise<PostOffice> {
  const { createTransport } = await import('nodemailer') // not loaded where no mail server is configured
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: 4,
    connectionTimeout: CONNECT,
    greetingTimeout: CONNECT,
    socketTimeout: SILENCE,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0])
  return {
    async post({ to, headers, ...letter }) {
      try {
        await transport.sendMail({
          ...letter,
          to: { name: to.name ?? '', address: to.address },
          headers: { 'Auto-Submitted': 'auto-generated', ...headers },
        })
      } catch (error) {
        throw undelivered(error as SmtpError)
      }
    },
    async verify() {
      await transport.verify()
    },
    close: () => transport.close(),
  }
}

interface SmtpError extends Error {
  code?: string
  responseCode?: number
  response?: string
}

/** A 5xx to the recipient or the message is final; anything else, the server's own troubles included, may pass. */
function undelivered({ code, responseCode, response, message }: SmtpError): Undelivered {
  const final = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode >= 500
  return new Undelivered((response ?? message).slice(0, 500), final, { code, responseCode, message })
}

/** The domain in MAIL_FROM, for message ids. */
export function mailDomain({ mailFrom }: Pick<Config, 'mailFrom'>): string {
  return /@([^\s@<>]+)>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost'
}
