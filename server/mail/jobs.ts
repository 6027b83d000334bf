import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { getEmail, recordSendAttempt, sendEmail } from './mail.ts'
import { SmtpSendError, senderDomain } from './smtp.ts'

export const emailJobs = [sendEmail]

export function handleEmailJobs(worker: Worker, { db, clock, config, vault, log, smtp }: Context): void {
  worker.handle(sendEmail, async ({ mail_id: emailId }) => {
    const email = await getEmail(db.queries, vault, emailId)
    if (email.status === 'sent' || email.status === 'failed') return
    const recordStatus = (status: 'sent' | 'failed' | 'queued' | 'kept', error?: string) =>
      db.transaction((tx) => recordSendAttempt(tx, emailId, clock.now(), { status, ...(error ? { error } : {}) }))
    if (!smtp) return recordStatus('kept')
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
      const isFinal = error.permanent || email.attempts >= sendEmail.options.retries!
      await recordStatus(isFinal ? 'failed' : 'queued', error.message)
      if (!isFinal) throw error
      log.warn({ email: emailId, reason: error.message }, 'sending an email failed, giving up')
      return
    }
    await recordStatus('sent')
  })
}
