import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownCities } from './known-cities.test-data.ts'
import { type Location, locationIndex } from './locations.ts'

const allLocations = locationIndex()
const findLocations = (q: string, limit = 5): Location[] => allLocations.search({ q }, 0, limit).items
const findFirst = (q: string): Location | undefined => findLocations(q, 1)[0]

test('well-known cities are found by all their names, in the right state', () => {
  const cities = knownCities()
  assert.ok(cities.length >= 300, String(cities.length))
  const missedNames = cities.flatMap(({ state, names }) =>
    names
      .filter((name) => !findLocations(name).some((item) => item.state === state && hasCity(item, names)))
      .map((name) => `${name} (${state}): ${findLocations(name).map(Object.values).join(' | ')}`),
  )
  assert.deepEqual(missedNames, [])
})

test('the largest cities are the first match for each of their names', () => {
  const namesByCity: Record<string, string[]> = {
    Mumbai: ['Mumbai', 'bombay', 'MUMBAI'],
    Bengaluru: ['Bengaluru', 'Bangalore', 'bangalore'],
    Chennai: ['Chennai', 'Madras'],
    Kolkata: ['Kolkata', 'Calcutta'],
    Delhi: ['Delhi', 'New Delhi', 'dilli'],
    Gurugram: ['Gurugram', 'Gurgaon'],
    Kochi: ['Kochi', 'Cochin', 'Ernakulam'],
  }
  for (const [city, names] of Object.entries(namesByCity)) {
    for (const name of names) assert.equal(findFirst(name)?.city, city, name)
  }
})

function hasCity({ city }: Location, names: string[]): boolean {
  return names.includes(city)
}

test('misspelt names are found', () => {
  const cityByTypo: Record<string, string> = {
    bangalor: 'Bengaluru',
    hydrabad: 'Hyderabad',
    chenai: 'Chennai',
    mumbay: 'Mumbai',
    calcuta: 'Kolkata',
    ahmdabad: 'Ahmedabad',
    gurugam: 'Gurugram',
    allahbad: 'Prayagraj',
    vishakapatnam: 'Visakhapatnam',
    bhubneswar: 'Bhubaneswar',
    coimbtore: 'Coimbatore',
    lucnkow: 'Lucknow',
    thiruvanantpuram: 'Thiruvananthapuram',
    chandigrah: 'Chandigarh',
    nagpurr: 'Nagpur',
    jamshedpr: 'Jamshedpur',
  }
  for (const [typo, city] of Object.entries(cityByTypo)) assert.equal(findFirst(typo)?.city, city, typo)
})

test('a search does not return similar names if a name matches exactly', () => {
  assert.ok(findLocations('salem', 100).every(({ city, district }) => /salem/i.test(`${city} ${district}`)))
})

test('exact matches rank before prefix matches, cities before districts, and better-known places first', () => {
  assert.deepEqual(
    findLocations('Aurangabad', 2).map(({ state }) => state),
    ['Maharashtra', 'Bihar'],
  )
  assert.equal(findFirst('noida')!.city, 'Noida')
  assert.equal(findLocations('mumbai', 4).at(-1)!.city, 'Navi Mumbai')
  assert.equal(findFirst('kutch')!.district, 'Kutch')
  assert.equal(findFirst('Gautam Buddha Nagar')!.city, 'Noida')
  assert.equal(findFirst('kamrup metropolitan')!.city, 'Guwahati')
  assert.equal(findFirst('ban')!.city, 'Bengaluru')
})

test('a part of a city is returned with its own pincode', () => {
  assert.deepEqual(findFirst('koramangala'), {
    city: 'Bengaluru',
    district: 'Bengaluru Urban',
    state: 'Karnataka',
    pincode: '560034',
  })
})

test('names in Devanagari are found, with or without the nukta', () => {
  assert.equal(findFirst('दिल्ली')!.city, 'Delhi')
  assert.equal(findFirst('चंडीगढ')!.city, 'Chandigarh')
  assert.equal(findFirst('चंडीगढ़')!.city, 'Chandigarh')
})

test('a query can be a city followed by its state, or a state', () => {
  assert.equal(findFirst('aurangabad, bihar')!.state, 'Bihar')
  assert.equal(findFirst('pune mh')!.city, 'Pune')
  assert.equal(findFirst('ladakh')!.city, 'Leh')
})

test('digits match the start of a pincode', () => {
  assert.ok(findLocations('5600', 100).every(({ pincode }) => pincode.startsWith('5600')))
  assert.equal(findFirst('560 034')!.pincode, '560034')
  assert.equal(findFirst('799001')!.state, 'Tripura')
  assert.deepEqual(findLocations('0560034'), [])
  assert.deepEqual(findLocations('5600341'), [])
})

test('states are found by name, abbreviation and former name', () => {
  const stateByName: Record<string, string> = {
    karnataka: 'Karnataka',
    KA: 'Karnataka',
    Orissa: 'Odisha',
    'J&K': 'Jammu and Kashmir',
    'jammu & kashmir': 'Jammu and Kashmir',
    uttaranchal: 'Uttarakhand',
    TG: 'Telangana',
    'Daman and Diu': 'Dadra and Nagar Haveli and Daman and Diu',
    pondicherry: 'Puducherry',
  }
  for (const [name, state] of Object.entries(stateByName)) assert.equal(allLocations.findState(name)?.name, state, name)
  assert.equal(allLocations.findState('Atlantis'), undefined)
})

test('a search by pincode returns only places with this pincode', () => {
  for (const pincode of ['110001', '400001', '560001', '605001', '682555', '744101', '737101', '194101']) {
    const { items } = allLocations.search({ pincode }, 0, 100)
    assert.ok(items.length > 0 && items.every((item) => item.pincode === pincode), pincode)
  }
})

test('a search returns each place at most once', () => {
  for (const q of ['ra', 'mumbai', 'hydrabad', 'new', 'kerala', 'delhi']) {
    const { items } = allLocations.search({ q }, 0, 100_000)
    const places = items.map(({ city, district, state }) => `${city}|${district}|${state}`)
    assert.equal(new Set(places).size, places.length, q)
  }
})
