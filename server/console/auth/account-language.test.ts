import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import {
  CONSOLE_API,
  type ConsoleUser,
  createTestSignInLink,
  signIn,
  signInMember,
} from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'
import { getEmail, listEmails } from '../../mail/mail.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { endpointFailing } from '../../webhooks/delivery/health.ts'
import { remindOfExpiringKeys } from '../organisation/key-expiry.ts'

const startSharedApp = oncePerFile((t) => startApp(t, { worker: true }))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function startWithResetLimits(): Promise<TestApp> {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  return app
}

async function chooseLanguage(user: ConsoleUser, language: string): Promise<void> {
  const { status, body } = await user.put('/account/language', { language })
  assert.deepEqual([status, body.data?.language], [200, language], JSON.stringify(body))
}

/** Waits for the newest email to an address that has not been returned before. */
async function nextEmail(app: TestApp, address: string) {
  const { db, vault } = app.context
  const find = async () =>
    (await listEmails(db.queries, { limit: 100 })).find(
      ({ mail_id, to_address }) => to_address === address && !readEmails.has(mail_id),
    )
  await until(async () => (await find()) !== undefined)
  const { mail_id } = (await find())!
  readEmails.add(mail_id)
  return getEmail(db.queries, vault, mail_id)
}
const readEmails = new Set<string>()

/** Requests a sign-in link on a sign-in page in a language. */
async function requestLink(app: TestApp, email: string, language: string) {
  const { status } = await app.fetch(`${CONSOLE_API}/sign-in/mail`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': language },
    body: JSON.stringify({ email }),
  })
  assert.equal(status, 202)
  return nextEmail(app, email)
}

test('sign-in emails and codes are in the language that the person chose, or else in that of the page', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const asha = await signInMember(app, orgId, 'recruiter', 'asha@language.example')
  assert.equal((await asha.get('/session')).body.data.language, null)
  assert.equal((await requestLink(app, asha.email, 'en')).subject, 'Your sign-in link')
  const onHindiPage = await requestLink(app, asha.email, 'hi-IN,hi;q=0.9,en;q=0.8')
  assert.equal(onHindiPage.subject, 'साइन इन करने का आपका लिंक')

  await chooseLanguage(asha, 'hi')
  assert.equal((await asha.get('/session')).body.data.language, 'hi')
  const inHindi = await requestLink(app, asha.email, 'en')
  assert.equal(inHindi.subject, 'साइन इन करने का आपका लिंक')
  assert.match(inHindi.text, /यह एक बार काम करता है और 15 मिनट तक मान्य है।[\s\S]+#token=[\w-]{43}\n/)
  assert.match(inHindi.html, /<html lang="hi">[\s\S]+>साइन इन करें<\/a>/)
  assert.doesNotMatch(inHindi.text, /Use this|expires|ignore/)
  assert.equal((await asha.post('/confirmation/mail')).status, 202)
  const code = await nextEmail(app, asha.email)
  assert.equal(code.subject, 'आपका पुष्टि कोड')
  assert.match(code.text, /आपका पुष्टि कोड \d{4} \d{4} है। यह एक बार काम करता है और 10 मिनट तक मान्य है।/)
  assert.match(code.html, />पुष्टि कोड</)

  app.clock.advance(HOUR)
  await chooseLanguage(asha, 'en')
  assert.equal((await requestLink(app, asha.email, 'hi')).subject, 'Your sign-in link')
  assert.equal((await asha.put('/account/language', { language: 'fr' })).status, 400)
})

test('an invitation is in the language of the invited person, or else of the inviter, the organisation, or the page', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Other Staffing')
  const owner = await signInMember(app, orgId, 'owner')
  const invite = async (user: ConsoleUser, email: string, { language = 'en', name = '', org = orgId } = {}) => {
    const body = { email, role: 'recruiter', ...(name ? { name } : {}) }
    const { status } = await user.post(`/orgs/${org}/members`, body, { 'accept-language': language })
    assert.equal(status, 201)
    return nextEmail(app, email)
  }
  const subjects = { en: 'You have been added to Metro Staffing', hi: 'आपको Metro Staffing में जोड़ा गया है' }
  assert.equal((await invite(owner, 'first@invited.example')).subject, subjects.en)
  assert.equal((await invite(owner, 'second@invited.example', { language: 'hi' })).subject, subjects.hi)

  await chooseLanguage(owner, 'hi')
  const third = await invite(owner, 'third@invited.example', { name: 'Meera Nair' })
  assert.equal(third.subject, subjects.hi)
  assert.match(
    third.text,
    /^नमस्ते Meera Nair,\n\nअब आप Attestry पर Metro Staffing में काम कर सकते हैं। आपकी भूमिका रिक्रूटर है।\n/,
  )
  assert.match(third.text, /यह एक बार काम करता है और 7 दिन तक मान्य है।/)
  assert.match(third.html, /<html lang="hi">[\s\S]+>साइन इन करें<\/a>/)
  const operator = await signIn(app)
  assert.equal(
    (await invite(operator, 'fourth@invited.example')).subject,
    subjects.hi,
    'the organisation has a Hindi owner',
  )

  const colleague = await signInMember(app, orgId, 'owner')
  await chooseLanguage(colleague, 'en')
  assert.equal(
    (await invite(colleague, 'fifth@invited.example')).subject,
    subjects.en,
    'the inviter before other owners',
  )

  const ravi = await signInMember(app, orgId, 'viewer', 'ravi@invited.example')
  await chooseLanguage(ravi, 'hi')
  const otherOwner = await signInMember(app, otherOrgId, 'owner')
  await chooseLanguage(otherOwner, 'en')
  const known = await invite(otherOwner, ravi.email, { org: otherOrgId })
  assert.equal(known.subject, 'आपको Other Staffing में जोड़ा गया है', 'the person has chosen a language before')
})

test('an operator chooses a language, in which new operators are invited', async () => {
  const app = await startWithResetLimits()
  const operator = await signIn(app)
  await chooseLanguage(operator, 'hi')
  assert.equal((await operator.get('/session')).body.data.language, 'hi')
  assert.equal((await operator.post('/operator/operators', { email: 'new@operators.example' })).status, 201)
  const { subject, text } = await nextEmail(app, 'new@operators.example')
  assert.equal(subject, 'अब आप ऑपरेटर हैं')
  assert.match(text, /साइन इन करने के लिए \S+\/console खोलें और new@operators\.example दर्ज करें।/)
  await chooseLanguage(operator, 'en')
})

test('owners are told about expiring keys and failing endpoints in their languages', async () => {
  const app = await startWithResetLimits()
  const { context } = app
  const { orgId, key } = await app.fixtures.createOrg('Metro Staffing')
  const asha = await signInMember(app, orgId, 'owner', 'asha@owners.example')
  const ravi = await signInMember(app, orgId, 'owner', 'ravi@owners.example')
  await chooseLanguage(asha, 'hi')

  const hook = await app.as(key).post('/webhooks', { url: 'https://partner.example/hook' })
  await context.db.transaction((tx) => endpointFailing.run(tx, context, hook.body.data.webhook_id))
  assert.equal((await nextEmail(app, ravi.email)).subject, 'A webhook endpoint of Metro Staffing is failing')
  const failing = await nextEmail(app, asha.email)
  assert.equal(failing.subject, 'Metro Staffing का एक वेबहुक एंडपॉइंट काम नहीं कर रहा है')
  assert.match(
    failing.text,
    /Metro Staffing \(लाइव\) के वेबहुक एंडपॉइंट https:\/\/partner\.example\/hook पर एक दिन से कोई डिलीवरी सफल नहीं हुई है।/,
  )
  assert.match(failing.html, /<html lang="hi">[\s\S]+>एंडपॉइंट देखें<\/a>/)

  app.clock.set('2026-06-01T00:00:00Z')
  const expiresAt = new Date('2026-08-05T18:45:00Z')
  const created = await app.fixtures.createPartnerKey(orgId, { expiresAt })
  app.clock.set(expiresAt.getTime() - DAY)
  const remind = () => context.db.transaction((tx) => remindOfExpiringKeys(tx, context))
  await remind()
  const english = await nextEmail(app, ravi.email)
  assert.equal(english.subject, 'A LIVE key of Metro Staffing expires in 1 day')
  assert.match(english.text, /^This LIVE key of Metro Staffing expires soon\./)
  assert.ok(english.text.includes(`${created.keyId}: 6 August 2026, 00:15 IST\n`), english.text)
  const hindi = await nextEmail(app, asha.email)
  assert.equal(hindi.subject, 'Metro Staffing की एक लाइव API कुंजी 1 दिन में समाप्त हो जाएगी')
  assert.match(hindi.text, /^Metro Staffing की यह लाइव API कुंजी जल्द समाप्त होने वाली है।/)
  assert.ok(hindi.text.includes(`${created.keyId}: 6 अगस्त 2026, 00:15 (भारतीय समय)\n`), hindi.text)
  assert.match(hindi.html, /<html lang="hi">[\s\S]+>कुंजियाँ देखें<\/a>/)

  const later = [1, 2].map(() =>
    app.fixtures.createPartnerKey(orgId, { expiresAt: new Date(expiresAt.getTime() + 9 * DAY) }),
  )
  await Promise.all(later)
  app.clock.advance(3 * DAY)
  await remind()
  assert.equal(
    (await nextEmail(app, ravi.email)).subject,
    '2 LIVE keys of Metro Staffing expire soon, the first in 7 days',
  )
  assert.equal(
    (await nextEmail(app, asha.email)).subject,
    'Metro Staffing की 2 लाइव API कुंजियाँ जल्द समाप्त हो जाएँगी, पहली 7 दिन में',
  )
})

test('a person who joins another organisation keeps their language there after the next sign-in', async () => {
  const app = await startWithResetLimits()
  const { orgId } = await app.fixtures.createOrg()
  const { orgId: newOrgId, key } = await app.fixtures.createOrg('New Staffing')
  const asha = await signInMember(app, orgId, 'owner', 'asha@joins.example')
  await chooseLanguage(asha, 'hi')
  await signInMember(app, newOrgId, 'owner', asha.email)
  const token = (await createTestSignInLink(app, asha.email)).split('#token=')[1]
  const signedIn = await app.fetch(`${CONSOLE_API}/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(signedIn.body.data.language, 'hi')
  const hook = await app.as(key).post('/webhooks', { url: 'https://partner.example/hook' })
  await app.context.db.transaction((tx) => endpointFailing.run(tx, app.context, hook.body.data.webhook_id))
  assert.match((await nextEmail(app, asha.email)).subject, /^New Staffing का एक वेबहुक/)
})
