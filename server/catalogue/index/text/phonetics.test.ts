import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consonantKey, isDevanagari, phoneticKey, romanisationVariants } from './phonetics.ts'

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
  // An a at the beginning or at the end is part of the key.
  assert.notEqual(phoneticKey('akhbar'), phoneticKey('khabar'))
  assert.notEqual(phoneticKey('shikara'), phoneticKey('shikar'))
})

/** Words and their keys, for each rule. */
const KEYS_BY_RULE = {
  'c before e, i and y, other c, ck, ch':
    'clock:klok cycle:sikle cinema:sinema cement:sement cyber:sibr camera:kmera chaku:cku kacha:kca चाकू:cku',
  'm before p and b': 'campus:knpus champa:cnpa tumba:tunba कंबल:knbl zameen:jmin qalam:klm',
  'y after i, a vowel or a consonant, and at the beginning':
    'maya:mea bhaiya:bea ayush:eus mistry:mistri pyaaz:pij yatra:ytra',
  'a, aa and ai': 'akhbar:akbr shikara:sikra hawai:hve nihai:nihe पैसा:pesa',
  'e, ee, ea and er': 'eent:int easel:isel peer:pir meter:metr center:sentr',
  'o, oo, u and ph':
    'ghoda:goda oonth:unt sooji:suji suji:suji aloo:alu phool:ful oui:oui ट्रॉली:troli पौधा:puda सुई:sui',
  'h at the beginning, after a vowel and after a consonant': 'huda:huda ohara:ohra hathi:hti गृह:grih ऋषि:risi',
}

test('the phonetic key of a word follows the rules', () => {
  for (const [rule, pairs] of Object.entries(KEYS_BY_RULE))
    for (const [word, key] of pairs.split(' ').map((pair) => pair.split(':')))
      assert.equal(phoneticKey(word!), key, `${rule}: ${word}`)
})

test('Devanagari is recognised by its range of characters', () => {
  assert.deepEqual(['\u08ff', '\u0900', '\u097f', '\u0980'].map(isDevanagari), [false, true, true, false])
})

test('the phonetic key is empty if it would have fewer than three letters', () => {
  for (const word of ['', 'a', 'ai', 'का', 'w']) assert.equal(phoneticKey(word), '')
})

test('a romanised Hindi word has spelling variants, a word with other characters has none', () => {
  for (const [word, spellings] of [
    ['bijli', 'beejli bijlee bizli bijly'],
    ['mistry', 'meestry mistri mistree'],
    ['wazan', 'waazan wazaan vazan wajan'],
    ['ghee', 'ghi ghy'],
    ['aata', 'ata aataa'],
    ['kaam', 'kam'],
    ['aaloo', 'aalu aloo'],
    ['iota', 'eeota iotaa'],
    ['phool', 'phul fool'],
  ] as const)
    assert.deepEqual(romanisationVariants(word).join(' '), spellings)
  for (const word of ['abi', 'c++', 'wifi2']) assert.deepEqual(romanisationVariants(word), [], word)
  assert.deepEqual(romanisationVariants('teeen').slice(0, 2), ['tien', 'tein'], 'overlapping positions')
})

test('an English word and its transliterations in Devanagari have the same consonant key', () => {
  const spellings =
    'plumbing प्लंबिंग प्लम्बिंग; computer कंप्यूटर कम्प्यूटर; accounting अकाउंटिंग एकाउंटिंग; executive एग्जीक्यूटिव; quality क्वालिटी; technician टेक्नीशियन; stitching स्टिचिंग; packaging पैकेजिंग; machinist मशीनिस्ट'
  for (const line of spellings.split('; ')) {
    const keys = new Set(line.split(' ').map(consonantKey))
    assert.equal(keys.size, 1, line)
    assert.ok(!keys.has(''), line)
  }
  for (const word of ['tally', 'टैली', 'c++', '']) assert.equal(consonantKey(word), '', word)
})
