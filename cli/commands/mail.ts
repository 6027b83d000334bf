import { Command, InvalidArgumentError } from 'commander'
import { getMail, listMails } from '../../server/mail/mail.ts'
import { examples } from '../examples.ts'
import { facts, print, table } from '../print.ts'
import { withStore } from '../store.ts'

export function mailCommand(): Command {
  const mail = new Command('mail')
    .description('mails that were asked for; without SMTP_URL they are kept to be read here')
    .addHelpText(...examples('mail list', 'mail show ML_…'))

  mail
    .command('list')
    .description('newest first')
    .option('--about <id>', 'only mails about this, such as a verification SV_…')
    .option('--limit <n>', 'how many', upTo(1000), 25)
    .addHelpText(...examples('mail list --about SV_…'))
    .action(async ({ about, limit }: { about?: string; limit: number }, command: Command) => {
      const found = await withStore(({ db }) =>
        listMails(db.queries, { limit, ...(about ? { subjectId: about } : {}) }),
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
          'No mail was asked for yet.',
        ),
      )
    })

  mail
    .command('show')
    .description('one mail as its reader sees it; its links let in whoever opens them')
    .argument('<mail>', 'ML_…')
    .addHelpText(...examples('mail show ML_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const found = await withStore(({ db, vault }) => getMail(db.queries, vault, id))
      print(
        command,
        found,
        () =>
          `${facts([
            ['To', found.to_name ? `${found.to_name} <${found.to_address}>` : found.to_address],
            ['Subject', found.subject],
            ['Status', found.last_error ? `${found.status}: ${found.last_error}` : found.status],
            ['Created', found.created_at],
          ])}\n\n${found.text}`,
      )
    })

  return mail
}

function upTo(most: number) {
  return (text: string) => {
    const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
    if (number < 1 || number > most) throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`)
    return number
  }
}
