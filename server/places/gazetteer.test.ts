import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { foldName } from './folding.ts'
import { readGazetteer } from './gazetteer.ts'

const { states, places } = readGazetteer()

const STATE_NAMES = [
  'Andhra Pradesh, Arunachal Pradesh, Assam, Bihar, Chhattisgarh, Goa, Gujarat, Haryana, Himachal Pradesh, Jharkhand',
  'Karnataka, Kerala, Madhya Pradesh, Maharashtra, Manipur, Meghalaya, Mizoram, Nagaland, Odisha, Punjab, Rajasthan',
  'Sikkim, Tamil Nadu, Telangana, Tripura, Uttar Pradesh, Uttarakhand, West Bengal',
]
const TERRITORY_NAMES = [
  'Andaman and Nicobar Islands, Chandigarh, Dadra and Nagar Haveli and Daman and Diu, Delhi, Jammu and Kashmir, Ladakh',
  'Lakshadweep, Puducherry',
]
const splitNames = (lines: string[]) => lines.flatMap((line) => line.split(', '))

test('there are 28 states and 8 union territories, each with places', () => {
  assert.equal(splitNames(STATE_NAMES).length, 28)
  assert.equal(splitNames(TERRITORY_NAMES).length, 8)
  const expected = splitNames([...STATE_NAMES, ...TERRITORY_NAMES]).sort()
  assert.deepEqual(states.map(({ name }) => name).sort(), expected)
  assert.deepEqual([...new Set(places.map(({ state }) => state.name))].sort(), expected)
})

test('every place has a name, a district and unique six-digit pincodes', () => {
  for (const { city, district, pincodes: codes, aliases, localities } of places) {
    assert.match(city, /^[A-Z0-9][\x20-\x7e]+$/, city)
    assert.match(district.name, /^[A-Z0-9][\x20-\x7e]+$/, district.name)
    assert.ok(codes.length > 0, city)
    assert.equal(new Set(codes).size, codes.length, city)
    for (const code of codes) assert.match(String(code), /^[1-8]\d{5}$/, `${city} ${code}`)
    for (const name of aliases) assert.ok(foldName(name).length > 1, `${city} ${name}`)
    for (const { code } of localities) assert.ok(codes.includes(code), `${city} ${code}`)
  }
})

test('every pincode of India is included, each in one state', () => {
  const statesByCode = new Map<number, Set<string>>()
  for (const { pincodes: codes, state } of places) {
    for (const code of codes) statesByCode.set(code, (statesByCode.get(code) ?? new Set<string>()).add(state.name))
  }
  assert.equal(statesByCode.size, 19_584)
  for (const [code, names] of statesByCode) assert.equal(names.size, 1, `${code}: ${[...names].join(' and ')}`)
})

test('a pincode is in a state of its postal zone', () => {
  // India Post's zones by the first two digits. Small territories are in the zone of a neighbour.
  const zones: [from: number, to: number, states: string][] = [
    [11, 11, 'DL'],
    [12, 13, 'HR'],
    [14, 16, 'PB CH HR'],
    [17, 17, 'HP'],
    [18, 19, 'JK LA'],
    [20, 28, 'UP UK'],
    [30, 34, 'RJ'],
    [36, 39, 'GJ DH'],
    [40, 44, 'MH GA'],
    [45, 48, 'MP'],
    [49, 49, 'CG'],
    [50, 50, 'TS'],
    [51, 53, 'AP PY'],
    [56, 59, 'KA'],
    [60, 66, 'TN PY'],
    [67, 69, 'KL LD PY'],
    [70, 74, 'WB SK AN'],
    [75, 77, 'OD'],
    [78, 78, 'AS'],
    [79, 79, 'AR MN ML MZ NL TR'],
    [80, 85, 'BR JH'],
  ]
  for (const { city, pincodes: codes, state } of places) {
    for (const code of codes) {
      const firstDigits = Math.floor(code / 10_000)
      const zone = zones.find(([from, to]) => from <= firstDigits && firstDigits <= to)
      assert.ok(zone?.[2].split(' ').includes(state.code), `${city} ${code} in ${state.name}`)
    }
  }
})

test('the number of districts is plausible, and each district has one spelling', () => {
  const districts = new Set(places.map(({ district, state }) => `${foldName(district.name)}, ${state.code}`))
  assert.ok(districts.size >= 750 && districts.size <= 800, String(districts.size))
})

test('the data file stays small enough to review', () => {
  assert.ok(statSync(new URL('../../data/places/india.tsv', import.meta.url)).size < 700_000)
})
