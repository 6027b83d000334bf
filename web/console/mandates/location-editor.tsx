import type { Country, CountryList, Location, LocationList } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { FieldError } from '../shared/field-error.tsx'
import { SearchBox } from '../shared/search-box.tsx'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

export interface LocationDraft {
  location_type: 'india' | 'abroad'
  city: string
  state: string
  pincode: string
  countries: string[]
}

interface Props {
  draft: LocationDraft
  errorAt: (path: string) => string | undefined
  onChange: (part: Partial<LocationDraft>) => void
}

/** The job's location: a town in India, found by name or pincode, or countries abroad. */
export function LocationEditor({ draft, errorAt, onChange }: Props) {
  const context = useOrgContext()
  const isAbroad = draft.location_type === 'abroad'
  const countries = useData<CountryList>(isAbroad ? context.apiPath('/countries') : undefined)
  const countryNames = new Map(countries.data?.items.map(({ code, name }) => [code, name]))
  return (
    <fieldset class="card stack">
      <legend class="card-legend">{t('Location')}</legend>
      <div class="choices two">
        {(['india', 'abroad'] as const).map((type) => (
          <label class="choice" key={type}>
            <input
              type="radio"
              name="location_type"
              checked={draft.location_type === type}
              onChange={() => onChange({ location_type: type })}
            />
            {type === 'india' ? t('In India') : t('Abroad')}
          </label>
        ))}
      </div>
      {isAbroad ? (
        <>
          <SearchBox<Country>
            id="country-search"
            label={t('Add country')}
            find={async (query) => {
              const lowerQuery = query.toLowerCase()
              const response = countries.data ? undefined : await api<CountryList>(context.apiPath('/countries'))
              return (countries.data?.items ?? (response?.ok ? response.data.items : []))
                .filter(({ code, name }) => name.toLowerCase().includes(lowerQuery) && !draft.countries.includes(code))
                .slice(0, 10)
            }}
            keyOf={({ code }) => code}
            show={({ name }) => name}
            onChoose={({ code }) => onChange({ countries: [...draft.countries, code] })}
          />
          <ul class="chips">
            {draft.countries.map((code) => (
              <li key={code}>
                <button
                  type="button"
                  class="small-button"
                  onClick={() => onChange({ countries: draft.countries.filter((each) => each !== code) })}
                >
                  {countryNames.get(code) ?? code} <span aria-hidden="true">×</span>
                  <span class="hidden-text">{t(': remove')}</span>
                </button>
              </li>
            ))}
          </ul>
          <FieldError text={errorAt('countries')} />
        </>
      ) : (
        <>
          <SearchBox<Location>
            id="location-search"
            label={t('Find a location')}
            placeholder={t('Pune, or 411001')}
            find={async (query) => {
              const response = await api<LocationList>(
                context.apiPath(`/locations?limit=8&q=${encodeURIComponent(query)}`),
              )
              return response.ok ? response.data.items : []
            }}
            keyOf={({ city, district, pincode }) => `${city} ${district} ${pincode}`}
            show={({ city, district, state, pincode }) => (
              <>
                {city}{' '}
                <span class="soft small">
                  {district === city ? '' : `${district}, `}
                  {state} {pincode}
                </span>
              </>
            )}
            onChoose={({ city, state, pincode }) => onChange({ city, state, pincode })}
          />
          <div class="pair">
            <Field id="city" label={t('City')} error={errorAt('location.city')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  value={draft.city}
                  onInput={(event) => onChange({ city: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field id="state" label={t('State')} error={errorAt('location.state')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  value={draft.state}
                  onInput={(event) => onChange({ state: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field id="pincode" label={t('Pincode')} error={errorAt('location.pincode')}>
              {(attributes) => (
                <input
                  type="text"
                  inputMode="numeric"
                  {...attributes}
                  value={draft.pincode}
                  onInput={(event) => onChange({ pincode: event.currentTarget.value })}
                />
              )}
            </Field>
          </div>
        </>
      )}
    </fieldset>
  )
}
