import iso from 'i18n-iso-countries'
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' }

iso.registerLocale(english)

export interface Country {
  code: string
  name: string
}

// Kosovo's code is in wide use but not in ISO 3166-1.
const NOT_ISO = 'XK'
const HOME = 'IN'

let list: Country[] | undefined

/** Every country that an abroad job can be in, by name. */
export function countries(): Country[] {
  list ??= Object.entries(iso.getNames('en', { select: 'official' }))
    .filter(([code]) => code !== NOT_ISO && code !== HOME)
    .map(([code, name]) => ({ code, name }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
  return list
}
