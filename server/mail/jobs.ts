import type { Context } from '../context.ts'
import type { Worker } from '../platform/jobs/queue.ts'
import { getMail, recordAttempt, sendMail } from './mail.ts'
import { mailDomain, Undelivered } from './smtp.ts'

export const mailJobs = [sendMail]

export function handleMailJobs(worker: Worker, context: Context): void {
  const { db, clock, config, vault, log, postOffice } = context
  worker.handle(sendMail, async ({ mail_id: mailId }) => {
    const mail = await getMail(db.queries, vault, mailId)
    if (mail.status === 'sent' || mail.status === 'failed') return
    const record = (status: 'sent' | 'failed' | 'queued' | 'kept', error?: string) =>
      db.transaction((tx) => recordAttempt(tx, mailId, clock.now(), { status, ...(error ? { error } : {}) }))
    if (!postOffice) return record('kept')
    try {
      await postOffice.post({
        from: config.mailFrom,
        to: { name: mail.to_name ?? undefined, address: mail.to_address },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        replyTo: mail.replyTo,
        messageId: `<${mailId}@${mailDomain(config)}>`,
      })
    } catch (error) {
      if (!(error instanceof Undelivered)) throw error
      const last = error.permanent || mail.attempts >= sendMail.options.retries!
      await record(last ? 'failed' : 'queued', error.message)
      if (!last) throw error
      log.warn({ mail: mailId, reason: error.message }, 'a mail could not be delivered')
      return
    }
    await record('sent')
  })
}
