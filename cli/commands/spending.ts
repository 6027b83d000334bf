import { Command, InvalidArgumentError } from 'commander'
import type { OrgScope } from '../../server/access/caller.ts'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { invalid } from '../../server/api/invalid.ts'
import { problem } from '../../server/api/problem.ts'
import { fromMicros, MAX_AMOUNT } from '../../server/campaigns/spending/money.ts'
import {
  getSpendingSettings,
  type PriceTable,
  PriceTableSchema,
  setPriceTable,
} from '../../server/campaigns/spending/prices.ts'
import { getSpendingToday, setDailyCap } from '../../server/campaigns/spending/spending.ts'
import type { Clock } from '../../server/platform/clock.ts'
import type { Tx } from '../../server/platform/database/database.ts'
import { compileRequestValidator } from '../../server/platform/http/validation.ts'
import { parseJsonOrUndefined } from '../../server/platform/json.ts'
import { DATA_SOURCES, readData } from '../data-option.ts'
import { examples } from '../examples.ts'
import { parseMode } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface Options {
  mode: Mode
}

export function spendingCommand(): Command {
  const spending = new Command('spending')
    .description('Manage the prices of messages and the daily caps of organisations')
    .addHelpText(...examples('spending show ORG_…', 'spending daily-cap ORG_… 5000'))

  withMode(spending.command('show'))
    .description('Show the price table of an organisation, its daily cap and the amount spent today')
    .argument('<org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('spending show ORG_… --mode live'))
    .action(async (orgId: string, { mode }: Options, command: Command) => {
      await printSpending(command, { orgId, mode })
    })

  withMode(spending.command('prices'))
    .description('Replace the price table of an organisation, or restore the default prices')
    .argument('<org>', 'organisation ID, ORG_…')
    .option('--data <json>', `price table as JSON; ${DATA_SOURCES}`, readData)
    .option('--default', 'restore the default prices')
    .addHelpText(...examples('spending prices ORG_… --data @prices.json', 'spending prices ORG_… --default'))
    .action(async (orgId: string, options: Options & { data?: string; default?: true }, command: Command) => {
      const { mode, data } = options
      if ((data === undefined) === (options.default === undefined))
        throw problem('VALIDATION_FAILED', 'Use either --data JSON, to replace the price table, or --default.')
      const priceTable = data === undefined ? null : parsePriceTable(data)
      await printSpending(command, { orgId, mode }, (tx, clock, scope) => setPriceTable(tx, clock, scope, priceTable))
    })

  withMode(spending.command('daily-cap'))
    .description('Set the maximum amount that an organisation may spend on a day, or remove it')
    .argument('<org>', 'organisation ID, ORG_…')
    .argument('<amount>', 'amount in the currency of the price table, or none', parseAmount)
    .addHelpText(...examples('spending daily-cap ORG_… 5000', 'spending daily-cap ORG_… none'))
    .action(async (orgId: string, amount: number | null, { mode }: Options, command: Command) => {
      await printSpending(command, { orgId, mode }, (tx, clock, scope) => setDailyCap(tx, clock, scope, amount))
    })
  return spending
}

function withMode(command: Command): Command {
  return command.option('--mode <mode>', 'test or live', parseMode, 'live')
}

function parseAmount(text: string): number | null {
  if (text === 'none') return null
  const amount = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (!(amount <= MAX_AMOUNT)) throw new InvalidArgumentError('Expected an amount such as 5000 or 99.50, or none.')
  return amount
}

const validate = compileRequestValidator({ body: PriceTableSchema })

function parsePriceTable(text: string): PriceTable {
  const priceTable = parseJsonOrUndefined(text)
  if (priceTable === undefined) throw problem('VALIDATION_FAILED', 'The value of --data is not valid JSON.')
  const details = validate({ params: {}, query: {}, body: priceTable, rawBody: Buffer.from(text) })
  if (details.length > 0) throw invalid(details.map(({ detail }) => detail))
  return priceTable as PriceTable
}

/** Makes a change, if there is one, and prints the settings. */
async function printSpending(
  command: Command,
  scope: OrgScope,
  change?: (tx: Tx, clock: Clock, scope: OrgScope) => Promise<void>,
): Promise<void> {
  const result = await withStore(({ db, clock }) =>
    db.transaction(async (tx) => {
      await getOrganisation(tx, scope.orgId)
      if (change) {
        await change(tx, clock, scope)
        await recordCliChange(tx, clock, { ...scope, action: 'spending.change', subject: scope.orgId })
      }
      const { prices, isDefault, dailyCap } = await getSpendingSettings(tx, scope)
      const { day, spentToday } = await getSpendingToday(tx, clock, scope)
      return {
        org_id: scope.orgId,
        mode: scope.mode,
        price_table: prices,
        is_default: isDefault,
        day,
        spent_today: fromMicros(spentToday),
        daily_cap: dailyCap === null ? null : fromMicros(dailyCap),
      }
    }),
  )
  const { price_table, is_default, daily_cap, spent_today } = result
  print(command, result, () =>
    [
      fieldList([
        ['Organisation', `${scope.orgId} (${scope.mode})`],
        ['Prices', is_default ? 'default prices' : 'own price table'],
        ['Spent today', `${spent_today} ${price_table.currency}`],
        ['Daily cap', daily_cap === null ? 'none' : `${daily_cap} ${price_table.currency}`],
      ]),
      '',
      table(
        ['CHANNEL', 'CALLING CODE', 'CATEGORY', `PRICE (${price_table.currency})`],
        price_table.prices.map(({ channel, calling_code, category, price }) => [
          channel,
          calling_code === null ? 'others' : `+${calling_code}`,
          category ?? 'others',
          String(price),
        ]),
        'No prices.',
      ),
    ].join('\n'),
  )
}
