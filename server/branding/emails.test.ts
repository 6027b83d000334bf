import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { pngImage } from '../../test/support/images.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { yourDataCalls } from '../../test/support/your-data.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { saveCredentials } from '../channels/credentials.ts'

const setUp = oncePerFile(async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)
  return { app, smtp }
})

const BRANDING = {
  display_name: 'मेट्रो Staffing',
  logo: pngImage(400, 100).toString('base64'),
  colour: '#7a1fa2',
  reply_to: 'jobs@metro.example',
  footer: 'Metro Staffing Private Limited, Pune',
  homepage: 'https://www.metro.example',
}

/** Waits for the newest email to an address, and checks that the organisation sent it. */
async function checkBrandedEmail(to: string) {
  const { app, smtp } = await setUp()
  const email = await until(async () => {
    const emails = await Promise.all(smtp.received.map((source) => PostalMime.parse(source)))
    return emails.findLast((each) => each.to?.[0]?.address?.toLowerCase() === to.toLowerCase())
  })
  assert.deepEqual(email.from, { name: 'मेट्रो Staffing via Attestry', address: 'post@example.org' })
  assert.deepEqual(
    email.replyTo?.map(({ address }) => address),
    ['jobs@metro.example'],
  )
  const { publicUrl } = app.context.config
  assert.match(
    email.html!,
    new RegExp(`<img src="${publicUrl}/brand/ORG_\\w+/logo/[0-9a-f]{16}\\.png" width="160" height="40" alt=""`),
  )
  assert.ok(email.html!.indexOf('मेट्रो Staffing</td>') < email.html!.indexOf('<p '), 'the organisation is named first')
  assert.match(email.html!, /Metro Staffing Private Limited, Pune<br><a href="https:\/\/www\.metro\.example"/)
  assert.doesNotMatch(email.html!, /#0a6550/, 'the colour of Attestry is replaced')
  assert.match(email.text!, /^मेट्रो Staffing\n\n/)
  assert.match(email.text!, /\n-- \nमेट्रो Staffing\nMetro Staffing Private Limited, Pune\nhttps:\/\/www\.metro\.example/)
  return email
}

test('emails to reviewers and students are sent in the name of the organisation', async () => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  assert.equal((await owner.put(`/orgs/${orgId}/branding`, BRANDING)).status, 200)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const { session, token } = await calls.requestReview({ reviewer: { email: 'reviewer@metro.example' } })
  const request = await checkBrandedEmail('reviewer@metro.example')
  assert.match(request.html!, /bgcolor="#7a1fa2"/)

  const { pathname } = new URL(/https?:\/\/\S+\/unsubscribe\/\S+/.exec(request.text!)![0])
  assert.match(
    (await app.fetch(pathname)).body,
    /<header class="brand"><img [^>]+><span dir="auto">मेट्रो Staffing<\/span>/,
  )

  const code = await yourDataCalls(app, 'review', token).start('export', 'email')
  assert.equal(code.status, 200, JSON.stringify(code.body))
  await until(async () => (await checkBrandedEmail('reviewer@metro.example')).html!.match(/\b\d{6}\b/))

  const headers = { authorization: `Bearer ${session.token}`, 'content-type': 'application/json' }
  const agreed = await app.fetch('/api/v1/your-data/session/consent', {
    method: 'POST',
    headers,
    body: JSON.stringify({ language: 'hi' }),
  })
  assert.equal(agreed.status, 200, JSON.stringify(agreed.body))
  const declined = await calls.submitReview(session, token, { declined: true, reason: 'I do not know the student.' })
  assert.equal(declined.status, 200, JSON.stringify(declined.body))
  const outcome = await checkBrandedEmail('asha@example.com')
  assert.match(outcome.subject!, /आपके हुनर की समीक्षा नहीं कर सके/)
  assert.match(outcome.html!, /<html lang="hi">/)
  assert.doesNotMatch(outcome.text!, /Hello|unsubscribe:/)
})

test('emails to candidates are in their language and in the name of the organisation', async () => {
  const { app } = await setUp()
  const { context, clock } = app
  const partner = await createCampaignPartner(app, { mode: 'live' })
  await context.db.transaction((tx) => saveCredentials(tx, context.vault, clock, partner.orgId, 'email', {}))
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.equal((await owner.put(`/orgs/${partner.orgId}/branding`, BRANDING)).status, 200)
  const { mandate_id } = await partner.createMandate({ channels: ['email'], languages: ['en', 'hi'] })
  await until(async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  await partner.createCampaign(mandate_id, [aCandidate(1, { email: 'asha@home.example', language: 'hi' })])
  await contactNow(context)
  const email = await checkBrandedEmail('asha@home.example')
  assert.match(email.html!, /<html lang="hi">/)
  assert.match(email.html!, /bgcolor="#7a1fa2"/)
})
