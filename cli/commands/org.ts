import { Command } from 'commander'
import { createOrganisation, listOrganisations } from '../../server/access/organisations.ts'
import { examples } from '../examples.ts'
import { parseName } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function orgCommand(): Command {
  const org = new Command('org')
    .description('Manage organisations, which own keys, mandates, campaigns and results')
    .addHelpText(...examples('org create --name "Acme Staffing"', 'org list'))

  org
    .command('create')
    .description('Create an organisation')
    .requiredOption('--name <name>', 'display name', parseName)
    .addHelpText(...examples('org create --name "Acme Staffing"'))
    .action(async (options: { name: string }, command: Command) => {
      const createdOrganisation = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const organisation = await createOrganisation(tx, options.name, clock)
          const { org_id: orgId, name } = organisation
          await recordCliChange(tx, clock, { orgId, action: 'org.create', subject: orgId, details: { name } })
          return organisation
        }),
      )
      print(
        command,
        createdOrganisation,
        () =>
          `${fieldList([
            ['Organisation', createdOrganisation.org_id],
            ['Name', createdOrganisation.name],
          ])}\n\nNext: npx attestry key create --org ${createdOrganisation.org_id} --mode test`,
      )
    })

  org
    .command('list')
    .description('List all organisations, oldest first')
    .addHelpText(...examples('org list --json'))
    .action(async (_options: object, command: Command) => {
      const organisations = await withStore(({ db }) => listOrganisations(db.queries))
      print(command, organisations, () =>
        table(
          ['ORGANISATION', 'NAME', 'PARTNER API', 'CREATED'],
          organisations.map((row) => [row.org_id, row.name, row.service_off ? 'off' : 'on', row.created_at]),
          'No organisations yet. Create one: npx attestry org create --name NAME',
        ),
      )
    })
  return org
}
