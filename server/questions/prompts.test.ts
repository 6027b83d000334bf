import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import { isOptOutReply, PROMPT_KEYS, prompt, readYesNo, slotsOf } from './prompts.ts'

const PROMPTS_FOLDER = new URL('../../data/prompts/', import.meta.url)
const SLOT_VALUES = Object.fromEntries(
  ['name', 'company', 'title', 'minutes', 'skill', 'link', 'option', 'number', 'n', 'total'].map((slot) => [slot, '7']),
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
      const letters = text.replace('STOP', '').match(/\p{L}/gu) ?? []
      const lettersInScript = text.replace('STOP', '').match(SCRIPTS[language]) ?? []
      assert.ok(
        lettersInScript.filter((sign) => /\p{L}/u.test(sign)).length >= letters.length * 0.95,
        `${key}: ${text}`,
      )
    }
    assert.match(prompt('reply_stop', language), /STOP/)
    assert.doesNotMatch(prompt('consent', language, SLOT_VALUES), /STOP/)
    assert.doesNotMatch(prompt('email_stop', language, SLOT_VALUES), /STOP/)
  })
}

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
    assert.equal(readYesNo('YES', language), 'yes')
    assert.equal(readYesNo('no', language), 'no')
  }
})

const replies: [text: string, language: Language, meaning: 'yes' | 'no' | undefined][] = [
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
