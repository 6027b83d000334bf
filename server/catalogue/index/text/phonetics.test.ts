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

test('all spellings of a Hindi word, in Latin letters and in Devanagari, have the same phonetic key', () => {
  for (const line of SPELLINGS_BY_WORD) assert.equal(new Set(line.split(' ').map(phoneticKey)).size, 1, line)
})

test('different words have different phonetic keys', () => {
  const keys = SPELLINGS_BY_WORD.map((line) => phoneticKey(line.split(' ')[0]!))
  assert.equal(new Set(keys).size, keys.length)
  assert.notEqual(phoneticKey('farm'), phoneticKey('form'))
})

test('the phonetic key is empty if it would have fewer than three letters', () => {
  for (const word of ['', 'a', 'ai', 'का', 'w']) assert.equal(phoneticKey(word), '')
})

test('a romanised Hindi word has spelling variants, a word with other characters has none', () => {
  const spellings = romanisationVariants('bijli')
  for (const spelling of ['bijlee', 'beejli', 'bijly']) assert.ok(spellings.includes(spelling), spelling)
  assert.deepEqual(romanisationVariants('c++'), [])
})
