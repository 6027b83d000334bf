import { Command, Option } from 'commander'
import {
  getServiceStatus,
  listSwitchedOff,
  type ServiceState,
  type ServiceStatus,
  switchService,
} from '../../server/access/service-switch.ts'
import { examples } from '../examples.ts'
import { type Cell, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface SwitchOptions {
  org?: string
  apiOnly?: boolean
  reason?: string
}

export function serviceCommand(): Command {
  const service = new Command('service')
    .description('Stop and resume all work, for all organisations or for one')
    .addHelpText(...examples('service off --org ORG_… --reason "unpaid invoice"', 'service status', 'service on'))
  const orgOption = () => new Option('--org <org>', 'only for this organisation, ORG_…')
  service
    .command('off')
    .description(
      'Stop everything within one second: API calls return 503 SERVICE_DISABLED, pages show a message, and contacts, emails and webhook deliveries are held',
    )
    .addOption(orgOption())
    .option('--api-only', 'disable only the partner API; contacts, emails, webhooks and sessions continue')
    .option('--reason <text>', 'the reason, for the audit log and `service status`')
    .addHelpText(...examples('service off', 'service off --org ORG_…', 'service off --org ORG_… --api-only'))
    .action((options: SwitchOptions, command: Command) =>
      runSwitch(command, options.apiOnly ? 'api_off' : 'off', options),
    )
  service
    .command('on')
    .description(
      'Resume the held work in its order, extend the deadlines by the time of the pause, and accept API calls',
    )
    .addOption(orgOption())
    .option('--reason <text>', 'the reason, for the audit log')
    .addHelpText(...examples('service on', 'service on --org ORG_…'))
    .action((options: SwitchOptions, command: Command) => runSwitch(command, 'on', options))
  service
    .command('status')
    .description('Show the switch for all organisations and the organisations that are switched off')
    .addOption(orgOption())
    .addHelpText(...examples('service status', 'service status --org ORG_… --json'))
    .action(showStatus)
  return service
}

async function runSwitch(command: Command, state: ServiceState, { org, reason }: SwitchOptions) {
  await withStore(({ db, clock }) =>
    db.transaction(async (tx) => {
      await switchService(tx, clock, { orgId: org, state, reason })
      await recordCliChange(tx, clock, {
        orgId: org,
        action: state === 'on' ? 'service.on' : 'service.off',
        subject: org,
        details: { ...(state === 'api_off' ? { api_only: true } : {}), ...(reason === undefined ? {} : { reason }) },
      })
    }),
  )
  const subject = state === 'api_off' ? 'The partner API' : 'The service'
  const effect = state === 'off' ? ' All work is stopped and held until you run `attestry service on`.' : ''
  print(
    command,
    {
      service: state === 'on' ? 'on' : 'off',
      api_only: state === 'api_off',
      org_id: org ?? null,
      reason: reason ?? null,
    },
    () => `${subject} is switched ${state === 'on' ? 'on' : 'off'}${org ? ` for ${org}` : ''}.${effect}`,
  )
}

async function showStatus({ org }: { org?: string }, command: Command) {
  const { forAll, organisations } = await withStore(async ({ db }) => ({
    forAll: await getServiceStatus(db.queries),
    organisations: org
      ? [{ org_id: org, ...(await getServiceStatus(db.queries, org)) }]
      : await listSwitchedOff(db.queries),
  }))
  const rows = organisations.map((organisation) => ({ org_id: organisation.org_id, ...statusRecord(organisation) }))
  print(command, { all: statusRecord(forAll), organisations: rows }, () => {
    const lines = [['all', ...cells(forAll)], ...organisations.map((each) => [each.org_id, ...cells(each)])]
    return table(['ORGANISATION', 'SERVICE', 'SINCE', 'REASON'], lines, '')
  })
}

function statusRecord({ state, since, reason }: ServiceStatus) {
  return {
    service: state === 'on' ? 'on' : 'off',
    api_only: state === 'api_off',
    since: since?.toISOString() ?? null,
    reason,
  }
}

function cells({ state, since, reason }: ServiceStatus): Cell[] {
  return [{ on: 'on', api_off: 'off (partner API only)', off: 'off' }[state], since, reason]
}
