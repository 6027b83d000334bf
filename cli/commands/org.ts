import { Command } from 'commander'
import {
  createOrganisation,
  DEFAULT_LIMIT_FACTOR,
  DEFAULT_MAX_KEYS,
  listOrganisations,
  type Organisation,
  type OrganisationLimitsChange,
  organisationLimits,
} from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { examples } from '../examples.ts'
import { parseName, wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'
import { orgEraseCommand, orgExportCommand } from './org-offboarding.ts'

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
          ['ORGANISATION', 'NAME', 'SERVICE', 'CREATED'],
          organisations.map((row) => [row.org_id, row.name, serviceText(row), row.created_at]),
          'No organisations yet. Create one: npx attestry org create --name NAME',
        ),
      )
    })
  org
    .command('limits')
    .description('Show the limits of an organisation, or change them')
    .argument('<org>', 'organisation ID, ORG_…')
    .option(
      '--max-keys <n>',
      `maximum number of active keys per mode and kind (default: ${DEFAULT_MAX_KEYS}); existing keys are not affected`,
      wholeNumberParser(1, 10_000),
    )
    .option(
      '--factor <n>',
      `rate limits of all keys of a mode together, as a multiple of the limits of one key (default: ${DEFAULT_LIMIT_FACTOR})`,
      wholeNumberParser(1, 10_000),
    )
    .option('--reset', 'restore the defaults')
    .addHelpText(...examples('org limits ORG_…', 'org limits ORG_… --max-keys 50', 'org limits ORG_… --reset'))
    .action(async (orgId: string, options: LimitsOptions, command: Command) => {
      const change = readLimitsChange(options)
      const limits = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const updatedLimits = await organisationLimits(tx, orgId, change)
          if (change) await recordCliChange(tx, clock, { orgId, action: 'org.limits', subject: orgId, details: change })
          return updatedLimits
        }),
      )
      print(command, { org_id: orgId, max_keys: limits.maxKeys, limit_factor: limits.limitFactor }, () =>
        fieldList([
          ['Organisation', orgId],
          ['Active keys per mode and kind', limits.maxKeys],
          ['Limits of all keys of a mode', `${limits.limitFactor} times the limits of one key`],
        ]),
      )
    })
  org.addCommand(orgExportCommand())
  org.addCommand(orgEraseCommand())
  return org
}

interface LimitsOptions {
  maxKeys?: number
  factor?: number
  reset?: boolean
}

function readLimitsChange({ maxKeys, factor, reset }: LimitsOptions): OrganisationLimitsChange | undefined {
  if (reset) {
    if (maxKeys !== undefined || factor !== undefined)
      throw problem('VALIDATION_FAILED', '--reset cannot be combined with other options.')
    return { maxKeys: null, limitFactor: null }
  }
  if (maxKeys === undefined && factor === undefined) return undefined
  return { ...(maxKeys !== undefined ? { maxKeys } : {}), ...(factor !== undefined ? { limitFactor: factor } : {}) }
}

function serviceText({ service_off, service_paused }: Organisation): string {
  if (!service_off) return 'on'
  return service_paused ? 'off' : 'off (partner API only)'
}
