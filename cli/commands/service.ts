import { Command, Option } from 'commander'
import { switchService } from '../../server/access/organisations.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

export function serviceCommand(): Command {
  const service = new Command('service')
    .description('switch the partner API off and on again, as a whole or for one organisation')
    .addHelpText(...examples('service off --org ORG_…', 'service on'))
  for (const state of ['on', 'off'] as const) {
    service
      .command(state)
      .description(state === 'off' ? 'answer 503 SERVICE_DISABLED, within a second' : 'serve again')
      .addOption(new Option('--org <org>', 'only this organisation'))
      .addHelpText(...examples(`service ${state}`, `service ${state} --org ORG_…`))
      .action(async (options: { org?: string }, command: Command) => {
        await withStore(({ db, clock }) =>
          db.transaction(async (tx) => {
            await switchService(tx, state === 'off', options.org)
            await noteCommand(tx, clock, { orgId: options.org, action: `service.${state}`, subject: options.org })
          }),
        )
        print(
          command,
          { service: state, org_id: options.org ?? null },
          () => `The partner API is ${state}${options.org ? ` for ${options.org}` : ''}.`,
        )
      })
  }
  return service
}
