import { Command } from 'commander'
import { createOrganisation, listOrganisations } from '../../server/access/organisations.ts'
import { examples } from '../examples.ts'
import { name } from '../options.ts'
import { facts, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

export function orgCommand(): Command {
  const org = new Command('org')
    .description('organisations: each owns its keys, mandates, campaigns and results')
    .addHelpText(...examples('org create --name "Acme Staffing"', 'org list'))

  org
    .command('create')
    .description('make an organisation')
    .requiredOption('--name <name>', 'what people call it', name)
    .addHelpText(...examples('org create --name "Acme Staffing"'))
    .action(async (options: { name: string }, command: Command) => {
      const made = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const organisation = await createOrganisation(tx, options.name, clock)
          const { org_id: orgId, name } = organisation
          await noteCommand(tx, clock, { orgId, action: 'org.create', subject: orgId, details: { name } })
          return organisation
        }),
      )
      print(
        command,
        made,
        () =>
          `${facts([
            ['Organisation', made.org_id],
            ['Name', made.name],
          ])}\n\nNext: npx attestry key create --org ${made.org_id} --mode test`,
      )
    })

  org
    .command('list')
    .description('all organisations, oldest first')
    .addHelpText(...examples('org list --json'))
    .action(async (_options: object, command: Command) => {
      const all = await withStore(({ db }) => listOrganisations(db.queries))
      print(command, all, () =>
        table(
          ['ORGANISATION', 'NAME', 'PARTNER API', 'CREATED'],
          all.map((row) => [row.org_id, row.name, row.service_off ? 'off' : 'on', row.created_at]),
          'There are no organisations yet. Make one: npx attestry org create --name NAME',
        ),
      )
    })
  return org
}
