import type { Context } from '../../context.ts'
import { headerText } from '../../mail/mail.ts'
import { mailDomain, openPostOffice, type PostOffice, Undelivered } from '../../mail/smtp.ts'
import { type Channel, SendError } from '../channel.ts'
import type { EmailSettings } from '../settings.ts'
import { letterOf } from './message.ts'

/** Mail servers of organisations to which connections are kept. */
const MOST_OFFICES = 50

/** Mail, by the organisation's own mail server or else by that of the deployment. Answers are given on the page. */
export function openEmail({ config, postOffice }: Pick<Context, 'config' | 'postOffice'>): Channel & { close(): void } {
  const offices = new Map<string, Promise<PostOffice>>()
  return {
    name: 'email',
    async send(message, credentials, signal) {
      const settings = credentials as EmailSettings | undefined
      const office = settings?.smtp_url ? await officeOf(settings.smtp_url) : postOffice
      if (!office) throw new SendError('refused', 'there is no mail server')
      const from = settings?.from ?? config.mailFrom
      const messageId = `<${message.message_id}@${mailDomain({ mailFrom: from })}>`
      const posting = office.post({
        from,
        to: { name: headerText(message.name), address: message.to },
        ...letterOf(message),
        replyTo: settings?.reply_to,
        messageId,
      })
      try {
        await before(signal, posting)
      } catch (error) {
        throw error instanceof Undelivered ? faultOf(error) : error
      }
      return { providerId: messageId }
    },
    close() {
      for (const office of offices.values()) office.then((open) => open.close()).catch(() => {})
      offices.clear()
    },
  }

  function officeOf(url: string): Promise<PostOffice> {
    const known = offices.get(url) ?? openPostOffice(url)
    offices.delete(url)
    offices.set(url, known) // the latest used is the last to go
    if (offices.size > MOST_OFFICES) {
      const [oldest, office] = offices.entries().next().value!
      offices.delete(oldest)
      office.then((open) => open.close()).catch(() => {})
    }
    return known
  }
}

/** The server may still take it after we have stopped waiting. */
function before(signal: AbortSignal, posting: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new SendError('unknown', 'no answer from the mail server in time'))
  signal.addEventListener('abort', giveUp)
  posting.catch(() => {}) // where nobody waits any more
  return Promise.race([posting, promise]).finally(() => signal.removeEventListener('abort', giveUp))
}

/** Errors that come up before anything of the mail is said. */
const UNCONNECTED = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|Connection timeout|Greeting never/

/** A connection that breaks on the way may have carried the mail; everything that the server says itself is definite. */
function faultOf({ message, smtp }: Undelivered): SendError {
  const { code, responseCode } = smtp
  if (responseCode !== undefined && responseCode >= 400 && responseCode < 500) return new SendError('busy', message)
  if (code === 'EENVELOPE') return new SendError('unreachable', message)
  if (code === 'EAUTH' || (responseCode !== undefined && responseCode >= 500)) return new SendError('refused', message)
  if (code === 'EDNS' || code === 'ETLS' || UNCONNECTED.test(smtp.message)) return new SendError('busy', message)
  return new SendError('unknown', message)
}
