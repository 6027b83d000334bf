import { readdirSync, readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { DAY, HOUR, MINUTE } from '../platform/clock.ts'
import { compileRequestValidator } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { type ChannelName, channelNames } from './channel.ts'

const RULES_FOLDER = new URL('../../data/rules/', import.meta.url)
const DEFAULT_COUNTRY = 'default'

const noOtherProperties = { additionalProperties: false }
const TIME_OF_DAY_PATTERN = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/

const CategorySchema = Type.Object(
  {
    start: Type.String(),
    end: Type.String(),
    number_prefixes: Type.Optional(Type.Array(Type.String({ pattern: '^\\d{1,6}$' }), { minItems: 1 })),
  },
  noOtherProperties,
)

const ChannelRuleSchema = Type.Object(
  {
    use: Type.Enum(['conversation', 'link_only']),
    default_category: Type.String(),
    code_category: Type.Optional(Type.String()),
    hours_apply_to_responses: Type.Boolean(),
    categories: Type.Record(Type.String(), CategorySchema, { minProperties: 1 }),
    sender_kinds: Type.Array(Type.Enum(['header', 'number', 'address']), { minItems: 1 }),
    template: Type.Optional(
      Type.Object(
        {
          registry: Type.Enum(['dlt', 'whatsapp']),
          max_variables: Type.Integer({ minimum: 1 }),
          max_variable_length: Type.Integer({ minimum: 1 }),
          requires_listed_hosts: Type.Boolean(),
          variable_tags: Type.Optional(Type.Enum(['typed', 'untyped'])),
          languages: Type.Optional(Type.Array(Type.Enum([...LANGUAGES]), { minItems: 1 })),
        },
        noOtherProperties,
      ),
    ),
  },
  noOtherProperties,
)
export type ChannelRule = Static<typeof ChannelRuleSchema>

const RulesSchema = Type.Object(
  {
    country: Type.String({ minLength: 2 }),
    calling_code: Type.Union([Type.String({ pattern: '^[1-9]\\d{0,2}$' }), Type.Null()]),
    time_zone: Type.String(),
    reviewed_at: Type.String({ format: 'date' }),
    opt_out_words: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    channels: Type.Object(
      { whatsapp: ChannelRuleSchema, voice: ChannelRuleSchema, sms: ChannelRuleSchema, email: ChannelRuleSchema },
      noOtherProperties,
    ),
  },
  noOtherProperties,
)
/** The rules for messages to the phone numbers of a country. */
export type CountryRules = Static<typeof RulesSchema>

const validate = compileRequestValidator({ body: RulesSchema })

/** Parses the rules of a country. Throws an error that lists every invalid field. */
export function parseRules(fileName: string, text: string): CountryRules {
  const rules = JSON.parse(text) as CountryRules
  const errors = validate({ params: {}, query: {}, body: rules, rawBody: Buffer.from(text) }).map(
    ({ detail }) => `${detail.path} ${detail.message}`,
  )
  if (errors.length === 0) {
    for (const channel of channelNames) {
      const { categories, default_category, code_category = default_category } = rules.channels[channel]
      for (const category of [default_category, code_category])
        if (!categories[category]) errors.push(`channels.${channel} has no category ${category}`)
      for (const [name, { start, end }] of Object.entries(categories))
        if (![start, end].every((time) => TIME_OF_DAY_PATTERN.test(time)))
          errors.push(`channels.${channel}.categories.${name}: start and end must be times such as 09:30`)
        else if (millisecondsOf(start) >= millisecondsOf(end))
          errors.push(`channels.${channel}.categories.${name}: start must be before end`)
    }
    if (!isTimeZone(rules.time_zone)) errors.push('time_zone must be an IANA time zone such as Asia/Kolkata')
  }
  if (errors.length > 0) throw new Error(`data/rules/${fileName} is invalid: ${errors.join('; ')}`)
  return rules
}

function isTimeZone(name: string): boolean {
  try {
    formatterOf(name)
    return true
  } catch {
    return false
  }
}

let rulesByCallingCode: Map<string | null, CountryRules> | undefined

/** Returns all rules, the default rules last. Called when a server has started to listen, so that an invalid file stops it. */
export function loadRules(): CountryRules[] {
  rulesByCallingCode ??= new Map(
    readdirSync(RULES_FOLDER)
      .filter((name) => name.endsWith('.json'))
      .map((name) => parseRules(name, readFileSync(new URL(name, RULES_FOLDER), 'utf8')))
      .sort((a, b) => Number(a.country === DEFAULT_COUNTRY) - Number(b.country === DEFAULT_COUNTRY))
      .map((rules) => [rules.calling_code, rules]),
  )
  return [...rulesByCallingCode.values()]
}

/** Returns the rules for a phone number in E.164 format, or the default rules without one. */
export function rulesFor(phone: string | null): CountryRules {
  const countries = loadRules()
  // No calling code is a prefix of another one.
  const country = countries.find(({ calling_code }) => calling_code !== null && phone?.startsWith(`+${calling_code}`))
  return country ?? countries.at(-1)!
}

/** Returns the category of a message: that of the channel settings if the rules have it, else the default. */
export function categoryOf(rule: ChannelRule, isCode: boolean, category?: string): string {
  if (isCode) return rule.code_category ?? rule.default_category
  return category !== undefined && rule.categories[category] ? category : rule.default_category
}

/** Returns the category of calls from a number, by the number series of the rules; undefined for a number of no series. */
export function callCategoryOf(from: string, { calling_code, channels }: CountryRules): string | undefined {
  // A caller ID without a country code is a national number, with or without the leading 0.
  const number = from.startsWith('+') ? from : `+${calling_code}${from.replace(/^0/, '')}`
  return Object.entries(channels.voice.categories).find(([, { number_prefixes = [] }]) =>
    number_prefixes.some((prefix) => number.startsWith(`+${calling_code}${prefix}`)),
  )?.[0]
}

/** Returns whether the rules of a country allow calls from a number: those without number series allow every number. */
export function mayCallFrom(from: string, rules: CountryRules): boolean {
  const hasSeries = Object.values(rules.channels.voice.categories).some(({ number_prefixes }) => number_prefixes)
  return !hasSeries || callCategoryOf(from, rules) !== undefined
}

/** Returns `time` if a message of the category may then be sent to the phone number, else the next time at which it may. */
export function nextAllowedTime(
  phone: string | null,
  channel: ChannelName,
  category: string | undefined,
  time: number,
): number {
  const { time_zone, channels } = rulesFor(phone)
  const rule = channels[channel]
  const { start, end } = rule.categories[categoryOf(rule, false, category)]!
  const startMs = millisecondsOf(start)
  const sinceMidnight = timeOfDayIn(time_zone, time)
  if (sinceMidnight >= startMs && sinceMidnight < millisecondsOf(end)) return time
  const next = time + startMs - sinceMidnight + (sinceMidnight < startMs ? 0 : DAY)
  // Daylight saving time may begin or end in between.
  return next + startMs - timeOfDayIn(time_zone, next)
}

function millisecondsOf(text: string): number {
  const [hours, minutes] = text.split(':').map(Number)
  return hours! * HOUR + minutes! * MINUTE
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  formatters.set(timeZone, formatter)
  return formatter
}

/** Returns the milliseconds since midnight on the clock of a time zone. */
function timeOfDayIn(timeZone: string, time: number): number {
  const parts = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  )
  return Number(parts.hour) * HOUR + Number(parts.minute) * MINUTE + Number(parts.second) * 1000 + (time % 1000)
}
