import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../measurement/seeded-random.ts'
import type { Language } from '../platform/text/languages.ts'
import { leadInsFor } from './lead-ins.ts'
import type { SourceContext } from './questions.ts'
import { sourceNames, tidySourceText } from './source-names.ts'

const leadInSentences = (context: SourceContext, language: Language = 'en') =>
  leadInsFor('Arc welding', context, language, new SeededRandom('names')).best

const unusualSources: [what: string, context: SourceContext, sentence: string][] = [
  ['a role that names the company', { role: 'Fitter at L&T', company: 'L&T' }, 'your role as Fitter at L&T.'],
  ['a role in a sentence', { role: 'Worked as a helper', company: 'Metro' }, 'your role as helper at Metro.'],
  ['an article', { role: 'An electrician', company: 'Metro' }, 'your role as electrician at Metro.'],
  ['a colon at the end', { role: 'Trainee:', company: 'Metro Ltd.' }, 'your role as Trainee at Metro Ltd.'],
  ['a bullet', { role: '• Fitter –', company: '- Metro' }, 'your role as Fitter at Metro.'],
  [
    'a company value that means self-employed',
    { role: 'plumber', company: 'Self-employed' },
    'in your role as plumber.',
  ],
  ['a placeholder value in the field', { role: 'plumber', company: 'N/A' }, 'in your role as plumber.'],
  ['a company in brackets', { company: '"Sons" (Pvt.) Ltd.' }, 'in your work at "Sons" (Pvt.) Ltd.'],
  ['small letters', { role: 'helper', company: 'metro ltd' }, 'your role as helper at metro ltd.'],
  ['another script', { role: 'वेल्डर', company: 'श्री गणेश' }, 'your role as वेल्डर at श्री गणेश.'],
  ['a quoted project', { project: '"Smart farm"' }, 'your project “Smart farm”.'],
  ['quotes in a project', { project: '"Smart" farm: phase 2:' }, 'your project “‘Smart’ farm: phase 2”.'],
  ['an apostrophe', { project: "Farmer's friend" }, "your project “Farmer's friend”."],
  ['a danda', { project: 'शुद्ध जल।' }, 'your project “शुद्ध जल”.'],
  ['a certificate name with the word certificate', { certificate: 'ITI Certificate' }, 'the “ITI Certificate”.'],
  [
    'a certificate name without the word certificate',
    { certificate: 'AWS Developer' },
    'the certificate “AWS Developer”.',
  ],
  ['the issuer of a certificate', { certificate: 'wireman licence', issuer: 'PWD' }, 'the “wireman licence” from PWD.'],
  [
    'an issuer that the certificate names',
    { certificate: 'NSDC Level 4', issuer: 'NSDC' },
    'the certificate “NSDC Level 4”.',
  ],
]

for (const [description, context, sentence] of unusualSources) {
  test(`a lead-in reads well for a source with ${description}`, () => {
    const leadIns = leadInSentences(context)
    assert.ok(
      leadIns.some((text) => text.includes(sentence)),
      leadIns.join(' | '),
    )
  })
}

test('every lead-in consists of complete sentences that name the skill', () => {
  for (const [, context] of unusualSources) {
    for (const language of ['en', 'hi'] as const) {
      const leadIns = leadInSentences(context, language)
      assert.ok(leadIns.length > 0)
      for (const text of leadIns) {
        assert.match(text, language === 'en' ? /^\p{Lu}.*[^.]\.$/u : /[^।]।$/u)
        assert.ok(text.includes('Arc welding'), text)
        assert.doesNotMatch(text, /\{|\}|undefined|\.\.|“”|“[^”]*“|\s{2}|\s[.,।]/u)
      }
    }
  }
})

test('a very long name is truncated and its sentence ends once', () => {
  const longName =
    'Design and fabrication of a low-cost pedal-operated washing machine for households in hilly villages'
  assert.equal(tidySourceText(longName), 'Design and fabrication of a low-cost pedal-operated…')
  for (const text of leadInSentences({ role: longName, company: longName })) {
    assert.ok(text.length < 200, text)
    assert.doesNotMatch(text, /…\./)
  }
})

test('with a company, the role is not attributed to the project', () => {
  const companyAndProject = { role: 'Intern', company: 'Tata', project: 'Line 4' }
  for (const text of [...leadInSentences(companyAndProject), ...leadInSentences(companyAndProject, 'hi')])
    assert.ok(!(text.includes('Intern') && text.includes('Line 4')), text)
  assert.ok(leadInSentences(companyAndProject).some((text) => text.includes('Line 4')))
  assert.ok(leadInSentences({ role: 'Lead', project: 'Line 4' }).some((text) => text.includes('Lead')))
  // "self" is not a company, but the role is still not attributed to the project.
  for (const text of leadInSentences({ role: 'Trainee', company: 'self', project: 'P1' }))
    assert.doesNotMatch(text, /Trainee/)
})

test('placeholder values are ignored', () => {
  for (const placeholder of ['', ' ', '-', 'NA', 'n/a', 'None', '…', '🚀', '\n'])
    assert.deepEqual(
      sourceNames({ role: placeholder, company: placeholder, project: placeholder }, 'en'),
      {},
      placeholder,
    )
})
