import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { getEmail, recordAttempt, sendEmail } from './mail.ts'
import { SmtpSendError, senderDomain } from './smtp.ts'

export const emailJobs = [sendEmail]

export function handleEmailJobs(worker: Worker, { db, clock, config, vault, log, smtp }: Context): void {
  worker.handle(sendEmail, async ({ mail_id: emailId }) => {
    const email = await getEmail(db.queries, vault, emailId)
    if (email.status === 'sent' || email.status === 'failed') return
    const record = (status: 'sent' | 'failed' | 'queued' | 'kept', error?: string) =>
      db.transaction((tx) => recordAttempt(tx, emailId, clock.now(), { status, ...(error ? { error } : {}) }))
    if (!smtp) return record('kept')
    try {
      await smtp.send({
        from: config.mailFrom,
        to: { name: email.to_name ?? undefined, address: email.to_address },
        subject: email.subject,
        text: email.text,
        html: email.html,
        replyTo: email.replyTo,
        messageId: `<${emailId}@${senderDomain(config)}>`,
      })
    } catch (error) {
      if (!(error instanceof SmtpSendError)) throw error
      const final = error.permanent || email.attempts >= sendEmail.options.retries!
      await record(final ? 'failed' : 'queued', error.message)
      if (!final) throw error
      log.warn({ email: emailId, reason: error.message }, 'sending an email failed, giving up')
      return
    }
    await record('sent')
  })
}
