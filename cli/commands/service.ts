import { Command, Option } from 'commander'
import { setServiceDisabled } from '../../server/access/organisations.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function serviceCommand(): Command {
  const service = new Command('service')
    .description('Switch the partner API on or off, for all organisations or for one')
    .addHelpText(...examples('service off --org ORG_…', 'service on'))
  for (const state of ['on', 'off'] as const) {
    service
      .command(state)
      .description(
        state === 'off'
          ? 'Switch the partner API off (takes effect within one second; calls return 503 SERVICE_DISABLED)'
          : 'Switch the partner API on',
      )
      .addOption(new Option('--org <org>', 'only for this organisation, ORG_…'))
      .addHelpText(...examples(`service ${state}`, `service ${state} --org ORG_…`))
      .action(async (options: { org?: string }, command: Command) => {
        await withStore(({ db, clock }) =>
          db.transaction(async (tx) => {
            await setServiceDisabled(tx, state === 'off', options.org)
            await recordCliChange(tx, clock, { orgId: options.org, action: `service.${state}`, subject: options.org })
          }),
        )
        print(
          command,
          { service: state, org_id: options.org ?? null },
          () => `The partner API is switched ${state}${options.org ? ` for ${options.org}` : ''}.`,
        )
      })
  }
  return service
}
