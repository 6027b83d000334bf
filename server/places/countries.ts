import iso from 'i18n-iso-countries/index.js'
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' }

iso.registerLocale(english)

export interface Country {
  code: string
  name: string
}

// Kosovo's code is widely used, but not part of ISO 3166-1.
const KOSOVO_CODE = 'XK'
const INDIA_CODE = 'IN'

let cached: Country[] | undefined

/** Returns all countries for jobs abroad, sorted by name. */
export function listCountries(): Country[] {
  cached ??= Object.entries(iso.getNames('en', { select: 'official' }))
    .filter(([code]) => code !== KOSOVO_CODE && code !== INDIA_CODE)
    .map(([code, name]) => ({ code, name }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
  return cached
}
