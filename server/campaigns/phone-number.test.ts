import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { personas } from '../channels/simulator/test-numbers.ts'
import { phoneError } from './phone-number.ts'

test('the test numbers are valid', () => {
  for (const digits of Object.keys(personas)) assert.equal(phoneError(`+9199900000${digits}`), undefined)
})

test('the same numbers are valid as with the functions of libphonenumber-js', () => {
  // Numbers near an example of each country, so that many of them are valid.
  let seed = 1
  const nextDigit = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % 10
  }
  let validCount = 0
  for (const country of getCountries()) {
    const example = getExampleNumber(country, examples)?.nationalNumber ?? ''
    for (let changedDigit = 0; changedDigit < example.length; changedDigit++) {
      const national = `${example.slice(0, changedDigit)}${nextDigit()}${example.slice(changedDigit + 1)}`
      const digits = [national, national, national.slice(1), `${national}${nextDigit()}`][changedDigit % 4]
      const phone = `+${getCountryCallingCode(country)}${digits}`
      if (phone.length < 8) continue // rejected by the schema
      const parsed = parsePhoneNumberFromString(phone)
      // The library also accepts numbers with a trunk prefix, which it removes.
      const isValid = parsed?.isValid() === true && parsed.number === phone
      assert.equal(phoneError(phone) === undefined, isValid, phone)
      if (isValid) validCount++
    }
  }
  assert.ok(validCount > 500, `only ${validCount} numbers were valid`)
})
