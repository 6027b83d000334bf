import { Command } from 'commander'
import { getEmail, listEmails } from '../../server/mail/mail.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'

export function mailCommand(): Command {
  const mail = new Command('mail')
    .description('Read outgoing emails (without SMTP_URL, they are not sent but stored with the status "kept")')
    .addHelpText(...examples('mail list', 'mail show ML_…'))

  mail
    .command('list')
    .description('List emails, newest first')
    .option('--about <id>', 'only emails about this ID, such as a verification SV_…')
    .option('--limit <n>', 'maximum number of emails', wholeNumberParser(1, 1000), 25)
    .addHelpText(...examples('mail list --about SV_…'))
    .action(async ({ about, limit }: { about?: string; limit: number }, command: Command) => {
      const emails = await withStore(({ db }) =>
        listEmails(db.queries, { limit, ...(about ? { subjectId: about } : {}) }),
      )
      print(command, emails, () =>
        table(
          ['MAIL', 'KIND', 'TO', 'STATUS', 'ATTEMPTS', 'CREATED', 'LAST ERROR'],
          emails.map((row) => [
            row.mail_id,
            row.kind,
            row.to_address,
            row.status,
            row.attempts,
            row.created_at,
            row.last_error?.replace(/\s+/g, ' '),
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
      const email = await withStore(({ db, vault }) => getEmail(db.queries, vault, id))
      print(
        command,
        email,
        () =>
          `${fieldList([
            ['To', email.to_name ? `${email.to_name} <${email.to_address}>` : email.to_address],
            ['Subject', email.subject],
            ['Status', email.last_error ? `${email.status}: ${email.last_error}` : email.status],
            ['Created', email.created_at],
          ])}\n\n${email.text}`,
      )
    })

  return mail
}
