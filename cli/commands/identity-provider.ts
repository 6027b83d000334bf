import { Command } from 'commander'
import { problem } from '../../server/api/problem.ts'
import {
  findProviderOf,
  makeProviderOptional,
  providerRecord,
} from '../../server/console/identity-providers/identity-providers.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface ProviderOptions {
  org?: string
}

export function identityProviderCommand(): Command {
  const identityProvider = new Command('identity-provider')
    .description('Show the identity provider of an organisation or of the operators, or make it optional')
    .addHelpText(...examples('identity-provider show --org ORG_…', 'identity-provider make-optional'))

  identityProvider
    .command('show')
    .description('Show the settings of the identity provider, without its secret')
    .option('--org <org>', 'organisation ID, ORG_… (default: the operators)')
    .addHelpText(...examples('identity-provider show --org ORG_…'))
    .action(async ({ org }: ProviderOptions, command: Command) => {
      const provider = await withStore(({ db }) => findProviderOf(db.queries, org ?? null))
      if (!provider) throw noProviderProblem(org)
      const record = providerRecord(provider)
      print(command, record, () =>
        [
          `${record.name}: ${record.issuer}`,
          `Client ID: ${record.client_id}`,
          `Domains: ${record.allowed_domains.join(', ')}`,
          record.required ? 'Required: sign-in by email is off' : 'Not required: sign-in by email is on',
        ].join('\n'),
      )
    })

  identityProvider
    .command('make-optional')
    .description('Allow sign-in by email again, for use when the identity provider does not work')
    .option('--org <org>', 'organisation ID, ORG_… (default: the operators)')
    .addHelpText(...examples('identity-provider make-optional', 'identity-provider make-optional --org ORG_…'))
    .action(async ({ org }: ProviderOptions, command: Command) => {
      const provider = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const changedProvider = await makeProviderOptional(tx, org ?? null)
          if (!changedProvider) throw noProviderProblem(org)
          await recordCliChange(tx, clock, {
            action: 'identity_provider.optional',
            orgId: org,
            subject: changedProvider.provider_id,
          })
          return changedProvider
        }),
      )
      print(command, providerRecord(provider), () => `${provider.name} is no longer required; sign-in by email is on.`)
    })

  return identityProvider
}

function noProviderProblem(org: string | undefined) {
  return problem('NOT_FOUND', org ? `${org} has no identity provider.` : 'The operators have no identity provider.')
}
