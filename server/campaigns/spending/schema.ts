import { Type } from 'typebox'
import { channelNames } from '../../channels/channel.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { describePattern } from '../../platform/http/validation.ts'
import { MAX_AMOUNT } from './money.ts'
import { CurrencySchema, PriceTableSchema } from './prices.ts'

const closed = { additionalProperties: false }
const MANDATE_ID_PATTERN = '^JM_[A-Z0-9]{10,40}$'
const MAX_GROUPS = 1000

const amount = (description: string, example: number) => Type.Number({ minimum: 0, description, examples: [example] })
const capInput = (description: string) =>
  Type.Union([Type.Number({ minimum: 0, maximum: MAX_AMOUNT }), Type.Null()], { description, examples: [5000] })

export const spendCapField = Type.Number({
  minimum: 0,
  maximum: MAX_AMOUNT,
  description:
    'Maximum amount that the campaign may spend on messages, in the currency of the price table. The campaign pauses before a message that would exceed it.',
  examples: [5000],
})

export const DailyCapBody = named(
  'DailyCapInput',
  Type.Object(
    { daily_cap: capInput('Maximum amount that the organisation may spend on a day in India; null removes the cap.') },
    closed,
  ),
)

export const CampaignCapBody = named(
  'SpendCapInput',
  Type.Object(
    { spend_cap: capInput('Maximum amount that the campaign may spend in total; null removes the cap.') },
    closed,
  ),
)

export const PriceTableBody = PriceTableSchema

export const SpendingRecord = named(
  'Spending',
  Type.Object({
    price_table: PriceTableSchema,
    is_default: Type.Boolean({
      description: 'True if the organisation has no price table of its own, so that the prices of the operator apply.',
      examples: [false],
    }),
    day: Type.String({ format: 'date', description: 'The current day in India.', examples: ['2026-03-11'] }),
    spent_today: amount('Amount spent on this day: reported costs, and estimates until they are reported.', 412.5),
    daily_cap: Type.Union([Type.Number(), Type.Null()], {
      description: 'Maximum amount that may be spent on a day; null without a cap.',
      examples: [5000],
    }),
  }),
)

export const CampaignSpendingRecord = named(
  'CampaignSpending',
  Type.Object({
    campaign_id: Type.String({ examples: ['CP_01KKDSD0J0P26SYTR42FVC31EN'] }),
    currency: CurrencySchema,
    spent: amount('Amount spent: reported costs, and estimates of the messages without a report.', 412.5),
    reported: amount('Part of the amount that providers have reported.', 300),
    spend_cap: Type.Union([Type.Number(), Type.Null()], {
      description: 'Maximum amount that the campaign may spend; null without a cap.',
      examples: [5000],
    }),
    paused_by: Type.Union([Type.Enum(['campaign_cap', 'daily_cap']), Type.Null()], {
      description: 'The cap that paused the campaign; null if none did.',
      examples: [null],
    }),
  }),
)

const RecipientGroupSchema = named(
  'RecipientGroup',
  Type.Object(
    {
      phone_prefix: Type.Optional(
        Type.String({
          pattern: describePattern(
            '^\\+[1-9]\\d{0,14}$',
            'must be the beginning of a phone number in E.164 format, such as +91',
          ),
          description:
            'Beginning of the phone numbers, with the calling code; omit it for candidates without a number.',
          examples: ['+91'],
        }),
      ),
      has_email: Type.Optional(
        Type.Boolean({
          description: 'True if the candidates have an email address. Default: false.',
          examples: [true],
        }),
      ),
      count: Type.Integer({
        minimum: 1,
        maximum: 20_000,
        description: 'Number of candidates in the group.',
        examples: [1200],
      }),
    },
    closed,
  ),
)

export const EstimateBody = named(
  'CostEstimateInput',
  Type.Object(
    {
      mandate_id: Type.String({ pattern: MANDATE_ID_PATTERN }),
      recipients: Type.Array(RecipientGroupSchema, {
        minItems: 1,
        maxItems: MAX_GROUPS,
        description: 'The candidates in groups with the same kinds of addresses. Addresses are not needed.',
      }),
    },
    closed,
  ),
)

const EstimateLineSchema = named(
  'CostEstimateLine',
  Type.Object({
    kind: Type.Enum(['first_message', 'follow_up'], {
      description: 'Kind of the messages.',
      examples: ['first_message'],
    }),
    channel: Type.Enum([...channelNames], { description: 'Channel of the messages.', examples: ['sms'] }),
    calling_code: Type.Union([Type.String(), Type.Null()], {
      description: 'Calling code of a country with its own rules; null for all other countries.',
      examples: ['91'],
    }),
    category: Type.String({ description: 'Category of the messages.', examples: ['service_explicit'] }),
    messages: Type.Integer({ minimum: 0, description: 'Number of messages.', examples: [1200] }),
    units: Type.Integer({
      minimum: 1,
      description: 'Assumed number of segments of each SMS, or minutes of each call; otherwise 1.',
      examples: [2],
    }),
    price: Type.Union([Type.Number(), Type.Null()], {
      description:
        'Price of a unit; null if the price table has none, so that the messages are not part of the estimate.',
      examples: [0.2],
    }),
    amount: amount('Cost of these messages.', 480),
  }),
)

export const CostEstimateRecord = named(
  'CostEstimate',
  Type.Object({
    currency: CurrencySchema,
    first_messages: amount('Cost of the first messages.', 480),
    maximum: amount('Cost of the first messages and all follow-ups, if no candidate replies.', 960),
    unreachable: Type.Integer({
      minimum: 0,
      description: 'Number of candidates without an address for any channel that is set up.',
      examples: [0],
    }),
    lines: Type.Array(EstimateLineSchema, { description: 'The messages by channel, country and category.' }),
  }),
)
