import { dialableNumber } from '../campaigns/phone-number.ts'

/** Calling codes by country code (ISO 3166-1). Of the countries that share +1, only CA and US have an entry. */
const CALLING_CODES: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'AE971 AF93 AL355 AM374 AO244 AR54 AT43 AU61 AZ994 BA387 BD880 BE32 BF226 BG359 BH973 BI257 BJ229 BN673 BO591 BR55 BT975 BW267 ' +
    'BY375 BZ501 CA1 CD243 CF236 CG242 CH41 CI225 CL56 CM237 CN86 CO57 CR506 CU53 CV238 CY357 CZ420 DE49 DJ253 DK45 DZ213 EC593 ' +
    'EE372 EG20 ER291 ES34 ET251 FI358 FJ679 FR33 GA241 GB44 GE995 GH233 GM220 GN224 GQ240 GR30 GT502 GW245 GY592 HK852 HN504 ' +
    'HR385 HT509 HU36 ID62 IE353 IL972 IN91 IQ964 IR98 IS354 IT39 JO962 JP81 KE254 KG996 KH855 KM269 KR82 KW965 KZ7 LA856 LB961 ' +
    'LI423 LK94 LR231 LS266 LT370 LU352 LV371 LY218 MA212 MC377 MD373 ME382 MG261 MK389 ML223 MM95 MN976 MO853 MR222 MT356 MU230 ' +
    'MV960 MW265 MX52 MY60 MZ258 NA264 NE227 NG234 NI505 NL31 NO47 NP977 NZ64 OM968 PA507 PE51 PG675 PH63 PK92 PL48 PT351 PY595 ' +
    'QA974 RO40 RS381 RU7 RW250 SA966 SC248 SD249 SE46 SG65 SI386 SK421 SL232 SN221 SO252 SR597 SS211 SV503 SY963 SZ268 TD235 ' +
    'TG228 TH66 TJ992 TL670 TM993 TN216 TR90 TW886 TZ255 UA380 UG256 US1 UY598 UZ998 VE58 VN84 XK383 YE967 ZA27 ZM260 ZW263'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), entry.slice(2)]),
)

/** Countries where a 0 before a national number belongs to it, or where none is dialled. */
const COUNTRIES_WITHOUT_TRUNK_ZERO = new Set(['IT', 'CI', 'GA', 'CG', 'ES', 'PT', 'DK', 'NO', 'SG', 'HK', 'US', 'CA'])

/** Returns the calling code of a country, such as 91; undefined for an unknown country. */
export function callingCodeOf(country: string): string | undefined {
  return CALLING_CODES[country.toUpperCase()]
}

/**
 * Returns a phone number as people write it in E.164 format: "098123 45678" with the country IN becomes +919812345678. Undefined if
 * it is not a number that can be dialled.
 */
export function normalisePhone(text: string, country: string): string | undefined {
  // Everything after an extension is dialled later and cannot receive messages.
  const withoutExtension = text.replace(/(?:ext\.?|extension|x|#|;)\s*\d*\s*$/i, '').trim()
  if (/[^\d\s().+/\u00a0\u2010-\u2015-]/.test(withoutExtension)) return undefined
  // "+44 (0)20 …": the 0 in brackets is dialled only within the country.
  const compact = withoutExtension.replace(/^(\+|00)([^()]*)\(0\)/, '$1$2').replace(/[^\d+]/g, '')
  if (!/^\+?\d+$/.test(compact)) return undefined
  const number = compact.startsWith('+') ? compact : internationalNumber(compact, country)
  return number === undefined ? undefined : dialableNumber(number)
}

function internationalNumber(digits: string, country: string): string | undefined {
  if (digits.startsWith('00')) return `+${digits.slice(2)}`
  const code = callingCodeOf(country)
  if (code === undefined) return undefined
  if (country.toUpperCase() === 'IN') return indianNumber(digits)
  if (code === '1' && digits.length === 11 && digits.startsWith('1')) return `+${digits}`
  if (code === '7' && digits.length === 11 && digits.startsWith('8')) return `+7${digits.slice(1)}`
  const national =
    digits.startsWith('0') && !COUNTRIES_WITHOUT_TRUNK_ZERO.has(country.toUpperCase()) ? digits.slice(1) : digits
  return `+${code}${national}`
}

/** Indian numbers have ten digits. Longer ones begin with the trunk prefix 0 or with the calling code. */
function indianNumber(digits: string): string | undefined {
  const national = /^(?:0|91|091)?(\d{10})$/.exec(digits)?.[1]
  return national && `+91${national}`
}
