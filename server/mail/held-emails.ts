import { sql } from 'kysely'
import { isNotPaused, type PausedOrganisations } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { startDuePoller } from '../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../platform/jobs/queue.ts'
import { type EmailSummary, sendEmail } from './mail.ts'

const HELD_REASON = 'held: the service of this organisation is switched off; the email is sent when it is switched on'
const BATCH_SIZE = 500

/** Returns whether an email must wait. Emails to operators, sign-in links and confirmation codes are always sent. */
export function isHeld({ keyring }: Pick<Context, 'keyring'>, { org_id, kind }: EmailSummary): boolean {
  return org_id !== null && kind !== 'sign_in' && kind !== 'confirmation_code' && keyring.isServicePaused(org_id)
}

/** Holds an email without counting an attempt. Its job ends; `startHeldEmailRelease` creates another one. */
export async function holdEmail(tx: Tx, emailId: string): Promise<void> {
  await tx
    .updateTable('mails')
    .set({ held: true, last_error: HELD_REASON })
    .where('mail_id', '=', emailId)
    .where('status', 'in', ['queued', 'kept'])
    .execute()
}

/** Queues held emails again, oldest first, as soon as their organisation is no longer paused. */
export function startHeldEmailRelease(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: async () => {
      const { rows } = await sql`
        select 1 from mails where held and ${isNotPaused(sql`org_id`, keyring.pausedOrganisations())} limit 1`.execute(
        db.queries,
      )
      return rows.length > 0 ? clock.now() : undefined
    },
    work: async (isStopped) => {
      await keyring.ensureFresh()
      const release = (tx: Tx) => releaseBatch(tx, context, keyring.pausedOrganisations())
      while (!isStopped() && (await db.transaction(release)) === BATCH_SIZE);
    },
    onError: (error) => log.warn({ err: error }, 'releasing held emails failed, retrying'),
  })
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}

async function releaseBatch(tx: Tx, { queue }: Pick<Context, 'queue'>, paused: PausedOrganisations): Promise<number> {
  const { rows } = await sql<{ mail_id: string }>`
    with released as (
      update mails set held = false, last_error = null where mail_id in (
        select mail_id from mails where held and ${isNotPaused(sql`org_id`, paused)}
        order by mail_id limit ${BATCH_SIZE} for update skip locked
      ) returning mail_id
    )
    select mail_id from released order by mail_id`.execute(tx)
  if (rows.length > 0) await queue.enqueueMany(tx, sendEmail, rows)
  return rows.length
}
