import assert from 'node:assert/strict'
import { test } from 'node:test'
import { phoneticKey, romanisationVariants } from './phonetics.ts'

const SPELLINGS_BY_WORD = [
  'bijli bijlee bijali बिजली',
  'darzi darji darjee दर्जी',
  'mistri mistry mistree मिस्त्री',
  'silai silaai silayi सिलाई',
  'welder velder वेल्डर',
  'welding velding वेल्डिंग',
  'paint पेंट पेन्ट',
  'karigar kaarigar कारीगर',
  'fitter phitter फिटर',
  'safai saphai safaai सफाई',
  'rajmistri राजमिस्त्री',
  'khana khaana खाना',
]

test('all spellings of a word share one phonetic key, in both scripts', () => {
  for (const line of SPELLINGS_BY_WORD) assert.equal(new Set(line.split(' ').map(phoneticKey)).size, 1, line)
})

test('different words have different phonetic keys', () => {
  const keys = SPELLINGS_BY_WORD.map((line) => phoneticKey(line.split(' ')[0]!))
  assert.equal(new Set(keys).size, keys.length)
  assert.notEqual(phoneticKey('farm'), phoneticKey('form'))
})

test('a word whose phonetic key would be too short has no key', () => {
  for (const word of ['', 'a', 'ai', 'का', 'w']) assert.equal(phoneticKey(word), '')
})

test('a romanised Hindi word has spelling variants', () => {
  const spellings = romanisationVariants('bijli')
  for (const spelling of ['bijlee', 'beejli', 'bijly']) assert.ok(spellings.includes(spelling), spelling)
  assert.deepEqual(romanisationVariants('c++'), [])
})
