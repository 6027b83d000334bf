import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { isOptOutReply, mentionsLater, PROMPT_KEYS, prompt, readExactly, readYesNo, slotsOf } from './prompts.ts'

const PROMPTS_FOLDER = new URL('../../data/prompts/', import.meta.url)
const SLOT_VALUES = Object.fromEntries(
  ['name', 'company', 'title', 'minutes', 'skill', 'language', 'link', 'option', 'number', 'n', 'total'].map((slot) => [
    slot,
    '7',
  ]),
)
const SCRIPTS: Record<Language, RegExp> = {
  en: /\p{Script=Latin}/gu,
  hi: /\p{Script=Devanagari}/gu,
  mr: /\p{Script=Devanagari}/gu,
  bn: /\p{Script=Bengali}/gu,
  as: /\p{Script=Bengali}/gu,
  ta: /\p{Script=Tamil}/gu,
  te: /\p{Script=Telugu}/gu,
  gu: /\p{Script=Gujarati}/gu,
  kn: /\p{Script=Kannada}/gu,
  ml: /\p{Script=Malayalam}/gu,
  pa: /\p{Script=Gurmukhi}/gu,
  or: /\p{Script=Oriya}/gu,
}

test('there is exactly one file per language', () => {
  const files = readdirSync(PROMPTS_FOLDER).filter((name) => name !== 'words.txt')
  assert.deepEqual(files.sort(), LANGUAGES.map((language) => `${language}.txt`).sort())
})

for (const language of LANGUAGES) {
  test(`${language}: every text exists once, with the same slots, in its own script`, () => {
    const keys = readFileSync(new URL(`${language}.txt`, PROMPTS_FOLDER), 'utf8')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => /^(\w+) = \S/.exec(line)?.[1] ?? line)
    assert.deepEqual(keys, [...PROMPT_KEYS])
    for (const key of PROMPT_KEYS) {
      assert.deepEqual(slotsOf(key, language), slotsOf(key, 'en'), key)
      const text = prompt(key, language, SLOT_VALUES)
      assert.doesNotMatch(text, /[{}]|\s{2}|^\s|\s$|[\p{Cc}\ufffd]/u, key)
      const translatedText = text.replace(/STOP|BACK/, '')
      const letters = translatedText.match(/\p{L}/gu) ?? []
      const lettersInScript = translatedText.match(SCRIPTS[language]) ?? []
      assert.ok(
        lettersInScript.filter((sign) => /\p{L}/u.test(sign)).length >= letters.length * 0.95,
        `${key}: ${text}`,
      )
    }
    assert.match(prompt('reply_stop', language), /STOP/)
    assert.match(prompt('back_hint', language), /BACK/)
    assert.doesNotMatch(prompt('consent', language, SLOT_VALUES), /STOP/)
    assert.doesNotMatch(prompt('email_stop', language, SLOT_VALUES), /STOP/)
  })
}

test('candidates who are not interested are not told that the job is not for them', () => {
  for (const language of LANGUAGES)
    assert.doesNotMatch(
      prompt('thanks_not_interested', language, SLOT_VALUES),
      /के लिए नहीं|জন্য নয়|साठी नाही|માટે નથી|ਲਈ ਨਹੀਂ|ପାଇଁ ନୁହେଁ|বাবে নহয়/,
      language,
    )
})

test('labels of buttons fit into a WhatsApp button', () => {
  const keys = ['yes', 'no', 'skip', 'consent_yes', 'consent_no', 'not_now'] as const
  for (const language of LANGUAGES)
    for (const key of [...keys, 'later_today', 'later_tomorrow', 'later_never'] as const)
      assert.ok(prompt(key, language).length <= 20, `${language} ${key}`)
})

test('no two languages share a sentence', () => {
  const keyByText = new Map<string, string>()
  for (const language of LANGUAGES) {
    for (const key of PROMPT_KEYS) {
      const text = prompt(key, language, SLOT_VALUES)
      if (text.length < 25) continue
      assert.equal(keyByText.get(text), undefined, `${language} ${key} is also ${keyByText.get(text)}`)
      keyByText.set(text, `${language} ${key}`)
    }
  }
})

test('a value is reduced to one short line and fills no other slot', () => {
  const text = prompt('interest', 'en', { title: 'Welder\n\u202e{company}', company: `A${'x'.repeat(500)}` })
  assert.ok(text.startsWith('Are you interested in the job of Welder {company} at Ax'))
  assert.ok(text.length < 200)
  assert.throws(() => prompt('interest', 'en', { title: 'Welder' }), /company/)
  const link = `https://verify.example.com/c/${'t'.repeat(200)}`
  assert.ok(prompt('link', 'ta', { link }).endsWith(link))
})

test('yes and no are recognised in every language', () => {
  for (const language of LANGUAGES) {
    assert.equal(readYesNo(prompt('yes', language), language), 'yes', language)
    assert.equal(readYesNo(` ${prompt('no', language)}! `, language), 'no', language)
    assert.equal(readYesNo(prompt('consent_yes', language), language), 'yes', language)
    assert.equal(readYesNo(prompt('consent_no', language), language), 'no', language)
    assert.equal(readYesNo(prompt('not_now', language), language), 'later', language)
    for (const when of ['today', 'tomorrow', 'never'] as const)
      assert.equal(readExactly(prompt(`later_${when}`, language), language, [when]), when, language)
    assert.equal(readYesNo('YES', language), 'yes')
    assert.equal(readYesNo('no', language), 'no')
  }
})

const replies: [text: string, language: Language, meaning: 'yes' | 'no' | 'later' | undefined][] = [
  ['Haan ji', 'hi', 'yes'],
  ['जी हाँ।', 'hi', 'yes'],
  ['हां', 'en', 'yes'],
  ['ok sir', 'en', 'yes'],
  ['👍🏽', 'kn', 'yes'],
  ['Yes, two years', 'en', 'yes'],
  ['no problem', 'en', 'yes'],
  ['ஆமாங்க', 'ta', 'yes'],
  ['होय', 'mr', 'yes'],
  ['no, I am in Pune', 'en', 'no'],
  ["No, I don't", 'en', 'no'],
  ['वेण्डा', 'ml', undefined],
  ['വേണ്ട', 'ml', 'no'],
  ['নালাগে', 'as', 'no'],
  ['no idea', 'en', undefined],
  ['not sure', 'en', undefined],
  ['पता नहीं', 'hi', undefined],
  ['yes but no licence', 'en', undefined],
  ['not now', 'en', 'later'],
  ['Not now, I am at work', 'en', 'later'],
  ['later please', 'hi', 'later'],
  ['रुको', 'hi', 'later'],
  ['थांबा', 'hi', 'later'],
  ['yes, but later', 'en', undefined],
  ['Yes, I can start tomorrow', 'en', 'yes'],
  ['no, never call me later', 'en', 'no'],
  ['I have not done it', 'en', 'no'],
  ['I have no licence', 'en', undefined],
  ['yesterday', 'en', undefined],
  ['north', 'en', undefined],
  ['', 'en', undefined],
  ['?', 'en', undefined],
  ['yes '.repeat(1000), 'en', undefined],
]
for (const [text, language, meaning] of replies) {
  test(`${JSON.stringify(text.slice(0, 30))} in ${language} is ${meaning ?? 'neither'}`, () => {
    assert.equal(readYesNo(text, language), meaning)
  })
}

/** The words of `words.txt` by language and meaning. */
const listedWords = new Map(
  readFileSync(new URL('words.txt', PROMPTS_FOLDER), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, key, words] = /^([a-z]{2} [a-z]+) = (.+)$/.exec(line) ?? []
      return key && words ? [[key, words.split(';').map((word) => word.trim())] as const] : []
    }),
)

/** Words that mean "wait", in every language. */
const waitWords: Record<Language, string[]> = {
  en: ['wait', 'hold on', 'one minute', 'ruko', 'thehro'],
  hi: ['रुको', 'रुकिए', 'ठहरो', 'एक मिनट'],
  mr: ['थांबा', 'जरा थांबा', 'thamba'],
  bn: ['থামুন', 'দাঁড়ান', 'অপেক্ষা করুন'],
  as: ['ৰওক', 'অলপ ৰওক', 'অপেক্ষা কৰক'],
  ta: ['இருங்க', 'பொறுங்கள்', 'நில்லுங்க', 'ஒரு நிமிடம்'],
  te: ['ఆగండి', 'ఒక్క నిమిషం', 'agandi'],
  gu: ['અટકો', 'થોભો', 'ઊભા રહો'],
  kn: ['ನಿಲ್ಲಿ', 'ಇರಿ', 'ತಾಳಿ', 'ತಡೆಯಿರಿ'],
  ml: ['നിൽക്കൂ', 'ഒരു നിമിഷം', 'കാത്തിരിക്കൂ'],
  pa: ['ਰੁਕੋ', 'ਠਹਿਰੋ', 'ਇੱਕ ਮਿੰਟ'],
  or: ['ରୁହ', 'ରୁହନ୍ତୁ', 'ଅପେକ୍ଷା କରନ୍ତୁ'],
}

for (const language of LANGUAGES) {
  test(`${language}: "wait" and "not now" are neither an opt-out nor a refusal, and every word for STOP is an opt-out`, () => {
    for (const word of [...waitWords[language], ...listedWords.get(`${language} later`)!]) {
      assert.ok(!isOptOutReply(word), word)
      assert.equal(readYesNo(word, language), 'later', word)
    }
    for (const word of listedWords.get(`${language} stop`)!) assert.ok(isOptOutReply(word), word)
  })

  test(`${language}: each word has one meaning, and every meaning has words`, () => {
    const meaningByWord = new Map<string, string>()
    for (const meaning of [
      'yes',
      'no',
      'later',
      'unsure',
      'back',
      'thanks',
      'today',
      'tomorrow',
      'never',
      'stop',
    ] as const)
      for (const word of listedWords.get(`${language} ${meaning}`)!) {
        assert.equal(meaningByWord.get(word) ?? meaning, meaning, word)
        meaningByWord.set(word, meaning)
        assert.equal(readExactly(word, language, [meaning]), meaning, word)
      }
    for (const word of listedWords.get(`${language} unsure`)!) assert.equal(readYesNo(word, language), undefined, word)
  })
}

test('a later time is found inside a short reply, unless it is negated', () => {
  for (const text of ['yes but call me later', 'ok, tomorrow', 'हाँ, बाद में', 'busy hu bhai'])
    assert.ok(mentionsLater(text, 'hi'), text)
  for (const text of [
    'yes',
    "don't call me later",
    'never call later',
    'I waited at the later stage of my very long career',
  ])
    assert.ok(!mentionsLater(text, 'en'), text)
})

test('an opt-out is recognised in any language, but not inside a longer reply', () => {
  for (const text of [
    'STOP',
    ' stop. ',
    'Please stop',
    'unsubscribe',
    "Don't call me",
    'बंद करो',
    'बन्द करो',
    'ஸ்டாப்',
    'বন্ধ কৰক',
  ])
    assert.ok(isOptOutReply(text), text)
  for (const text of ['bus stop', 'I never stop learning', 'yes', '', 'The machine has an emergency stop', 'न'])
    assert.ok(!isOptOutReply(text), text)
})
