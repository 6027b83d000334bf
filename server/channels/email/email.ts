import type { Context } from '../../context.ts'
import { toHeaderValue } from '../../mail/mail.ts'
import { openSmtp, SmtpSendError, type SmtpTransport, senderDomain, senderFor } from '../../mail/smtp.ts'
import { unsubscribeHeaders } from '../../mail/unsubscribe-links.ts'
import { breakLinks } from '../../platform/text/links.ts'
import { type ChannelAdapter, SendError } from '../channel.ts'
import type { EmailSettings } from '../settings.ts'
import { emailContent } from './message.ts'

/** Maximum number of organisations' SMTP servers with open connections; the least recently used is closed. */
const MAX_TRANSPORTS = 50

/** Sends email through the organisation's SMTP server, or else the deployment's. Candidates answer on their page. */
export function openEmail({ config, smtp }: Pick<Context, 'config' | 'smtp'>): ChannelAdapter & { close(): void } {
  const transports = new Map<string, Promise<SmtpTransport>>()
  return {
    name: 'email',
    async send(message, credentials, signal) {
      const settings = credentials as EmailSettings | undefined
      const transport = settings?.smtp_url ? await transportFor(settings.smtp_url) : smtp
      if (!transport) throw new SendError('rejected', 'no SMTP server is configured')
      const sender = settings?.from ?? config.mailFrom
      const messageId = `<${message.message_id}@${senderDomain({ mailFrom: sender })}>`
      const { fromName, replyTo, ...content } = emailContent(message)
      const sendPromise = transport.send({
        from: settings?.from ?? senderFor(config, fromName),
        to: { name: breakLinks(toHeaderValue(message.name)), address: message.to },
        ...content,
        replyTo: settings?.reply_to ?? replyTo,
        messageId,
        reportId: message.message_id,
        // An organisation's own mail server may reject a sender of another domain.
        ...(settings?.smtp_url ? {} : { bounceAddress: config.mailBounce }),
        headers: unsubscribeHeaders({ ...config, mailFrom: settings?.reply_to ?? sender }, message.unsubscribeUrl),
      })
      try {
        await withAbort(signal, sendPromise)
      } catch (error) {
        throw error instanceof SmtpSendError ? toSendError(error) : error
      }
      return { providerId: messageId }
    },
    close() {
      for (const transport of transports.values()) transport.then((opened) => opened.close()).catch(() => {})
      transports.clear()
    },
  }

  function transportFor(url: string): Promise<SmtpTransport> {
    const openedTransport = transports.get(url) ?? openSmtp(url)
    transports.delete(url)
    transports.set(url, openedTransport) // most recently used last
    if (transports.size > MAX_TRANSPORTS) {
      const [oldestUrl, transport] = transports.entries().next().value!
      transports.delete(oldestUrl)
      transport.then((opened) => opened.close()).catch(() => {})
    }
    return openedTransport
  }
}

/** Stops waiting when the signal aborts. The server may still accept the email, so the outcome is unknown. */
function withAbort(signal: AbortSignal, sending: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(new SendError('unknown', 'timeout waiting for the SMTP server'))
  signal.addEventListener('abort', abort)
  sending.catch(() => {}) // avoid an unhandled rejection after an abort
  return Promise.race([sending, promise]).finally(() => signal.removeEventListener('abort', abort))
}

/** Errors before any part of the email is transmitted. */
const CONNECTION_ERROR = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|Connection timeout|Greeting never/

/** SMTP status codes are definite; if the connection breaks during transmission, the outcome is unknown. */
function toSendError({ message, smtp, isUnknownAddress }: SmtpSendError): SendError {
  const { code, responseCode } = smtp
  if (responseCode !== undefined && responseCode >= 400 && responseCode < 500) return new SendError('busy', message)
  if (code === 'EENVELOPE') return new SendError('unreachable', message, undefined, isUnknownAddress)
  if (code === 'EAUTH' || (responseCode !== undefined && responseCode >= 500)) return new SendError('rejected', message)
  if (code === 'EDNS' || code === 'ETLS' || CONNECTION_ERROR.test(smtp.message)) return new SendError('busy', message)
  return new SendError('unknown', message)
}
