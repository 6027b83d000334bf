import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadInsFor } from './lead-ins.ts'
import type { Language, SourceContext } from './questions.ts'
import { Seeded } from './seeded.ts'
import { namesOf, tidySource } from './source-names.ts'

const sentences = (context: SourceContext, language: Language = 'en') =>
  leadInsFor('Arc welding', context, language, new Seeded('names')).best

const odd: [what: string, context: SourceContext, sentence: string][] = [
  ['a role that names the company', { role: 'Fitter at L&T', company: 'L&T' }, 'your role as Fitter at L&T.'],
  ['a role in a sentence', { role: 'Worked as a helper', company: 'Metro' }, 'your role as helper at Metro.'],
  ['an article', { role: 'An electrician', company: 'Metro' }, 'your role as electrician at Metro.'],
  ['a colon at the end', { role: 'Trainee:', company: 'Metro Ltd.' }, 'your role as Trainee at Metro Ltd.'],
  ['a bullet', { role: '• Fitter –', company: '- Metro' }, 'your role as Fitter at Metro.'],
  ['nobody’s company', { role: 'plumber', company: 'Self-employed' }, 'in your role as plumber.'],
  ['nothing in the field', { role: 'plumber', company: 'N/A' }, 'in your role as plumber.'],
  ['a company in brackets', { company: '"Sons" (Pvt.) Ltd.' }, 'in your work at "Sons" (Pvt.) Ltd.'],
  ['small letters', { role: 'helper', company: 'metro ltd' }, 'your role as helper at metro ltd.'],
  ['another script', { role: 'वेल्डर', company: 'श्री गणेश' }, 'your role as वेल्डर at श्री गणेश.'],
  ['a quoted project', { project: '"Smart farm"' }, 'your project “Smart farm”.'],
  ['quotes in a project', { project: '"Smart" farm: phase 2:' }, 'your project “‘Smart’ farm: phase 2”.'],
  ['an apostrophe', { project: "Farmer's friend" }, "your project “Farmer's friend”."],
  ['a danda', { project: 'शुद्ध जल।' }, 'your project “शुद्ध जल”.'],
  ['a certificate that says so', { certificate: 'ITI Certificate' }, 'the “ITI Certificate”.'],
  ['one that does not', { certificate: 'AWS Developer' }, 'the certificate “AWS Developer”.'],
  ['its issuer', { certificate: 'wireman licence', issuer: 'PWD' }, 'the “wireman licence” from PWD.'],
  ['its issuer twice', { certificate: 'NSDC Level 4', issuer: 'NSDC' }, 'the certificate “NSDC Level 4”.'],
]

for (const [what, context, sentence] of odd) {
  test(`${what} reads well`, () => {
    const found = sentences(context)
    assert.ok(
      found.some((text) => text.includes(sentence)),
      found.join(' | '),
    )
  })
}

test('every lead-in is whole sentences with the skill in them, whatever the names', () => {
  for (const [, context] of odd) {
    for (const language of ['en', 'hi'] as const) {
      const found = sentences(context, language)
      assert.ok(found.length > 0)
      for (const text of found) {
        assert.match(text, language === 'en' ? /^\p{Lu}.*[^.]\.$/u : /[^।]।$/u)
        assert.ok(text.includes('Arc welding'), text)
        assert.doesNotMatch(text, /\{|\}|undefined|\.\.|“”|“[^”]*“|\s{2}|\s[.,।]/u)
      }
    }
  }
})

test('a very long name is cut, and its sentence ends once', () => {
  const long = 'Design and fabrication of a low-cost pedal-operated washing machine for households in hilly villages'
  assert.equal(tidySource(long), 'Design and fabrication of a low-cost pedal-operated…')
  for (const text of sentences({ role: long, company: long })) {
    assert.ok(text.length < 200, text)
    assert.doesNotMatch(text, /…\./)
  }
})

test('beside a company the role is not taken for the one in the project', () => {
  const both = { role: 'Intern', company: 'Tata', project: 'Line 4' }
  for (const text of [...sentences(both), ...sentences(both, 'hi')])
    assert.ok(!(text.includes('Intern') && text.includes('Line 4')), text)
  assert.ok(sentences(both).some((text) => text.includes('Line 4')))
  assert.ok(sentences({ role: 'Lead', project: 'Line 4' }).some((text) => text.includes('Lead')))
  // The company was none; the role still is not the project's.
  for (const text of sentences({ role: 'Trainee', company: 'self', project: 'P1' }))
    assert.doesNotMatch(text, /Trainee/)
})

test('what says nothing names nothing', () => {
  for (const nothing of ['', ' ', '-', 'NA', 'n/a', 'None', '…', '🚀', '\n'])
    assert.deepEqual(namesOf({ role: nothing, company: nothing, project: nothing }, 'en'), {}, nothing)
})
