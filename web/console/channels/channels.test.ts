import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { contactNow } from '../../../server/campaigns/contact/engine.ts'
import { saveCredentials } from '../../../server/channels/credentials.ts'
import { countEmail } from '../../../server/mail/daily-limits.ts'
import { suppressMailbox } from '../../../server/mail/suppressions.ts'
import {
  checkPage,
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { GUPSHUP } from '../../../test/support/india.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import {
  cloudError,
  cloudWebhook,
  EXOTEL,
  EXOTEL_VOICE,
  startProvider,
  WHATSAPP,
} from '../../../test/support/provider.ts'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return { app, provider: await startProvider(t) }
})

test('an owner sees what is missing for LIVE, sets up a channel and a daily cap', async (t) => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${orgId}/live`)
  await getNavLink(page, 'Channels').click()
  await waitForHeading(page, 'Channels')
  await page.getByText('7 of 7 required steps are not done.').waitFor()
  await checkPage(page, 'channels-empty')

  const whatsapp = page.getByRole('region', { name: 'WhatsApp' })
  await whatsapp.getByRole('button', { name: 'Set up' }).click()
  await whatsapp.getByLabel('Phone number ID').fill('abc')
  await getButton(page, 'Save settings').click()
  await whatsapp.getByText('must be 5 to 20 digits').waitFor()
  await whatsapp.getByLabel('Phone number ID').fill(WHATSAPP.phone_number_id)
  await whatsapp.getByLabel('Access token').fill(WHATSAPP.access_token)
  await whatsapp.getByLabel('App secret').fill(WHATSAPP.app_secret)
  await whatsapp.getByLabel('Verify token').fill(WHATSAPP.verify_token)
  await whatsapp.getByLabel('Business account ID (optional)').fill('102290129340398')
  await whatsapp.getByLabel('Name of your own approved template (optional)').fill('job_questions')
  await whatsapp.getByLabel('Approved languages of your own template (optional)').fill('en, hi')
  await getButton(page, 'Save settings').click()
  await page.getByText('6 of 7 required steps are not done.').waitFor()
  assert.equal(await page.getByText(WHATSAPP.access_token).count(), 0, 'secrets are not shown')
  await whatsapp.getByText('business account id: 102290129340398').waitFor()
  await whatsapp.getByText('(not called yet)').waitFor()
  const webhookUrl = (await whatsapp.locator('.copy code').textContent())!
  const challenge = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${WHATSAPP.verify_token}`
  assert.equal((await fetch(`${webhookUrl}?${challenge}`)).status, 200)
  await page.reload()
  await whatsapp.getByText('(called by the provider)').waitFor()
  await page.getByText('5 of 7 required steps are not done.').waitFor()

  const voice = page.getByRole('region', { name: 'Phone call' })
  await voice.getByRole('button', { name: 'Set up' }).click()
  await voice.getByLabel('Provider').selectOption('Exotel, for India')
  await voice.getByLabel('Account SID of Exotel').fill(EXOTEL_VOICE.account_sid)
  await voice.getByLabel('API key').fill(EXOTEL_VOICE.api_key)
  await voice.getByLabel('API token').fill(EXOTEL_VOICE.api_token)
  await voice.getByLabel('ID of the call flow').fill('flow')
  await voice.getByLabel('Caller ID').fill(EXOTEL_VOICE.from)
  await voice.getByLabel('Languages of the voice (optional)').fill('en, hi')
  await getButton(page, 'Save settings').click()
  await voice.getByText('must be the ID of the call flow').waitFor()
  await checkPage(page, 'channels-calls-form')
  await voice.getByLabel('ID of the call flow').fill(EXOTEL_VOICE.app_id)
  await getButton(page, 'Save settings').click()
  await voice.getByText('app id: 29281').waitFor()
  assert.match((await voice.locator('.copy code').first().textContent())!, /\/hooks\/exotel\/CH_\w{26}\/gather\//)
  for (const url of await voice.locator('.copy code').allTextContents()) await fetch(url)
  await page.reload()
  await page.getByText('5 of 7 required steps are not done.').waitFor()

  await page.getByLabel(/^Daily cap in INR/).fill('-1')
  await getButton(page, 'Save spending settings').click()
  await page.locator('.field-error').waitFor()
  await page.getByLabel(/^Daily cap in INR/).fill('500')
  await page.getByLabel('Price of SMS, +91').fill('0.18')
  await getButton(page, 'Save spending settings').click()
  await page.getByText('The prices are the default prices').waitFor({ state: 'detached' })
  const { body } = await owner.get(`/orgs/${orgId}/live/spending`)
  assert.equal(body.data.daily_cap, 500)
  assert.equal(body.data.price_table.prices[0].price, 0.18)
  await checkPage(page, 'channels-set-up')
})

test('an owner sets up SMS through Exotel and Gupshup, and the do-not-disturb check', async (t) => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const readChannels = async () => (await owner.get(`/orgs/${orgId}/channels`)).body.data
  const page = await openConsolePage(t, app, { email: owner.email, width: 360, height: 740 })
  await page.goto(`${app.url}/console/${orgId}/live/channels`)
  const sms = page.getByRole('region', { name: 'SMS', exact: true })
  await sms.getByRole('button', { name: 'Set up' }).click()
  await sms.getByLabel('Account SID of Exotel').fill(EXOTEL.account_sid)
  await sms.getByLabel('API key').fill(EXOTEL.api_key)
  await sms.getByLabel('API token').fill(EXOTEL.api_token)
  await sms.getByLabel('Data centre of the account').selectOption('Mumbai')
  await sms.getByLabel('Registered header').fill(EXOTEL.from)
  await sms.getByLabel('DLT entity ID').fill(EXOTEL.dlt_entity_id)
  await sms.getByLabel('Hosts of links on the DLT whitelist').fill('https://verify.example.com')
  await getButton(page, 'Save settings').click()
  await sms.getByText('must be a host name in lower case').waitFor()
  await checkPage(page, 'channels-sms-form')
  await sms.getByLabel('Hosts of links on the DLT whitelist').fill('verify.example.com, jobs.example.com')
  await getButton(page, 'Save settings').click()
  await sms.getByText('dlt entity id: 1101000000000000001').waitFor()
  const { settings } = (await readChannels()).channels.find(({ channel }: any) => channel === 'sms')
  assert.deepEqual(
    [settings.provider, settings.base_url, settings.listed_hosts, settings.api_key],
    ['exotel', 'https://api.in.exotel.com', ['verify.example.com', 'jobs.example.com'], '(set)'],
  )
  await sms.getByRole('button', { name: 'Replace settings' }).click()
  await sms.getByLabel('Provider').selectOption('Gupshup, for India')
  await sms.getByLabel('User ID of Gupshup').fill(GUPSHUP.user_id)
  await sms.getByLabel('Password').fill(GUPSHUP.password)
  await sms.getByLabel('Registered header').fill(GUPSHUP.from)
  await sms.getByLabel('DLT entity ID').fill(GUPSHUP.dlt_entity_id)
  await sms.getByLabel('Hosts of links on the DLT whitelist').fill('verify.example.com')
  await getButton(page, 'Save settings').click()
  await sms.getByText('provider: gupshup').waitFor()

  const dndCheck = page.getByRole('region', { name: 'Do-not-disturb check' })
  await getButton(page, 'Set up a check').click()
  await dndCheck.getByLabel('URL of the service').fill('http://10.0.0.1/check')
  await getButton(page, 'Save check').click()
  await dndCheck.locator('.field-error').waitFor()
  await dndCheck.getByLabel('URL of the service').fill('https://10.0.0.1/check')
  await getButton(page, 'Save check').click()
  await dndCheck.locator('.field-error').waitFor()
  assert.equal((await readChannels()).dnd_check, null, 'a service in a private network is refused')
  await dndCheck.getByLabel('URL of the service').fill('https://93.184.215.14/check')
  await getButton(page, 'Save check').click()
  assert.match((await getDialog(page).locator('.copy code').textContent())!, /^whsec_/)
  await checkPage(page, 'channels-dnd-secret')
  await page.keyboard.press('Escape')
  await dndCheck.getByText('The numbers are sent to https://93.184.215.14/check.').waitFor()
  await app.context.db.pool.query(
    `update dnd_checks set failing_since = '2026-03-10T06:30:00Z', last_error = 'The service responded with 500.' where org_id = $1`,
    [orgId],
  )
  await page.reload()
  await dndCheck.getByText('The service responded with 500. New candidates are not contacted').waitFor()
  await checkPage(page, 'channels-dnd-failing')
  await getButton(page, 'Remove the check').click()
  await getDialog(page).getByRole('button', { name: 'Remove check' }).click()
  await getButton(page, 'Set up a check').waitFor()
  assert.equal((await readChannels()).dnd_check, null)
  assert.equal((await owner.delete(`/orgs/${orgId}/dnd-check`)).status, 404)
})

test('a test message and failed messages show the reason and what to do, on a phone and in the dark theme', async (t) => {
  const { app, provider } = await setUp()
  const { context, clock } = app
  clock.set('2026-03-11T06:30:00.000Z')
  const partner = await createCampaignPartner(app, { mode: 'live' })
  await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, clock, partner.orgId, 'whatsapp', { ...WHATSAPP, base_url: provider.url }),
  )
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  provider.nextBehaviours.push(cloudError(400, 132001, 'template does not exist'))
  await contactNow(context)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email, width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`${app.url}/console/${partner.orgId}/live/channels`)
  await page.getByText('The template is missing, not approved').waitFor()
  const whatsapp = page.getByRole('region', { name: 'WhatsApp' })
  await whatsapp.getByLabel(/^Your phone number/).fill('12')
  await whatsapp.getByRole('button', { name: 'Send a test message' }).click()
  await whatsapp.locator('.field-error').waitFor()
  await whatsapp.getByLabel(/^Your phone number/).fill('+919810000009')
  await whatsapp.getByRole('button', { name: 'Send a test message' }).click()
  await whatsapp.getByText('The provider accepted the message.').waitFor()
  assert.equal(provider.received.at(-1)!.body.to, '919810000009')
  provider.nextBehaviours.push(cloudError(401, 190, 'invalid token'))
  await whatsapp.getByRole('button', { name: 'Send a test message' }).click()
  await whatsapp.getByText(/Check the credentials in the channel settings/).waitFor()
  await checkPage(page, 'channels-phone-dark')
})

test('owners get the webhook URLs, and the step for them is done after the first signed request of each provider', async () => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const path = `/orgs/${orgId}/channels`
  const owner = await signInMember(app, orgId, 'owner')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const isStepDone = async () => {
    const { steps } = (await recruiter.get(path)).body.data
    return steps.find(({ step }: any) => step === 'webhook').done
  }
  const urlOf = (response: any, name: string) =>
    response.body.data.channels.find(({ channel }: any) => channel === name).webhooks[0]
  assert.equal(await isStepDone(), false)
  const whatsappUrl = urlOf(await owner.put(`${path}/whatsapp`, WHATSAPP), 'whatsapp')
  assert.match(whatsappUrl, /\/hooks\/whatsapp\/CH_\w{26}$/)
  assert.equal(urlOf(await recruiter.get(path), 'whatsapp'), undefined, 'only owners get the URLs')
  assert.equal((await fetch(whatsappUrl, { ...cloudWebhook({}), headers: {} })).status, 403)
  assert.equal(await isStepDone(), false, 'a request without a signature does not count')
  assert.equal((await fetch(whatsappUrl, cloudWebhook({}))).status, 200)
  assert.equal(await isStepDone(), true)

  const gupshupUrl = urlOf(await owner.put(`${path}/sms`, GUPSHUP), 'sms')
  assert.match(gupshupUrl, /\/hooks\/gupshup\/CH_\w{26}\/status\/[\w-]{43}$/)
  assert.equal(await isStepDone(), false)
  assert.equal((await fetch(`${gupshupUrl}?externalId=1&status=SUCCESS`)).status, 200)
  assert.equal(await isStepDone(), true)
  await owner.put(`${path}/whatsapp`, { ...WHATSAPP, access_token: 'another-token-of-the-tests' })
  assert.equal(await isStepDone(), true, 'a new token does not change the webhook')
  await owner.put(`${path}/whatsapp`, { ...WHATSAPP, phone_number_id: '106540352242999' })
  assert.equal(await isStepDone(), false, 'the webhook of another number must be entered again')
})

test('an owner changes a registered text, exports the texts and imports the IDs of a DLT portal', async (t) => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const path = `/orgs/${orgId}/live/templates`
  const text = 'Acme Staffing has a few questions about the job of {title}. Answer here: {link}'
  assert.equal((await owner.put(`${path}/sms/invitation/en`, { text })).status, 200)
  const whatsappText = 'Hello {name}, Acme Staffing has questions about {title}. Answer here: {link} Thank you.'
  assert.equal((await owner.put(`${path}/whatsapp/invitation/hi`, { text: whatsappText })).status, 200)
  await app.context.db.pool.query(
    `update message_templates set status = 'rejected', status_reason = 'INVALID_FORMAT' where org_id = $1 and channel = 'whatsapp'`,
    [orgId],
  )
  const page = await openConsolePage(t, app, { email: owner.email, width: 360, height: 740 })
  await page.goto(`${app.url}/console/${orgId}/test/channels`)
  await page.getByText('INVALID_FORMAT').waitFor()

  const [download] = await Promise.all([page.waitForEvent('download'), getButton(page, 'Export SMS texts').click()])
  assert.equal(download.suggestedFilename(), 'sms-templates.csv')
  assert.match(await readFile(await download.path(), 'utf8'), /attestry_invitation_en,SMS/)

  const chooseFile = (csv: string) =>
    page
      .getByLabel(/^CSV file of the DLT portal/)
      .setInputFiles({ name: 'ids.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await chooseFile('Template Name,Template ID\nunknown,1107000000000000001\n')
  await getButton(page, 'Import').click()
  await page.getByText(/line 2 names the template unknown, which is not in the register/).waitFor()
  await chooseFile('Template Name,Template ID\nattestry_invitation_en,1107000000000000001\n')
  await getButton(page, 'Check file').click()
  await page.getByText('The file has no errors.').waitFor()
  const readSms = async () => (await owner.get(path)).body.data.items[0]
  assert.equal((await readSms()).status, 'draft', 'a check stores nothing')
  await getButton(page, 'Import').click()
  await page.getByText('Imported the IDs or the status of 1 text.').waitFor()
  assert.equal((await readSms()).status, 'approved')
  await checkPage(page, 'channels-texts')

  await getButton(page, 'Edit SMS, first message, English').click()
  await page.getByLabel('Text', { exact: true }).fill(`${text} Reply YES`)
  await getButton(page, 'Save text').click()
  await page.getByText(/asks for a reply/).waitFor()
  await page
    .getByLabel('Text', { exact: true })
    .fill('Acme Staffing is hiring for the job of {title}. Answer here: {link}')
  await getButton(page, 'Save text').click()
  await getDialog(page).waitFor({ state: 'detached' })
  const changed = await readSms()
  assert.deepEqual([changed.status, changed.registry_id, changed.name], ['draft', null, 'attestry_invitation_en_v2'])

  const viewer = await signInMember(app, orgId, 'viewer')
  const viewerPage = await openConsolePage(t, app, { email: viewer.email })
  await viewerPage.goto(`${app.url}/console/${orgId}/live/channels`)
  await viewerPage.getByText('INVALID_FORMAT').waitFor()
  assert.equal(await viewerPage.getByRole('button', { name: /^Edit|^Import/ }).count(), 0)
})

test('the rules for LIVE messages apply to test messages, and their cost is counted', async () => {
  const { app, provider } = await setUp()
  const { context, clock } = app
  const { db, vault } = context
  clock.set('2026-03-12T06:30:00.000Z')
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { orgId } = partner
  const owner = await signInMember(app, orgId, 'owner')
  const channelId = await db.transaction((tx) =>
    saveCredentials(tx, vault, clock, orgId, 'whatsapp', { ...WHATSAPP, base_url: provider.url }),
  )
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  const candidate = aCandidate(71)
  await partner.createCampaign(mandate_id, [candidate])
  await contactNow(context)
  const stop = { id: 'wamid.stop71', from: candidate.phone.slice(1), type: 'text', text: { body: 'STOP' } }
  assert.equal((await app.fetch(`/hooks/whatsapp/${channelId}`, cloudWebhook({ messages: [stop] }))).status, 200)

  const send = (number: string, sender = owner) => sender.post(`/orgs/${orgId}/channels/whatsapp/test`, { to: number })
  const spentToday = async () => (await owner.get(`/orgs/${orgId}/live/spending`)).body.data.spent_today
  const setCap = async (amount: number | null) =>
    assert.equal((await owner.put(`/orgs/${orgId}/live/spending/daily-cap`, { daily_cap: amount })).status, 200)
  const sentCount = provider.received.length
  const optedOut = await send(candidate.phone)
  assert.deepEqual([optedOut.status, /opted out/.test(optedOut.body.error.message)], [409, true])
  const spentBefore = await spentToday()
  await setCap(spentBefore)
  const overCap = await send('+919810000072')
  assert.deepEqual([overCap.status, /daily cap/.test(overCap.body.error.message)], [409, true])
  assert.equal(provider.received.length, sentCount, 'nothing was sent')
  await setCap(null)
  provider.nextBehaviours.push(cloudError(400, 132001, 'template does not exist'))
  assert.equal((await send('+919810000072')).body.data.accepted, false)
  assert.equal(await spentToday(), spentBefore, 'a rejected message costs nothing')
  assert.equal((await send('+919810000072')).body.data.accepted, true)
  assert.ok((await spentToday()) > spentBefore)
  clock.set('2026-03-12T16:30:00.000Z') // 22:00 in India
  const late = await send('+919810000072', await signInMember(app, orgId, 'owner'))
  assert.deepEqual([late.status, /not allowed at this hour/.test(late.body.error.message)], [409, true])
})

test('a test message by email needs a valid address that accepts emails, and counts for the daily limit of the mailbox', async () => {
  const { app } = await setUp()
  const { context, clock } = app
  const { db, vault } = context
  clock.set('2026-03-13T06:30:00.000Z')
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const path = `/orgs/${orgId}/channels/email`
  await db.transaction((tx) =>
    saveCredentials(tx, vault, clock, orgId, 'email', { smtp_url: 'smtp://127.0.0.1:1', from: 'jobs@example.com' }),
  )
  for (const to of ['asha', 'asha@example.com, other@example.com', 'Asha <asha@example.com>', '+919810000001']) {
    const rejected = await owner.post(`${path}/test`, { to })
    assert.deepEqual([rejected.status, rejected.body.error.details[0].path], [400, 'to'])
  }
  await db.transaction((tx) =>
    suppressMailbox(tx, context, { address: 'stopped@example.com', audience: 'candidate', reason: 'unsubscribed' }),
  )
  const suppressed = await owner.post(`${path}/test`, { to: 'stopped@example.com' })
  assert.deepEqual([suppressed.status, /suppression list/.test(suppressed.body.error.message)], [409, true])
  const unreachable = await owner.post(`${path}/test`, { to: 'full@example.com' })
  assert.deepEqual([unreachable.status, unreachable.body.data.accepted], [200, false])
  const email = { orgId: undefined, group: 'candidate' as const, address: 'full@example.com' }
  for (let count = 0; count < context.config.mailLimits.perRecipient; count++)
    assert.equal(await db.transaction((tx) => countEmail(tx, context, email)), undefined, 'failed emails do not count')
  const limited = await owner.post(`${path}/test`, { to: 'full@example.com' })
  assert.deepEqual([limited.status, /daily limit/.test(limited.body.error.message)], [429, true])
  assert.equal((await owner.delete(path)).status, 403, 'only operators remove a mail server')
})

test('only owners change channels, and only operators set a mail server or another host', async () => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const path = `/orgs/${orgId}/channels`
  const recruiter = await signInMember(app, orgId, 'recruiter')
  assert.equal((await recruiter.get(path)).status, 200)
  assert.equal((await recruiter.put(`${path}/whatsapp`, WHATSAPP)).status, 403)
  assert.equal((await recruiter.post(`${path}/whatsapp/test`, { to: '+919810000001' })).status, 403)
  const owner = await signInMember(app, orgId, 'owner')
  assert.equal((await owner.put(`${path}/email`, { smtp_url: 'smtp://10.0.0.1', from: 'a@b.in' })).status, 403)
  const otherHost = await owner.put(`${path}/whatsapp`, { ...WHATSAPP, base_url: 'http://127.0.0.1:1' })
  assert.deepEqual([otherHost.status, otherHost.body.error.details[0].path], [400, 'base_url'])
  const { templates, ...exotel } = EXOTEL
  for (const [settings, expectedStatus] of [
    [{ ...exotel, base_url: 'https://api.in.exotel.com' }, 200],
    [{ ...exotel, base_url: 'https://api.in.exotel.com.example' }, 400],
    [{ ...GUPSHUP, base_url: 'https://api.in.exotel.com' }, 400],
  ] as const)
    assert.equal((await owner.put(`${path}/sms`, settings)).status, expectedStatus, settings.base_url)
  const dndPath = `/orgs/${orgId}/dnd-check`
  assert.equal((await recruiter.put(dndPath, { url: 'https://93.184.215.14/check' })).status, 403)
  assert.equal((await recruiter.delete(dndPath)).status, 403)
  assert.equal((await owner.post(`${path}/whatsapp/test`, { to: '+919810000001' })).status, 409)
  const stranger = await signInMember(app, (await app.fixtures.createOrg()).orgId, 'owner')
  assert.ok([403, 404].includes((await stranger.get(path)).status))
})
