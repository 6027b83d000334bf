import { Command } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { problem } from '../../server/api/problem.ts'
import { balanceOf, grantCredits } from '../../server/campaigns/credits.ts'
import { examples } from '../examples.ts'
import { parseMode, wholeNumberParser } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface Options {
  org: string
  mode: Mode
  amount: number
}

export function creditsCommand(): Command {
  const credits = new Command('credits')
    .description('Grant and show credits (enrolling a candidate costs one credit)')
    .addHelpText(...examples('credits grant --org ORG_… --mode live --amount 1000'))

  credits
    .command('grant')
    .description('Grant credits to an organisation (takes effect immediately)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--mode <mode>', 'test or live', parseMode)
    .requiredOption('--amount <n>', 'number of credits', wholeNumberParser(1, 1_000_000_000))
    .addHelpText(...examples('credits grant --org ORG_… --mode live --amount 1000'))
    .action(async ({ org, mode, amount }: Options, command: Command) => {
      const balance = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const balance = await grantCredits(tx, { orgId: org, mode }, clock, amount)
          await recordCliChange(tx, clock, {
            orgId: org,
            mode,
            action: 'credits.grant',
            subject: org,
            details: { amount },
          })
          return balance
        }),
      )
      print(
        command,
        { org_id: org, mode, amount, balance },
        () => `Granted ${formatCredits(amount, mode)}. The balance is now ${formatCredits(balance, mode)}.`,
      )
    })

  credits
    .command('show')
    .description('Show the credit balance of an organisation')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--mode <mode>', 'test or live', parseMode)
    .addHelpText(...examples('credits show --org ORG_… --mode live'))
    .action(async ({ org, mode }: Options, command: Command) => {
      const balance = await withStore(async ({ db }) => {
        const organisation = await db.queries
          .selectFrom('organisations')
          .select('org_id')
          .where('org_id', '=', org)
          .executeTakeFirst()
        if (!organisation) throw problem('NOT_FOUND', `Organisation ${org} not found.`)
        return balanceOf(db.queries, { orgId: org, mode })
      })
      print(command, { org_id: org, mode, balance }, () => `Balance: ${formatCredits(balance, mode)}.`)
    })
  return credits
}

function formatCredits(count: number, mode: Mode): string {
  return `${count} ${mode} ${count === 1 ? 'credit' : 'credits'}`
}
