import { Argument, Command } from 'commander'
import { discard, retryNow } from '../../server/console/operator/dead-letters.ts'
import { deadLetterQueues, listDeadLetters } from '../../server/platform/jobs/dead-letters.ts'
import { examples } from '../examples.ts'
import { wholeNumberParser } from '../options.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function deadLettersCommand(): Command {
  const deadLetters = new Command('dead-letters')
    .description('List, retry or discard rows that background work could not process')
    .addHelpText(...examples('dead-letters list', 'dead-letters retry contacts CD_…'))

  deadLetters
    .command('list')
    .description('List dead letters, newest first')
    .option('--limit <n>', 'maximum number of dead letters', wholeNumberParser(1, 1000), 25)
    .addHelpText(...examples('dead-letters list', 'dead-letters list --limit 100'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const letters = await withStore(({ db }) => listDeadLetters(db.queries, { limit }))
      print(command, letters, () =>
        table(
          ['QUEUE', 'ROW', 'ORGANISATION', 'MODE', 'ATTEMPTS', 'SINCE', 'NEXT RETRY', 'ERROR'],
          letters.map((letter) => [
            letter.queue,
            letter.subject_id,
            letter.org_id,
            letter.mode,
            letter.attempts,
            letter.first_failed_at,
            letter.retry_at ?? 'none',
            letter.error.replace(/\s+/g, ' '),
          ]),
          'No dead letters.',
        ),
      )
    })

  for (const [name, { apply, description, result }] of Object.entries(actions)) {
    deadLetters
      .command(name)
      .description(description)
      .addArgument(new Argument('<queue>', 'queue of the row').choices(deadLetterQueues))
      .argument('<row>', 'ID of the row')
      .addHelpText(...examples(`dead-letters ${name} contacts CD_…`))
      .action(async (queue: string, id: string, _options: object, command: Command) => {
        const letter = await withStore(({ db, clock }) =>
          db.transaction(async (tx) => {
            const changedLetter = await apply(tx, clock, queue, id)
            await recordCliChange(tx, clock, {
              orgId: changedLetter.org_id ?? undefined,
              action: `dead_letter.${name}`,
              subject: id,
            })
            return changedLetter
          }),
        )
        print(command, letter, () => `${id}: ${result}`)
      })
  }
  return deadLetters
}

const actions = {
  retry: {
    apply: retryNow,
    description: 'Retry a row now (a running worker processes it within seconds)',
    result: 'a worker retries it within seconds.',
  },
  discard: {
    apply: discard,
    description: 'Remove a row from its queue (a discarded contact ends with the result "failed")',
    result: 'discarded; it is not processed again.',
  },
}
