import assert from 'node:assert/strict'
import { test } from 'node:test'
import { respellings, soundKey } from './sounds.ts'

const ALIKE = [
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

test('spellings of one word have one key, in either script', () => {
  for (const line of ALIKE) assert.equal(new Set(line.split(' ').map(soundKey)).size, 1, line)
})

test('different words have different keys', () => {
  const keys = ALIKE.map((line) => soundKey(line.split(' ')[0]!))
  assert.equal(new Set(keys).size, keys.length)
  assert.notEqual(soundKey('farm'), soundKey('form'))
})

test('too short a key is none', () => {
  for (const word of ['', 'a', 'ai', 'का', 'w']) assert.equal(soundKey(word), '')
})

test('a Hindi word is written in several ways', () => {
  const spellings = respellings('bijli')
  for (const spelling of ['bijlee', 'beejli', 'bijly']) assert.ok(spellings.includes(spelling), spelling)
  assert.deepEqual(respellings('c++'), [])
})
