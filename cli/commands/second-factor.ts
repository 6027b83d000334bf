import { Command } from 'commander'
import { problem } from '../../server/api/problem.ts'
import { removeSecondFactors } from '../../server/console/second-factors/reset.ts'
import { examples } from '../examples.ts'
import { parseEmail } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function secondFactorCommand(): Command {
  const secondFactor = new Command('second-factor')
    .description('Manage the passkeys and authenticator apps of people who sign in to the console')
    .addHelpText(...examples('second-factor reset asha@example.com'))

  secondFactor
    .command('reset')
    .description('Remove the passkeys, the authenticator app and the recovery codes of a person who has lost them')
    .argument('<email>', 'email address of the person', parseEmail)
    .addHelpText(...examples('second-factor reset asha@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          if (!(await removeSecondFactors(tx, email)))
            throw problem('NOT_FOUND', `${email} has no passkey and no authenticator app.`)
          await recordCliChange(tx, clock, { action: 'second_factor.reset', details: { email } })
        }),
      )
      print(command, { email }, () => `${email} can sign in with an emailed link again.`)
    })

  return secondFactor
}
