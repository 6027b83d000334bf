import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { retryWhileUnavailable } from '../platform/database/outage.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import { deleteOldCounts } from './daily-limits.ts'
import { holdEmail, isHeld, startHeldEmailRelease } from './held-emails.ts'
import { findSendObstacle, getEmail, recordSendAttempt, sendEmail } from './mail.ts'
import { SmtpSendError, senderDomain, senderFor } from './smtp.ts'
import { suppressMailbox } from './suppressions.ts'
import { unsubscribeHeaders } from './unsubscribe-links.ts'

/** How long a worker tries to record that an email was sent, while the database is not available. */
const RECORD_TIMEOUT_MS = 60_000

const cleanUpEmailCounts = defineJob<Record<string, never>>('tidy-mail-counts')

export const emailJobs = [sendEmail, cleanUpEmailCounts]

export function handleEmailJobs(worker: Worker, context: Context): void {
  const { db, clock, config, vault, log, smtp, keyring } = context
  worker.run(() => startHeldEmailRelease(context))
  worker.handle(sendEmail, async ({ mail_id: emailId }) => {
    const email = await getEmail(db.queries, vault, emailId)
    if (email.status !== 'queued') return
    await keyring.ensureFresh()
    if (isHeld(context, email)) return db.transaction((tx) => holdEmail(tx, emailId))
    const recordOutcome = (outcome: Parameters<typeof recordSendAttempt>[3]) =>
      db.transaction((tx) => recordSendAttempt(tx, emailId, clock.now(), outcome))
    // The mailbox may have been suppressed, the member removed, or the person restricted since the email was queued.
    const personIds = sql`(select person_ids from mails where mail_id = ${emailId})::text[]`
    const obstacle = await findSendObstacle(db.queries, context, email, personIds)
    if (obstacle) return recordOutcome(obstacle)
    if (!smtp) return recordOutcome({ status: 'kept', reason: 'no_smtp' })
    try {
      await smtp.send({
        from: senderFor(config, email.fromName),
        to: { name: email.to_name ?? undefined, address: email.to_address },
        subject: email.subject,
        text: email.text,
        html: email.html,
        replyTo: email.replyTo,
        messageId: `<${emailId}@${senderDomain(config)}>`,
        reportId: emailId,
        bounceAddress: config.mailBounce,
        headers: unsubscribeHeaders(config, email.unsubscribeUrl),
      })
    } catch (error) {
      if (!(error instanceof SmtpSendError)) throw error
      const isFinal = error.permanent || email.attempts >= sendEmail.options.retries!
      await db.transaction(async (tx) => {
        const status = isFinal ? 'failed' : 'queued'
        await recordSendAttempt(tx, emailId, clock.now(), { status, error: error.message })
        if (error.isUnknownAddress && email.org_id !== null)
          await suppressMailbox(tx, context, {
            address: email.to_address,
            audience: 'all',
            reason: 'bounced',
            causedBy: emailId,
          })
      })
      // The queue stores the error, and the mail server may repeat the address in it.
      if (!isFinal) throw new Error(redactAddresses(error.message))
      log.warn({ email: emailId, reason: error.message }, 'sending an email failed, giving up')
      return
    }
    // If this failed, the job would be repeated and the email sent again.
    await retryWhileUnavailable(() => recordOutcome({ status: 'sent' }), RECORD_TIMEOUT_MS)
  })
  worker.handle(cleanUpEmailCounts, () => db.transaction((tx) => deleteOldCounts(tx, clock.now())))
  worker.schedule(cleanUpEmailCounts, '47 * * * *')
}
