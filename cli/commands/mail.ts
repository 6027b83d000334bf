import { Command, InvalidArgumentError } from 'commander'
import { describeStatusReason, getEmail, listEmails } from '../../server/mail/mail.ts'
import { listSuppressions, suppressMailbox, unsuppressMailbox } from '../../server/mail/suppressions.ts'
import { isEmail } from '../../server/verification/fields.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function mailCommand(): Command {
  const mail = new Command('mail')
    .description(
      'Read outgoing emails, and manage mailboxes that get none (without SMTP_URL, and in TEST mode, emails are stored with the status "kept", not sent)',
    )
    .addHelpText(...examples('mail list', 'mail show ML_…', 'mail suppress asha@example.com'))

  mail
    .command('list')
    .description('List emails, newest first')
    .option('--about <id>', 'only emails about this ID, such as a verification SV_…')
    .option('--limit <n>', 'maximum number of emails', wholeNumberParser(1, 1000), 25)
    .addHelpText(...examples('mail list --about SV_…'))
    .action(async ({ about, limit }: { about?: string; limit: number }, command: Command) => {
      const emails = await withStore(async ({ db, clock }) => {
        await db.transaction((tx) => recordCliChange(tx, clock, { action: 'email.list', subject: about }))
        return listEmails(db.queries, { limit, ...(about ? { subjectId: about } : {}) })
      })
      print(command, emails, () =>
        table(
          ['MAIL', 'ORGANISATION', 'MODE', 'KIND', 'TO', 'STATUS', 'ATTEMPTS', 'CREATED', 'REASON OR LAST ERROR'],
          emails.map((row) => [
            row.mail_id,
            row.org_id,
            row.mode,
            row.kind,
            row.to_address,
            row.status,
            row.attempts,
            row.created_at,
            describeStatusReason(row.status_reason) ?? row.last_error?.replace(/\s+/g, ' '),
          ]),
          about ? `No emails about ${about}.` : 'No emails yet.',
        ),
      )
    })

  mail
    .command('show')
    .description('Show an email as the recipient sees it (do not share the links in it: anyone can use them)')
    .argument('<mail>', 'email ID, ML_…')
    .addHelpText(...examples('mail show ML_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const email = await withStore(async ({ db, vault, clock }) => {
        const shownEmail = await getEmail(db.queries, vault, id)
        const { kind, org_id, mode } = shownEmail
        const scope = { orgId: org_id ?? undefined, mode: mode ?? undefined }
        await db.transaction((tx) =>
          recordCliChange(tx, clock, { ...scope, action: 'email.read', subject: id, details: { kind } }),
        )
        return shownEmail
      })
      print(
        command,
        email,
        () =>
          `${fieldList([
            ['To', email.to_name ? `${email.to_name} <${email.to_address}>` : email.to_address],
            ['Subject', email.subject],
            ['Status', email.last_error ? `${email.status}: ${email.last_error}` : email.status],
            ['Reason', describeStatusReason(email.status_reason)],
            ['Created', email.created_at],
          ])}\n\n${email.text}`,
      )
    })

  mail
    .command('suppress')
    .description(
      'Stop all emails to a mailbox, except sign-in links (tags and other spellings of the address included)',
    )
    .argument('<address>', 'email address', parseEmail)
    .addHelpText(...examples('mail suppress asha@example.com'))
    .action(async (address: string, _options: object, command: Command) => {
      const suppression = await withStore((store) =>
        store.db.transaction(async (tx) => {
          const created = await suppressMailbox(tx, store, { address, audience: 'all', reason: 'operator' })
          if (created)
            await recordCliChange(tx, store.clock, { action: 'mail.suppress', subject: created.suppression_id })
          return created
        }),
      )
      print(command, suppression ?? null, () =>
        suppression
          ? `No more emails are sent to ${address} (${suppression.suppression_id}).`
          : `${address} was already suppressed for all emails.`,
      )
    })

  mail
    .command('unsuppress')
    .description('Allow emails to a mailbox again: removes all its suppressions')
    .argument('<address>', 'email address', parseEmail)
    .addHelpText(...examples('mail unsuppress asha@example.com'))
    .action(async (address: string, _options: object, command: Command) => {
      const suppressions = await withStore((store) =>
        store.db.transaction(async (tx) => {
          const removed = await unsuppressMailbox(tx, store, address)
          for (const { suppression_id: subject, reason, audience } of removed)
            await recordCliChange(tx, store.clock, {
              action: 'mail.unsuppress',
              subject,
              details: { reason, audience },
            })
          return removed
        }),
      )
      print(command, suppressions, () =>
        suppressions.length > 0
          ? `Emails to ${address} are allowed again. Candidates who opted out of an organisation stay opted out.`
          : `${address} was not suppressed.`,
      )
    })

  mail
    .command('suppressions')
    .description('List suppressed mailboxes, newest first (without addresses: only a hash of each is stored)')
    .option('--limit <n>', 'maximum number of suppressions', wholeNumberParser(1, 1000), 25)
    .addHelpText(...examples('mail suppressions'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const suppressions = await withStore(({ db }) => listSuppressions(db.queries, { limit }))
      print(command, suppressions, () =>
        table(
          ['SUPPRESSION', 'REASON', 'EMAILS TO', 'ORGANISATION', 'CAUSED BY', 'CREATED'],
          suppressions.map((row) => [
            row.suppression_id,
            row.reason,
            row.audience,
            row.org_id ?? 'all',
            row.caused_by,
            row.created_at,
          ]),
          'No mailbox is suppressed.',
        ),
      )
    })

  return mail
}

function parseEmail(text: string): string {
  if (!isEmail(text)) throw new InvalidArgumentError('Expected an email address, such as asha@example.com.')
  return text
}
