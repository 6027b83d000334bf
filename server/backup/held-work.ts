import type pg from 'pg'

const MAY_HAVE_BEEN_SENT =
  'waiting in a restored backup; may have been sent after the backup was made, so it is not sent again'

export interface WithheldSends {
  emails: number
  messages: number
}

/**
 * Switches the service off for all organisations, and withholds emails and messages that were waiting when the backup was made: the server
 * that was lost may have sent them. Messages become sends whose process was lost, which the contact engine records as `unknown` and never
 * repeats; follow-ups continue. Runs in the transaction that makes the restored rows visible, so that no server starts before.
 */
export async function holdWork(client: pg.ClientBase, reason: string): Promise<WithheldSends> {
  await client.query(
    `update service_switch set service_off = true, service_off_since = coalesce(service_off_since, now()),
       service_off_reason = $1, paused_since = coalesce(paused_since, now())`,
    [reason],
  )
  const emails = await client.query(`update mails set status = 'failed', last_error = $1 where status = 'queued'`, [
    MAY_HAVE_BEEN_SENT,
  ])
  const messages = await client.query(
    `update messages set state = 'sending', leased_until = now() - interval '1 hour', error = $1
     where direction = 'out' and state in ('queued', 'sending')`,
    [MAY_HAVE_BEEN_SENT],
  )
  return { emails: emails.rowCount ?? 0, messages: messages.rowCount ?? 0 }
}
