import { Argument, Command } from 'commander'
import { listAtsKeys } from '../../server/access/ats-keys.ts'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { type AdapterName, adapterNames } from '../../server/ats/adapter.ts'
import { adapters, endpointUrls } from '../../server/ats/adapters.ts'
import {
  addConnectionKey,
  createConnection,
  createConnectionKey,
  disconnect,
  getConnectionScope,
  listConnections,
  revokeConnectionKey,
} from '../../server/ats/connections.ts'
import { findOrderById, listOrders } from '../../server/ats/orders.ts'
import { listReports, replayReport } from '../../server/ats/reports/reports.ts'
import { DATA_SOURCES, readData } from '../data-option.ts'
import { examples } from '../examples.ts'
import { parseMode, parseName, wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { serverAddress } from '../server-address.ts'
import { withStore } from '../store.ts'
import { simulateCommand } from './ats-simulate.ts'
import { recordCliChange } from './audit.ts'

interface ConnectOptions {
  org: string
  mode: Mode
  name?: string
  country: string
  consentBasis: string
  token?: string
  accountId?: string
  signingSecret?: string
  mandates?: string[]
  apiUrl?: string
}

interface ListOptions {
  org: string
  /** Undefined lists both modes. */
  mode?: Mode
}

export function atsCommand(): Command {
  const ats = new Command('ats')
    .description(`Connect applicant tracking systems (ATS): ${adapterTitles()}`)
    .addHelpText(...examples('ats connect greenhouse --org ORG_… --mode test', 'ats simulate greenhouse'))

  withScope(
    ats
      .command('connect')
      .description('Connect an ATS and create its first key (which is shown only once)')
      .addArgument(new Argument('<ats>', 'the ATS').choices(adapterNames)),
  )
    .option('--name <name>', 'name of the connection in lists (default: the name of the ATS)', parseName)
    .option('--country <code>', 'country of phone numbers without a country code (ISO 3166-1)', 'IN')
    .option(
      '--consent-basis <text>',
      'why your organisation may contact the candidates; stored with every order',
      'The candidate agreed to be contacted when they applied.',
    )
    .option('--token <token>', `credential that the ATS issued (Ashby, Workable, Kombo); ${DATA_SOURCES}`, readToken)
    .option('--account-id <id>', 'ID of the account in the ATS (Kombo: the integration ID)')
    .option(
      '--signing-secret <secret>',
      `secret with which the ATS signs its calls (Kombo); can be entered later in the console; ${DATA_SOURCES}`,
      readToken,
    )
    .option(
      '--mandates <list>',
      'offer only these mandates, as a comma-separated list (default: all that are ready)',
      parseList,
    )
    .option('--api-url <url>', 'another base URL of the API of the ATS, such as that of a region')
    .addHelpText(
      ...examples(
        'ats connect greenhouse --org ORG_… --mode live',
        'ats connect ashby --org ORG_… --mode live --token @ashby-key.txt',
        'ats connect workable --org ORG_… --mode live --token - --mandates JM_…,JM_…',
        'ats connect kombo --org ORG_… --mode live --token @kombo-key.txt --account-id workday:…',
      ),
    )
    .action(connect)

  withModeFilter(ats.command('list').description('List the connections of an organisation'))
    .addHelpText(...examples('ats list --org ORG_…', 'ats list --org ORG_… --mode live'))
    .action(async ({ org: orgId, mode }: ListOptions, command: Command) => {
      const connections = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, orgId)
        return Promise.all(modesOf(mode).map((each) => listConnections(db.queries, { orgId, mode: each })))
      })
      print(command, connections.flat(), () =>
        table(
          ['CONNECTION', 'MODE', 'ATS', 'NAME', 'STATE', 'COUNTRY', 'MANDATES', 'CREATED'],
          connections
            .flat()
            .map((row) => [
              ...[row.connection_id, row.mode, row.adapter, row.name, row.state, row.country],
              row.mandate_ids?.length ?? 'all',
              row.created_at,
            ]),
          `${orgId} has no connections yet. Create one: npx attestry ats connect greenhouse --org ${orgId} --mode ${mode ?? 'test'}`,
        ),
      )
    })

  ats
    .command('keys')
    .description('List, create and revoke the keys of a connection')
    .argument('<connection>', 'connection ID, AC_…')
    .option('--create', 'create another key (shown only once)')
    .option('--revoke <key>', 'revoke a key, given its ID VAT_… (takes effect within one second)')
    .addHelpText(...examples('ats keys AC_…', 'ats keys AC_… --create', 'ats keys AC_… --revoke VAT_LIVE_…'))
    .action(changeKeys)

  withModeFilter(
    ats.command('orders').description('List the orders of an organisation with their reports, newest first'),
  )
    .option('--connection <connection>', 'only the orders of this connection, AC_…')
    .option('--limit <n>', 'number of orders', wholeNumberParser(1, 1000), 20)
    .addHelpText(...examples('ats orders --org ORG_…', 'ats orders --org ORG_… --mode live --json'))
    .action(showOrders)

  ats
    .command('replay')
    .description('Send the last report of an order again')
    .argument('<order>', 'order ID, AO_…')
    .addHelpText(...examples('ats replay AO_…'))
    .action(async (orderId: string, _options: object, command: Command) => {
      const number = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const order = await findOrderById(tx, orderId)
          if (!order) throw problem('NOT_FOUND', `Order ${orderId} not found.`)
          const scope = { orgId: order.org_id, mode: order.mode }
          const replayed = await replayReport(tx, clock, scope, orderId)
          await recordCliChange(tx, clock, { ...scope, action: 'ats.replay', subject: orderId })
          return replayed
        }),
      )
      print(command, { order_id: orderId, number }, () => `Report ${number} of ${orderId} is sent again.`)
    })

  ats
    .command('disconnect')
    .description('Disconnect an ATS: revoke its keys, stop reports and invalidate links to reports')
    .argument('<connection>', 'connection ID, AC_…')
    .addHelpText(...examples('ats disconnect AC_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const connection = await withStore((store) =>
        store.db.transaction(async (tx) => {
          const scope = await getConnectionScope(tx, id)
          await recordCliChange(tx, store.clock, { ...scope, action: 'ats.disconnect', subject: id })
          return disconnect(tx, store, scope, id)
        }),
      )
      print(command, connection, () => `Disconnected ${id}.`)
    })

  ats.addCommand(simulateCommand())
  return ats
}

function adapterTitles(): string {
  return new Intl.ListFormat('en-GB').format(adapterNames.map((name) => adapters[name].title))
}

function withScope(command: Command): Command {
  return command
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--mode <mode>', 'test or live', parseMode)
}

function withModeFilter(command: Command): Command {
  return command
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live (default: both)', parseMode)
}

function modesOf(mode: Mode | undefined): Mode[] {
  return mode === undefined ? ['test', 'live'] : [mode]
}

function readToken(value: string): string {
  return readData(value).trim()
}

function parseList(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

async function connect(adapter: AdapterName, options: ConnectOptions, command: Command) {
  const { org: orgId, mode } = options
  const { connection, key, address } = await withStore(async (store) => {
    const created = await store.db.transaction(async (tx) => {
      await getOrganisation(tx, orgId)
      const scope = { orgId, mode }
      const connection = await createConnection(tx, store, scope, {
        adapter,
        name: options.name ?? adapters[adapter].title,
        country: options.country,
        consent_basis: options.consentBasis,
        mandate_ids: options.mandates,
        token: options.token,
        account_id: options.accountId,
        signing_secret: options.signingSecret,
        api_url: options.apiUrl,
      })
      const { connection_id: connectionId } = connection
      const key = await createConnectionKey(tx, store, connection)
      await recordCliChange(tx, store.clock, {
        ...scope,
        action: 'ats.connect',
        subject: connectionId,
        details: { adapter },
      })
      return { connection, key }
    })
    return { ...created, address: await serverAddress(store.config) }
  })
  const urls = endpointUrls(adapter, connection.connection_id, address)
  const record = { ...connection, key_id: key.keyId, key: key.key, endpoints: urls }
  print(command, record, () =>
    [
      fieldList([
        ['Connection', connection.connection_id],
        ...(key.key === null ? [] : [['Key', key.key] as [string, string]]),
        ...urls.map(({ name, url }) => [name, url] as [string, string]),
      ]),
      '',
      key.key === null
        ? `Enter the address in ${adapters[adapter].title}. It then shows a webhook secret: enter it on the page of the connection in the console.`
        : `Enter the key and the ${urls.length === 1 ? 'address' : 'addresses'} in ${adapters[adapter].title}. The key is not shown again.`,
    ].join('\n'),
  )
}

async function changeKeys(id: string, options: { create?: boolean; revoke?: string }, command: Command) {
  if (options.create && options.revoke)
    throw problem('VALIDATION_FAILED', '--create and --revoke cannot be combined; run the command twice.')
  const { keys, created } = await withStore((store) =>
    store.db.transaction(async (tx) => {
      const scope = await getConnectionScope(tx, id)
      const created = options.create ? await addConnectionKey(tx, store, scope, id) : undefined
      if (options.revoke) await revokeConnectionKey(tx, store.clock, scope, id, options.revoke)
      if (options.create || options.revoke)
        await recordCliChange(tx, store.clock, {
          ...scope,
          action: options.create ? 'ats.key.create' : 'ats.key.revoke',
          subject: created?.keyId ?? options.revoke!,
        })
      return { keys: await listAtsKeys(tx, id), created }
    }),
  )
  print(command, created ? { keys, key_id: created.keyId, key: created.key } : { keys }, () => {
    const rows = keys.map((row) => [
      ...[row.key_id, row.revoked_at ? 'revoked' : 'active', row.created_at],
      row.last_used_at ?? 'never',
    ])
    const list = table(['KEY', 'STATUS', 'CREATED', 'LAST USED'], rows, `${id} has no keys.`)
    return created ? `${list}\n\nNew key: ${created.key}\nStore it now; it is not shown again.` : list
  })
}

async function showOrders(options: ListOptions & { connection?: string; limit: number }, command: Command) {
  const { org: orgId, mode, connection: connection_id, limit } = options
  const { orders, reports } = await withStore(async ({ db }) => {
    await getOrganisation(db.queries, orgId)
    const ordersByMode = await Promise.all(
      modesOf(mode).map((each) => listOrders(db.queries, { orgId, mode: each }, { connection_id, limit })),
    )
    // IDs grow with time, so that the newest order has the greatest one.
    const orders = ordersByMode
      .flat()
      .sort((a, b) => (a.order_id < b.order_id ? 1 : -1))
      .slice(0, limit)
    return {
      orders,
      reports: await listReports(
        db.queries,
        orders.map(({ order_id }) => order_id),
      ),
    }
  })
  const reportsByOrder = Map.groupBy(reports, ({ order_id }) => order_id)
  const records = orders.map((order) => ({ ...order, reports: reportsByOrder.get(order.order_id) ?? [] }))
  print(command, records, () =>
    table(
      ['ORDER', 'MODE', 'ATS', 'MANDATE', 'CANDIDATE', 'STATE', 'REPORTS', 'CREATED'],
      records.map((order) => [
        ...[order.order_id, order.mode, order.adapter, order.mandate_id, order.candidate_id, order.state],
        order.reports
          .map(
            ({ kind, state, last_error }) =>
              `${kind} ${last_error && state !== 'delivered' ? `${state}: ${last_error}` : state}`,
          )
          .join('; '),
        order.created_at,
      ]),
      'No orders yet.',
    ),
  )
}
