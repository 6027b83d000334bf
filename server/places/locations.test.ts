import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownCities } from './known-cities.test-data.ts'
import { type Location, locations } from './locations.ts'

const all = locations()
const find = (q: string, limit = 5): Location[] => all.search({ q }, 0, limit).items
const first = (q: string): Location | undefined => find(q, 1)[0]

test('well-known cities are found by all their names, in the right state', () => {
  const cities = knownCities()
  assert.ok(cities.length >= 300, String(cities.length))
  const missed = cities.flatMap(({ state, names }) =>
    names
      .filter((name) => !find(name).some((item) => item.state === state && hasCity(item, names)))
      .map((name) => `${name} (${state}): ${find(name).map(Object.values).join(' | ')}`),
  )
  assert.deepEqual(missed, [])
})

test('the largest cities are the first match for each of their names', () => {
  const metros: Record<string, string[]> = {
    Mumbai: ['Mumbai', 'bombay', 'MUMBAI'],
    Bengaluru: ['Bengaluru', 'Bangalore', 'bangalore'],
    Chennai: ['Chennai', 'Madras'],
    Kolkata: ['Kolkata', 'Calcutta'],
    Delhi: ['Delhi', 'New Delhi', 'dilli'],
    Gurugram: ['Gurugram', 'Gurgaon'],
    Kochi: ['Kochi', 'Cochin', 'Ernakulam'],
  }
  for (const [city, names] of Object.entries(metros)) {
    for (const name of names) assert.equal(first(name)?.city, city, name)
  }
})

function hasCity({ city }: Location, names: string[]): boolean {
  return names.includes(city)
}

test('misspelt names are found', () => {
  const typos: Record<string, string> = {
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
  for (const [typo, city] of Object.entries(typos)) assert.equal(first(typo)?.city, city, typo)
})

test('typos are not considered if a name matches exactly', () => {
  assert.ok(find('salem', 100).every(({ city, district }) => /salem/i.test(`${city} ${district}`)))
})

test('exact names rank before prefixes, cities before districts, and better-known places first', () => {
  assert.deepEqual(
    find('Aurangabad', 2).map(({ state }) => state),
    ['Maharashtra', 'Bihar'],
  )
  assert.equal(first('noida')!.city, 'Noida')
  assert.equal(find('mumbai', 4).at(-1)!.city, 'Navi Mumbai')
  assert.equal(first('kutch')!.district, 'Kutch')
  assert.equal(first('Gautam Buddha Nagar')!.city, 'Noida')
  assert.equal(first('kamrup metropolitan')!.city, 'Guwahati')
  assert.equal(first('ban')!.city, 'Bengaluru')
})

test('a part of a city is returned with its own pincode', () => {
  assert.deepEqual(first('koramangala'), {
    city: 'Bengaluru',
    district: 'Bengaluru Urban',
    state: 'Karnataka',
    pincode: '560034',
  })
})

test('names in Devanagari are found, with or without the nukta', () => {
  assert.equal(first('दिल्ली')!.city, 'Delhi')
  assert.equal(first('चंडीगढ')!.city, 'Chandigarh')
  assert.equal(first('चंडीगढ़')!.city, 'Chandigarh')
})

test('a state can follow the city, and the name of a state lists its places', () => {
  assert.equal(first('aurangabad, bihar')!.state, 'Bihar')
  assert.equal(first('pune mh')!.city, 'Pune')
  assert.equal(first('ladakh')!.city, 'Leh')
})

test('digits match the start of a pincode', () => {
  assert.ok(find('5600', 100).every(({ pincode }) => pincode.startsWith('5600')))
  assert.equal(first('560 034')!.pincode, '560034')
  assert.equal(first('799001')!.state, 'Tripura')
  assert.deepEqual(find('0560034'), [])
  assert.deepEqual(find('5600341'), [])
})

test('states are found by name, abbreviation and former name', () => {
  const known: Record<string, string> = {
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
  for (const [name, state] of Object.entries(known)) assert.equal(all.findState(name)?.name, state, name)
  assert.equal(all.findState('Atlantis'), undefined)
})

test('a pincode finds its places', () => {
  for (const pincode of ['110001', '400001', '560001', '605001', '682555', '744101', '737101', '194101']) {
    const { items } = all.search({ pincode }, 0, 100)
    assert.ok(items.length > 0 && items.every((item) => item.pincode === pincode), pincode)
  }
})

test('a search lists no place twice', () => {
  for (const q of ['ra', 'mumbai', 'hydrabad', 'new', 'kerala', 'delhi']) {
    const { items } = all.search({ q }, 0, 100_000)
    const keys = items.map(({ city, district, state }) => `${city}|${district}|${state}`)
    assert.equal(new Set(keys).size, keys.length, q)
  }
})
