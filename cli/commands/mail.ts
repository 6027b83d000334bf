import { Command } from 'commander'
import { getEmail, listEmails } from '../../server/mail/mail.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'

export function mailCommand(): Command {
  const mail = new Command('mail')
    .description('Read outgoing emails (without SMTP_URL, they are stored with the status kept instead of sent)')
    .addHelpText(...examples('mail list', 'mail show ML_…'))

  mail
    .command('list')
    .description('List emails, newest first')
    .option('--about <id>', 'only emails about this ID, such as a verification SV_…')
    .option('--limit <n>', 'maximum number of emails', wholeNumberParser(1, 1000), 25)
    .addHelpText(...examples('mail list --about SV_…'))
    .action(async ({ about, limit }: { about?: string; limit: number }, command: Command) => {
      const found = await withStore(({ db }) =>
        listEmails(db.queries, { limit, ...(about ? { subjectId: about } : {}) }),
      )
      print(command, found, () =>
        table(
          ['MAIL', 'KIND', 'TO', 'STATUS', 'ATTEMPTS', 'CREATED', 'LAST ERROR'],
          found.map((row) => [
            row.mail_id,
            row.kind,
            row.to_address,
            row.status,
            row.attempts,
            row.created_at,
            row.last_error?.replace(/\s+/g, ' '),
          ]),
          'No emails yet.',
        ),
      )
    })

  mail
    .command('show')
    .description('Show an email as the recipient sees it (anyone can use the links in it: do not share them)')
    .argument('<mail>', 'email ID, ML_…')
    .addHelpText(...examples('mail show ML_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const found = await withStore(({ db, vault }) => getEmail(db.queries, vault, id))
      print(
        command,
        found,
        () =>
          `${fieldList([
            ['To', found.to_name ? `${found.to_name} <${found.to_address}>` : found.to_address],
            ['Subject', found.subject],
            ['Status', found.last_error ? `${found.status}: ${found.last_error}` : found.status],
            ['Created', found.created_at],
          ])}\n\n${found.text}`,
      )
    })

  return mail
}
