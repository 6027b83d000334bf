import { sql } from 'kysely'
import type { Mode } from '../../access/keys.ts'
import type { Context } from '../../context.ts'
import { queueEmail } from '../../mail/mail.ts'
import { DAY } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { languageOf } from '../auth/account-language.ts'
import { emailButton, emailHtml, emailParagraph } from '../email-parts.ts'
import { NOTICE_TEXTS } from './notice-texts.ts'

/** Owners are reminded this many days before a key expires. */
const REMINDER_DAYS = [30, 7, 1]
export const FIRST_REMINDER_DAYS = Math.max(...REMINDER_DAYS)

export const remindOfExpiringKeysJob = defineJob<Record<string, never>>('remind-of-expiring-keys')

interface ExpiringKey {
  key_id: string
  org_id: string
  mode: Mode
  name: string | null
  expires_at: Date
  days_before: number
}

type ReminderDeps = Pick<Context, 'clock' | 'config' | 'queue' | 'vault' | 'mailboxes'>

/**
 * Emails the owners of organisations whose keys expire soon: one email for all keys of an organisation and mode. Each key is announced
 * once per number of days; if the server was down when a reminder was due, only the latest one is sent.
 */
export async function remindOfExpiringKeys(tx: Tx, deps: ReminderDeps): Promise<void> {
  const now = new Date(deps.clock.now())
  const { rows } = await sql<ExpiringKey>`
    with expiring as (
      select key_id, org_id, mode, name, expires_at, created_at from partner_keys where revoked_at is null
      union all select key_id, org_id, mode, name, expires_at, created_at from session_keys where revoked_at is null
    ), due as (
      select distinct on (key_id) key_id, org_id, mode, name, expires_at, days_before
      from expiring cross join unnest(${REMINDER_DAYS}::int[]) as days_before
      where expires_at > ${now} and expires_at - make_interval(days => days_before) <= ${now}
        and expires_at - make_interval(days => days_before) > created_at
      order by key_id, days_before
    )
    insert into key_reminders (key_id, expires_at, days_before, sent_at)
    select key_id, expires_at, days_before, ${now} from due on conflict do nothing
    returning key_id, expires_at, days_before,
      (select org_id from due where due.key_id = key_reminders.key_id) as org_id,
      (select mode from due where due.key_id = key_reminders.key_id) as mode,
      (select name from due where due.key_id = key_reminders.key_id) as name`.execute(tx)
  for (const [, keys] of Map.groupBy(rows, ({ org_id, mode }) => `${org_id} ${mode}`)) await emailOwners(tx, deps, keys)
  await sql`delete from key_reminders where expires_at < ${now}`.execute(tx)
}

async function emailOwners(tx: Tx, deps: ReminderDeps, keys: ExpiringKey[]): Promise<void> {
  const { org_id: orgId, mode } = keys[0]!
  const owners = await tx
    .selectFrom('console_members as m')
    .innerJoin('organisations as o', 'o.org_id', 'm.org_id')
    .select(['m.email', 'm.language', 'o.name'])
    .where('m.org_id', '=', orgId)
    .where('m.role', '=', 'owner')
    .orderBy('m.member_id')
    .execute()
  const soonest = Math.min(...keys.map(({ expires_at }) => expires_at.getTime() - deps.clock.now()))
  const days = Math.ceil(soonest / DAY)
  const link = `${deps.config.publicUrl}/console/${orgId}/${mode}/keys`
  for (const { email, name, language: stored } of owners) {
    const language = languageOf(stored)
    const { keys: texts, time } = NOTICE_TEXTS[language]
    const lines = keys
      .map((key) => `${key.name ? `${key.name} (${key.key_id})` : key.key_id}: ${time(key.expires_at)}`)
      .sort()
    const { instructions, button } = texts
    const subject = texts.subject(name, mode, keys.length, days)
    const intro = texts.intro(name, mode, keys.length)
    await queueEmail(tx, deps, {
      kind: 'notice',
      to: { address: email },
      scope: { orgId, mode },
      subject,
      text: [intro, lines.join('\n'), instructions, link].join('\n\n'),
      html: emailHtml(language, subject, [
        emailParagraph(intro),
        ...lines.map(emailParagraph),
        emailParagraph(instructions),
        emailButton(button, link),
      ]),
    })
  }
}
