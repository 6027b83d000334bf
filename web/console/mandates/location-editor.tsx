import { Field } from '../../ui/field.tsx'
import { Fault } from '../shared/field-error.tsx'
import type { Page } from '../shared/records.ts'
import { SearchBox } from '../shared/search-box.tsx'
import { api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'

export interface PlaceDraft {
  location_type: 'india' | 'abroad'
  city: string
  state: string
  pincode: string
  countries: string[]
}

interface Location {
  city: string
  district: string
  state: string
  pincode: string
}

interface Country {
  code: string
  name: string
}

interface Props {
  draft: PlaceDraft
  fault: (path: string) => string | undefined
  onChange: (part: Partial<PlaceDraft>) => void
}

/** A place in India, found by its name or pincode, or countries abroad. */
export function PlaceEditor({ draft, fault, onChange }: Props) {
  const place = usePlace()
  const abroad = draft.location_type === 'abroad'
  const countries = useData<Page<Country>>(abroad ? place.at('/countries') : undefined)
  const names = new Map(countries.data?.items.map(({ code, name }) => [code, name]))
  return (
    <fieldset class="card stack">
      <legend class="card-legend">Where</legend>
      <div class="choices two">
        {(['india', 'abroad'] as const).map((type) => (
          <label class="choice" key={type}>
            <input
              type="radio"
              name="location_type"
              checked={draft.location_type === type}
              onChange={() => onChange({ location_type: type })}
            />
            {type === 'india' ? 'In India' : 'Abroad'}
          </label>
        ))}
      </div>
      {abroad ? (
        <>
          <SearchBox<Country>
            id="country-search"
            label="Add a country"
            find={async (query) => {
              const wanted = query.toLowerCase()
              const answer = countries.data ? undefined : await api<Page<Country>>(place.at('/countries'))
              return (countries.data?.items ?? (answer?.ok ? answer.data.items : []))
                .filter(({ code, name }) => name.toLowerCase().includes(wanted) && !draft.countries.includes(code))
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
                  {names.get(code) ?? code} <span aria-hidden="true">×</span>
                  <span class="hidden-text">: remove</span>
                </button>
              </li>
            ))}
          </ul>
          <Fault text={fault('countries')} />
        </>
      ) : (
        <>
          <SearchBox<Location>
            id="place-search"
            label="Find a place"
            placeholder="Pune, or 411001"
            find={async (query) => {
              const answer = await api<Page<Location>>(place.at(`/locations?limit=8&q=${encodeURIComponent(query)}`))
              return answer.ok ? answer.data.items : []
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
            <Field id="city" label="City" fault={fault('location.city')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  value={draft.city}
                  onInput={(event) => onChange({ city: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field id="state" label="State" fault={fault('location.state')}>
              {(attributes) => (
                <input
                  type="text"
                  {...attributes}
                  value={draft.state}
                  onInput={(event) => onChange({ state: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field id="pincode" label="Pincode" fault={fault('location.pincode')}>
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
