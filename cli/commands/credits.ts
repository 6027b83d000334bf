import { Command } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { problem } from '../../server/api/problem.ts'
import { balanceOf, grantCredits } from '../../server/campaigns/credits.ts'
import { examples } from '../examples.ts'
import { mode, wholeNumber } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

interface Options {
  org: string
  mode: Mode
  amount: number
}

export function creditsCommand(): Command {
  const credits = new Command('credits')
    .description('credits: one is spent for each candidate enrolled')
    .addHelpText(...examples('credits grant --org ORG_… --mode live --amount 1000'))

  credits
    .command('grant')
    .description('add credits; in force at once')
    .requiredOption('--org <org>', 'ORG_…')
    .requiredOption('--mode <mode>', 'test or live', mode)
    .requiredOption('--amount <n>', 'how many', wholeNumber(1, 1_000_000_000))
    .addHelpText(...examples('credits grant --org ORG_… --mode live --amount 1000'))
    .action(async ({ org, mode, amount }: Options, command: Command) => {
      const balance = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const left = await grantCredits(tx, { orgId: org, mode }, clock, amount)
          await noteCommand(tx, clock, { orgId: org, mode, action: 'credits.grant', subject: org, details: { amount } })
          return left
        }),
      )
      print(
        command,
        { org_id: org, mode, amount, balance },
        () => `${amount} ${mode} credits granted; there are ${balance}.`,
      )
    })

  credits
    .command('show')
    .description('how many are left')
    .requiredOption('--org <org>', 'ORG_…')
    .requiredOption('--mode <mode>', 'test or live', mode)
    .addHelpText(...examples('credits show --org ORG_… --mode live'))
    .action(async ({ org, mode }: Options, command: Command) => {
      const balance = await withStore(async ({ db }) => {
        const known = await db.queries
          .selectFrom('organisations')
          .select('org_id')
          .where('org_id', '=', org)
          .executeTakeFirst()
        if (!known) throw problem('NOT_FOUND', `There is no organisation ${org}.`)
        return balanceOf(db.queries, { orgId: org, mode })
      })
      print(command, { org_id: org, mode, balance }, () => `${balance} ${mode} credits are left.`)
    })
  return credits
}
