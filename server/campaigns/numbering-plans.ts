import { createRequire } from 'node:module'
import type { CountryCode, MetadataJson } from 'libphonenumber-js/core'

/** The numbering plan of a calling code, which several countries may share. */
export interface NumberingPlan {
  /** Digits after the +, such as 91. */
  callingCode: string
  /** Digits that are dialled before a national number within the country, such as 0; undefined if there are none. */
  trunkPrefix: string | undefined
  /** Matches the national numbers that the plan assigns: fixed lines, mobile numbers and services. */
  nationalNumberPattern: RegExp
}

/** Version of the metadata format whose positions are listed below. */
const METADATA_VERSION = 4
const NATIONAL_NUMBER_PATTERN = 2
const NATIONAL_PREFIX = 5
const NUMBER_TYPES = 11

const MAX_CALLING_CODE_DIGITS = 3

type CountryPlan = MetadataJson['nonGeographic'][string]
/** A pattern and, unless it allows every length of the plan, the allowed lengths. */
type NumberType = [pattern: string, lengths?: number[]]

let metadata: MetadataJson | undefined
const plansByCallingCode = new Map<string, NumberingPlan>()

/** Returns the numbering plan of a number in E.164 format; undefined if no calling code begins like the number. */
export function findNumberingPlan(phone: string): NumberingPlan | undefined {
  // No calling code is the beginning of another one.
  for (let digits = 1; digits <= MAX_CALLING_CODE_DIGITS; digits++) {
    const callingCode = phone.slice(1, 1 + digits)
    const plan = plansByCallingCode.get(callingCode) ?? readPlan(callingCode)
    if (plan) return plan
  }
  return undefined
}

function readPlan(callingCode: string): NumberingPlan | undefined {
  metadata ??= loadMetadata()
  const { country_calling_codes, countries, nonGeographic } = metadata
  const countryCodes: CountryCode[] | undefined = country_calling_codes[callingCode]
  const countryPlans =
    countryCodes?.map((code) => countries[code]!) ?? [nonGeographic[callingCode]].filter((plan) => !!plan)
  if (countryPlans.length === 0) return undefined
  const plan: NumberingPlan = {
    callingCode,
    trunkPrefix: countryPlans[0]![NATIONAL_PREFIX] || undefined,
    nationalNumberPattern: new RegExp(`^(?:${countryPlans.map(countryPattern).join('|')})$`),
  }
  plansByCallingCode.set(callingCode, plan)
  return plan
}

/** Returns a pattern for the numbers that match both the country's pattern and that of one number type. */
function countryPattern(plan: CountryPlan): string {
  // 0 stands for a type that the country does not have; an empty pattern for one with the pattern of another type.
  const types: (NumberType | 0)[] = plan[NUMBER_TYPES]
  const alternatives = types.flatMap((type) => (type === 0 || type[0] === '' ? [] : typePattern(type)))
  return `(?=(?:${plan[NATIONAL_NUMBER_PATTERN]})$)(?:${alternatives.join('|')})`
}

function typePattern([pattern, lengths]: NumberType): string {
  const lengthCheck = lengths ? `(?=(?:${lengths.map((length) => `\\d{${length}}`).join('|')})$)` : ''
  return `${lengthCheck}(?:${pattern})`
}

/**
 * Loads the numbering plans of all countries, on first use because they take 1 MB of memory. The functions of the package are not used:
 * they compile the patterns again for every number, which takes more than 20 times as long.
 */
function loadMetadata(): MetadataJson {
  const loaded: MetadataJson = createRequire(import.meta.url)('libphonenumber-js/metadata.max.json')
  if (loaded.version !== METADATA_VERSION)
    throw new Error(`libphonenumber-js has metadata of version ${loaded.version}; expected ${METADATA_VERSION}.`)
  return loaded
}
