import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountries, getCountryCallingCode } from 'libphonenumber-js'
import { callingCodeOf, normalisePhone } from './phone.ts'

test('phone numbers are converted to E.164 format with the country of the connection', () => {
  const cases: [string, string, string | undefined][] = [
    ['9812345678', 'IN', '+919812345678'],
    ['098123 45678', 'IN', '+919812345678'],
    ['91-98123-45678', 'IN', '+919812345678'],
    ['+91 (0) 98123 45678', 'IN', '+919812345678'],
    ['+91 098123 45678', 'IN', '+919812345678'],
    ['0091 98123 45678', 'US', '+919812345678'],
    ['415-555-0100', 'US', '+14155550100'],
    ['1 (415) 555-0100', 'US', '+14155550100'],
    ['(415) 555-0100 x12', 'US', '+14155550100'],
    ['020 7946 0958', 'GB', '+442079460958'],
    ['+44 (0)20 7946 0958', 'IN', '+442079460958'],
    ['06 1234 5678', 'IT', '+390612345678'],
    ['8 912 345-67-89', 'RU', '+79123456789'],
    ['123-456-7890', 'US', undefined],
    ['11111 11111', 'IN', undefined],
    ['12345', 'IN', undefined],
    ['call me', 'IN', undefined],
    ['', 'IN', undefined],
    ['+', 'IN', undefined],
    ['98123 45678 / 98123 45679', 'IN', undefined],
  ]
  for (const [text, country, expected] of cases) assert.equal(normalisePhone(text, country), expected, text)
})

test('calling codes are those of the numbering plan', () => {
  const known = getCountries().filter((country) => callingCodeOf(country) !== undefined)
  assert.ok(known.length > 150)
  for (const country of known) assert.equal(callingCodeOf(country), getCountryCallingCode(country), country)
})
