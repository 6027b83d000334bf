import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXOTEL, EXOTEL_VOICE, TWILIO, WHATSAPP } from '../../test/support/provider.ts'
import { checkChannel } from './check.ts'
import { defaultTexts } from './templates/default-texts.ts'
import { templateRule } from './templates/register.ts'
import type { RegisteredTemplate } from './templates/template.ts'

const PUBLIC_URL = `https://${EXOTEL.listed_hosts[0]}`

/** WhatsApp supports no templates in Odia and Assamese. */
const UNSUPPORTED_LANGUAGES = 'warning: Candidates in or, as get the template for '

/** Returns the default texts of a channel as approved templates. */
function approvedTemplates(channel: 'sms' | 'whatsapp'): RegisteredTemplate[] {
  return defaultTexts(channel, 'Acme Staffing', templateRule(channel)).map(
    ({ purpose, language, text, category }, index) => ({
      channel,
      purpose,
      language,
      name: `attestry_${purpose}_${language}`,
      language_code: null,
      text,
      category: category ?? templateRule(channel).default_category,
      header: null,
      registry_id: String(1_107_000_000_000_000_000n + BigInt(index)),
      status: 'approved',
      status_reason: null,
      quality: null,
      has_buttons: false,
      checked_at: null,
    }),
  )
}

function check(channel: 'sms' | 'whatsapp' | 'voice', templates: RegisteredTemplate[], credentials: object = {}) {
  const settings = { sms: EXOTEL, whatsapp: WHATSAPP, voice: EXOTEL_VOICE }[channel]
  const account = { channel, credentials: { ...settings, ...credentials }, templates }
  return checkChannel(account, PUBLIC_URL).map(({ severity, problem }) => `${severity}: ${problem}`)
}

test('approved texts in all languages have no findings', () => {
  assert.deepEqual(check('sms', approvedTemplates('sms')), [])
  const problems = check('whatsapp', approvedTemplates('whatsapp'))
  assert.ok(
    problems.every((problem) => problem.startsWith(UNSUPPORTED_LANGUAGES)),
    problems.join('\n'),
  )
})

test('the quality and the status of each template are reported', () => {
  const findingsWith = (changes: Partial<RegisteredTemplate>) =>
    check('whatsapp', [...approvedTemplates('whatsapp'), { ...approvedTemplates('whatsapp')[0]!, ...changes }]).filter(
      (problem) => !problem.startsWith(UNSUPPORTED_LANGUAGES),
    )
  const name = 'attestry_invitation_en in en'
  for (const quality of ['red', 'yellow'] as const)
    assert.deepEqual(findingsWith({ quality }), [
      `warning: WhatsApp rates the quality of the template ${name} as ${quality}; people block or report it.`,
    ])
  assert.deepEqual(findingsWith({ quality: 'green' }), [])
  for (const status of ['paused', 'disabled'] as const)
    assert.deepEqual(findingsWith({ status }), [`warning: The template ${name} is ${status}.`])
  assert.deepEqual(findingsWith({ status: 'rejected', status_reason: 'TAG_CONTENT_MISMATCH' }), [
    `warning: The template ${name} is rejected: TAG_CONTENT_MISMATCH.`,
  ])
  assert.deepEqual(findingsWith({ status: 'draft' }), [])
})

test('missing templates are reported: without an invitation nothing can be sent, without a code only codes', () => {
  const templates = approvedTemplates('sms')
  const without = (purpose: string) => templates.filter((template) => template.purpose !== purpose)
  assert.match(check('sms', without('invitation'))[0]!, /^refused: No template for the invitation is approved/)
  assert.match(check('sms', without('code'))[0]!, /^warning: No template for codes is approved/)
  assert.match(
    check(
      'whatsapp',
      approvedTemplates('whatsapp').filter(({ purpose }) => purpose !== 'invitation'),
    )[0]!,
    /^refused: No template for the invitation is approved/,
  )
  const onlyEnglish = templates.filter(({ language, purpose }) => language === 'en' || purpose !== 'invitation')
  assert.deepEqual(check('sms', onlyEnglish), [
    'warning: Candidates in hi, bn, ta, te, mr, gu, kn, ml, pa, or, as get the template for invitation in en.',
  ])
})

test('a header of a template replaces the sender, which must suit the category', () => {
  const promotional = approvedTemplates('sms').map((template) =>
    template.purpose === 'code' ? template : { ...template, category: 'promotional' },
  )
  const refused = check('sms', promotional)
  assert.equal(refused.length, promotional.filter(({ category }) => category === 'promotional').length)
  assert.match(refused[0]!, /^refused: The sender METROJ of the template \S+ must be the registered header of /)
  const withHeader = promotional.map((template) =>
    template.category === 'promotional' ? { ...template, header: '123456' } : template,
  )
  assert.deepEqual(check('sms', withHeader), [])
})

test('the public URL must be set and its host listed', () => {
  const problems = (account: { channel: 'sms' | 'voice'; credentials: object }, publicUrl: string | undefined) =>
    checkChannel(
      { ...account, credentials: { ...account.credentials }, templates: approvedTemplates('sms') },
      publicUrl,
    )
      .filter(({ problem }) => problem.includes('PUBLIC_URL'))
      .map(({ severity }) => severity)
  const sms = { channel: 'sms' as const, credentials: EXOTEL }
  assert.deepEqual(problems(sms, PUBLIC_URL), [])
  assert.deepEqual(problems(sms, 'https://other.example'), ['refused'])
  assert.deepEqual(problems(sms, undefined), ['refused'])
  assert.deepEqual(problems({ channel: 'sms', credentials: TWILIO }, undefined), [], 'Twilio has no list of hosts')
  for (const credentials of [EXOTEL_VOICE, TWILIO])
    assert.deepEqual(problems({ channel: 'voice', credentials }, undefined), ['refused'])
})

test('languages that the voice of Exotel does not speak are reported', () => {
  const from = '+911600123456'
  assert.deepEqual(check('voice', [], { from }), [
    'warning: Candidates in hi, bn, ta, te, mr, gu, kn, ml, pa, or, as are not called.',
  ])
  assert.deepEqual(check('voice', [], { from, languages: ['hi', 'en'] }), [
    'warning: Candidates in bn, ta, te, mr, gu, kn, ml, pa, or, as are not called.',
  ])
  const languages = ['en', 'hi', 'bn', 'ta', 'te', 'mr', 'gu', 'kn', 'ml', 'pa', 'or', 'as']
  assert.deepEqual(check('voice', [], { from, languages: languages.slice(0, -1) }), [
    'warning: Candidates in as are not called.',
  ])
  assert.deepEqual(check('voice', [], { from, languages }), [])
})
