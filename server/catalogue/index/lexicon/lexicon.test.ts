import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as lexicon from './lexicon.ts'

const LEXICON_FOLDER = new URL('../../../../data/lexicon/', import.meta.url)
const lexiconFiles = readdirSync(LEXICON_FOLDER).filter((file) => file.endsWith('.txt'))

test('every file of the lexicon is loaded and described in the README', () => {
  const code = readFileSync(new URL('lexicon.ts', import.meta.url), 'utf8')
  const readme = readFileSync(new URL('README.md', LEXICON_FOLDER), 'utf8')
  for (const file of lexiconFiles) {
    assert.ok(code.includes(`'${file}'`), `lexicon.ts does not load ${file}`)
    assert.ok(readme.includes(`| \`${file}\` |`), `data/lexicon/README.md does not list ${file}`)
  }
})

test('every file starts with a comment that explains it', () => {
  for (const file of lexiconFiles) assert.match(readFileSync(new URL(file, LEXICON_FOLDER), 'utf8'), /^# \S/, file)
})

test('word lists, mappings and groups of the lexicon are loaded', () => {
  assert.ok(lexicon.everydayWords.has('go'))
  assert.ok(lexicon.stopWords.has('the') && lexicon.functionWords.has('can') && lexicon.praiseWords.has('strong'))
  assert.ok(lexicon.applicantWordPairs.has('full time'))
  assert.equal(lexicon.shortForms.get('hvac'), 'heating ventilation air conditioning')
  assert.deepEqual(lexicon.misspellings.get('fitting'), ['fiting'])
  assert.ok(lexicon.synonymGroups.some((group) => group.includes('truck') && group.includes('lorry')))
  assert.ok(lexicon.negationWords['hindi negations'].includes('नहीं'))
})

test('Hindi words are found with and without nukta', () => {
  assert.ok(lexicon.languageWords.languages.includes('कन्नड'))
  assert.ok(lexicon.hindiActivities.get('teaching')!.includes('पढाना'))
})
