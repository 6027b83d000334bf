import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { OrgScope } from '../../access/caller.ts'
import { invalid } from '../../api/invalid.ts'
import type { Detail } from '../../api/problem.ts'
import { type ChannelName, channelNames } from '../../channels/channel.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { compileRequestValidator, describePattern } from '../../platform/http/validation.ts'
import { MAX_AMOUNT, toMicros } from './money.ts'

const DEFAULT_FILE = new URL('../../../data/prices/default.json', import.meta.url)
const closed = { additionalProperties: false }

export const CurrencySchema = Type.String({
  pattern: describePattern('^[A-Z]{3}$', 'must be a currency code of three capital letters, such as INR'),
  description: 'Currency code (ISO 4217).',
  examples: ['INR'],
})

const PriceSchema = named(
  'MessagePrice',
  Type.Object(
    {
      channel: Type.Enum([...channelNames], { description: 'Channel of the message.', examples: ['sms'] }),
      calling_code: Type.Union(
        [
          Type.String({
            pattern: describePattern('^[1-9]\\d{0,2}$', 'must be a calling code of 1 to 3 digits, such as 91'),
          }),
          Type.Null(),
        ],
        {
          description: 'Digits after the + of the phone numbers; null for the numbers of all other countries.',
          examples: ['91'],
        },
      ),
      category: Type.Union([Type.String({ minLength: 1, maxLength: 40 }), Type.Null()], {
        description:
          'Category of the message, such as `marketing`, `utility` or `service_explicit`; `service` for a response on WhatsApp. Null for all other categories.',
        examples: ['service_explicit'],
      }),
      price: Type.Number({
        minimum: 0,
        maximum: 100_000,
        description: 'Price of an SMS segment, a minute of a call, a WhatsApp message or an email; up to 6 decimals.',
        examples: [0.2],
      }),
    },
    closed,
  ),
)

const ExchangeRateSchema = named(
  'ExchangeRate',
  Type.Object(
    {
      currency: CurrencySchema,
      rate: Type.Number({
        minimum: 0.000001,
        maximum: 1_000_000,
        description: 'Value of one unit of this currency in the currency of the price table.',
        examples: [88],
      }),
    },
    closed,
  ),
)

const priceTableFields = {
  currency: CurrencySchema,
  prices: Type.Array(PriceSchema, {
    minItems: 1,
    maxItems: 500,
    description: 'Prices. The most specific one applies: first the calling code is compared, then the category.',
  }),
  exchange_rates: Type.Array(ExchangeRateSchema, {
    maxItems: 50,
    description: 'Exchange rates for costs that providers report in another currency.',
  }),
}

export const PriceTableSchema = named(
  'PriceTable',
  Type.Object(priceTableFields, { ...closed, description: 'Prices of messages, and the currency of all amounts.' }),
)
export type PriceTable = Static<typeof PriceTableSchema>

const DefaultPricesSchema = Type.Object(
  {
    ...priceTableFields,
    reviewed_at: Type.String({ format: 'date' }),
    estimated_units: Type.Object(
      Object.fromEntries(channelNames.map((name) => [name, Type.Integer({ minimum: 1, maximum: 100 })])) as Record<
        ChannelName,
        ReturnType<typeof Type.Integer>
      >,
      closed,
    ),
  },
  closed,
)
type DefaultPrices = Static<typeof DefaultPricesSchema>

const validate = compileRequestValidator({ body: DefaultPricesSchema })

/** Parses the default prices. Throws an error that lists every invalid field. */
function parseDefaultPrices(text: string): DefaultPrices {
  const prices = JSON.parse(text) as DefaultPrices
  const details = validate({ params: {}, query: {}, body: prices, rawBody: Buffer.from(text) }).map(
    ({ detail }) => detail,
  )
  if (details.length === 0) details.push(...priceTableErrors(prices))
  if (details.length > 0)
    throw new Error(
      `data/prices/default.json is invalid: ${details.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
    )
  return prices
}

let defaultPrices: DefaultPrices | undefined

/** Returns the prices of organisations without a price table. Called when a server has started to listen, so that an invalid file stops it. */
export function loadDefaultPrices(): DefaultPrices {
  defaultPrices ??= parseDefaultPrices(readFileSync(DEFAULT_FILE, 'utf8'))
  return defaultPrices
}

/** Rejects duplicate prices, duplicate exchange rates, and an exchange rate for the currency of the table. */
function priceTableErrors({ currency, prices, exchange_rates }: PriceTable): Detail[] {
  const details: Detail[] = []
  const priceKeys = prices.map(({ channel, calling_code, category }) => `${channel} ${calling_code} ${category}`)
  priceKeys.forEach((key, index) => {
    if (priceKeys.indexOf(key) < index)
      details.push({
        path: `prices[${index}]`,
        message: `has the same channel, calling_code and category as prices[${priceKeys.indexOf(key)}]; remove one of them`,
      })
  })
  const currencies = exchange_rates.map((rate) => rate.currency)
  currencies.forEach((name, index) => {
    if (name === currency)
      details.push({ path: `exchange_rates[${index}].currency`, message: 'is the currency of the prices; remove it' })
    else if (currencies.indexOf(name) < index)
      details.push({ path: `exchange_rates[${index}].currency`, message: `${name} is listed twice; remove one rate` })
  })
  return details
}

export interface SpendingSettings {
  prices: PriceTable
  /** Whether the default prices of the deployment apply. */
  isDefault: boolean
  /** In millionths; null without a cap. */
  dailyCap: number | null
}

export async function getSpendingSettings(queries: Queries, { orgId, mode }: OrgScope): Promise<SpendingSettings> {
  const { rows } = await sql<{ price_table: PriceTable | null; daily_cap: number | null }>`
    select price_table, daily_cap from spending_settings where org_id = ${orgId} and mode = ${mode}`.execute(queries)
  const { price_table = null, daily_cap = null } = rows[0] ?? {}
  return { prices: price_table ?? defaultPriceTable(), isDefault: price_table === null, dailyCap: daily_cap }
}

function defaultPriceTable(): PriceTable {
  const { currency, prices, exchange_rates } = loadDefaultPrices()
  return { currency, prices, exchange_rates }
}

/** Replaces the price table of an organisation; null restores the prices of the deployment. */
export async function setPriceTable(tx: Tx, clock: Clock, scope: OrgScope, table: PriceTable | null): Promise<void> {
  if (table) {
    const details = priceTableErrors(table)
    if (details.length > 0) throw invalid(details)
  }
  const { orgId, mode } = scope
  await requireSameCurrency(tx, scope, (table ?? defaultPriceTable()).currency)
  const value = table === null ? null : JSON.stringify(table)
  await sql`insert into spending_settings (org_id, mode, price_table, updated_at)
    values (${orgId}, ${mode}, ${value}::jsonb, ${new Date(clock.now())})
    on conflict (org_id, mode) do update set price_table = excluded.price_table, updated_at = excluded.updated_at`.execute(
    tx,
  )
}

/** Throws if the currency would change although amounts were spent: they are stored without a currency. */
async function requireSameCurrency(tx: Tx, scope: OrgScope, currency: string): Promise<void> {
  const before = (await getSpendingSettings(tx, scope)).prices.currency
  if (before === currency) return
  const { rows } =
    await sql`select from daily_spending where org_id = ${scope.orgId} and mode = ${scope.mode} limit 1`.execute(tx)
  if (rows.length > 0)
    throw invalid([
      {
        path: 'currency',
        message: `must be ${before}, because amounts were already spent in it; convert the prices to ${before}`,
      },
    ])
}

/** Returns the price of a unit in millionths; undefined if the table has no price for the message. */
export function findPrice(
  { prices }: PriceTable,
  channel: ChannelName,
  phone: string | null,
  category: string,
): number | undefined {
  const candidates = prices.filter((each) => each.channel === channel)
  const matchesPhone = (code: string | null) => code !== null && (phone?.startsWith(`+${code}`) ?? false)
  for (const isCountry of [matchesPhone, (code: string | null) => code === null])
    for (const isCategory of [(name: string | null) => name === category, (name: string | null) => name === null]) {
      const price = candidates.find((each) => isCountry(each.calling_code) && isCategory(each.category))
      if (price) return toMicros(price.price)
    }
  return undefined
}

/** Converts an amount that a provider reported to millionths of the table's currency; undefined without an exchange rate. */
export function convert({ currency, exchange_rates }: PriceTable, amount: number, from: string): number | undefined {
  if (!(amount >= 0 && amount <= MAX_AMOUNT)) return undefined
  const rate = from === currency ? 1 : exchange_rates.find((each) => each.currency === from)?.rate
  return rate === undefined ? undefined : toMicros(amount * rate)
}
