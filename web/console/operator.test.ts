import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { recordEvents } from '../../server/events/record.ts'
import { queueMail } from '../../server/mail/mail.ts'
import { A_DAY, ADMIN_KEY, startApp, type TestApp } from '../../test/app.ts'
import { assertAccessible } from '../../test/axe.ts'
import { newPage, type PageOptions } from '../../test/browser.ts'
import { campaigner, pass, player } from '../../test/campaigns.ts'
import { keepTime } from '../../test/clock.ts'
import { memberOf, signInLink } from '../../test/console.ts'
import { partner } from '../../test/partner.ts'
import { startReceiver } from '../../test/receiver.ts'
import { shot } from '../../test/shots.ts'
import { requestReview } from '../../test/student.ts'
import { until } from '../../test/until.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }
const KITES = `id,name,description,aliases,sub_skill,master_skill,verifiable
k1,Kite making,Makes kites of paper and split bamboo.,patang,Paper craft,Crafts,true
`

async function start(t: TestContext): Promise<TestApp> {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  return app
}

/** A page in which somebody is signed in. */
async function signedIn(t: TestContext, app: TestApp, email: string | null = null, options: PageOptions = {}) {
  const page = await newPage(t, options)
  await page.goto(await signInLink(app, email))
  await page.locator('nav').waitFor({ state: 'attached' })
  return page
}

/** Nothing serious for axe, nothing that sticks out; and a picture for people. */
async function look(page: Page, name: string) {
  await until(async () => (await page.locator('[aria-busy="true"]').count()) === 0)
  await shot(page, name)
  await assertAccessible(page)
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name}: nothing sticks out`)
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
const nav = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')

/** Milliseconds from the click on a link of the navigation to the page's heading, as the page itself measures them. */
async function timeTo(page: Page, link: string, title: string): Promise<number> {
  await page.evaluate(`{
    const begun = {}
    addEventListener('click', () => (begun.at = performance.now()), { once: true, capture: true })
    window.routed = new Promise((done, fail) => {
      setTimeout(() => fail(new Error('no ${title}, but ' + document.querySelector('main').textContent.slice(0, 200))), 8000)
      const watch = new MutationObserver(() => {
        if (!begun.at || document.querySelector('h1')?.textContent !== ${JSON.stringify(title)}) return
        watch.disconnect()
        requestAnimationFrame(() => done(performance.now() - begun.at))
      })
      watch.observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    0 // not the promise, which would be waited for
  }`)
  await nav(page, link).click()
  return (await page.evaluate('window.routed')) as number
}

test('the operator signs in with the admin key, makes an organisation and gives it credits', async (t) => {
  const app = await start(t)
  const page = await newPage(t)
  await page.goto(`${app.url}/console`)
  await heading(page, 'Sign in to the console')
  await look(page, 'sign-in')
  const key = page.getByLabel('Admin key')
  if (!(await key.isVisible())) await page.getByText('Sign in as the operator').click()
  await key.fill('wrong')
  await button(page, 'Sign in').click()
  await page.getByRole('alert').waitFor()
  await key.fill(ADMIN_KEY)
  await button(page, 'Sign in').click()

  await heading(page, 'Organisations')
  await page.getByText('No organisation yet').waitFor()
  await look(page, 'operator-organisations-empty')
  await button(page, 'New organisation').click()
  await dialog(page).getByLabel('Name').fill('Metro Staffing')
  await button(page, 'Make it').click()
  const row = page.getByRole('row', { name: /Metro Staffing/ })
  await row.waitFor()

  await button(page, 'Credits of Metro Staffing').click()
  await dialog(page).getByLabel('Grant').fill('250')
  await button(page, 'Grant test credits').click()
  await dialog(page).getByText('Granted. 250 test credits now.').waitFor()
  await dialog(page).getByRole('cell', { name: '+250' }).waitFor()
  await look(page, 'operator-credits')
  await page.keyboard.press('Escape')
  await row.getByRole('cell', { name: '250' }).waitFor()

  await button(page, 'Switch off: Metro Staffing').click()
  await dialog(page).getByRole('button', { name: 'Switch off' }).click()
  await button(page, 'Switch on: Metro Staffing').click()
  await dialog(page).getByRole('button', { name: 'Switch on' }).click()
  await button(page, 'Switch everything off').click()
  await dialog(page).getByRole('button', { name: 'Switch everything off' }).click()
  await page.getByText('switched off for everyone').waitFor()
  const { key: partnerKey } = await app.given.org('Orion Works')
  assert.equal((await app.as(partnerKey).get('/shifts')).status, 503)
  await button(page, 'Switch everything on').click()
  await dialog(page).getByRole('button', { name: 'Switch everything on' }).click()
  await page.getByText('The partner API is on').waitFor()
  assert.equal((await app.as(partnerKey).get('/shifts')).status, 200)

  await page.getByLabel('Name or id').fill('orion')
  await page.getByRole('row', { name: /Orion Works/ }).waitFor()
  await row.waitFor({ state: 'detached' })
  await page.getByLabel('Name or id').fill('')
  await row.waitFor()
  await look(page, 'operator-organisations')

  await page.reload()
  await row.waitFor()
  const bytes = (await page.evaluate(
    'performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)',
  )) as number
  t.diagnostic(`first load: ${bytes} bytes compressed`)
  assert.ok(bytes > 0 && bytes < 200 * 1024)

  await nav(page, 'Audit log').click()
  await heading(page, 'Audit log')
  await page.getByRole('cell', { name: 'credits.grant' }).waitFor()
  await page.getByRole('cell', { name: 'service.off' }).first().waitFor()
  await look(page, 'operator-audit')
  await button(page, 'Sign out').click()
  await heading(page, 'Sign in to the console')
})

test('skills that partners miss are decided, and a taxonomy is handed in', async (t) => {
  const app = await start(t)
  const { get, post } = await partner(app)
  await post('/skill-requests', { name: 'Bamboo scaffolding tying', context: 'High-rise work' })
  await post('/skill-requests', { name: 'Snake catching' })
  const page = await signedIn(t, app)
  await nav(page, 'Skills').click()
  await heading(page, 'Skills')
  await button(page, 'Approve Bamboo scaffolding tying').click()
  await dialog(page).getByText('Wanted for: High-rise work').waitFor()
  assert.ok(await button(page, 'Approve').isDisabled())
  await page.getByRole('combobox', { name: 'Where it belongs' }).fill('scaffold')
  await page.getByRole('listbox').getByRole('option').first().waitFor()
  await look(page, 'operator-skill-approve')
  await page.keyboard.press('Enter')
  await page.getByLabel('It can be verified with questions').check()
  await button(page, 'Approve').click()
  await page.getByText(/“Bamboo scaffolding tying” is in the catalogue as sk_\d+/).waitFor()
  await button(page, 'Reject Snake catching').click()
  await dialog(page).getByRole('button', { name: 'Reject' }).click()
  await page.getByText('there is nothing to decide').waitFor()

  await page
    .getByLabel('File (up to 64 MB)')
    .setInputFiles({ name: 'kites.csv', mimeType: 'text/csv', buffer: Buffer.from(KITES) })
  await button(page, 'Try it').click()
  await page
    .getByRole('row', { name: /kites\.csv.*tried only/ })
    .getByText('1 added')
    .waitFor()
  await button(page, 'Import').click()
  await page.getByRole('row', { name: /kites\.csv.*completed/ }).waitFor()
  await look(page, 'operator-skills')
  const { body } = await get('/skills/search?q=kite%20making')
  assert.equal(body.data.items[0].name, 'Kite making')
})

test('jobs are tried again, limits are seen, mails are read in a closed box', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  const hostile = '<h1>Hello</h1><script>top.document.title="taken"</script><img src="https://outside.example/x.png">'
  await context.db.transaction((tx) =>
    queueMail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com', name: 'Asha Verma' },
      subject: 'Welcome to the console',
      text: `Hello Asha,\n\nopen ${app.url}/console to begin.`,
      html: hostile,
    }),
  )
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}' where name = 'send-mail'`,
  )
  const { key } = await app.given.org()
  for (let n = 0; n < 140; n++) await app.as(key).post('/skill-requests', { name: '' })

  const page = await signedIn(t, app)
  await nav(page, 'Jobs').click()
  await heading(page, 'Jobs')
  await page.getByText('the mail server is away').waitFor()
  await look(page, 'operator-jobs')
  await button(page, 'Try again: send-mail').click()
  await page.getByText('The job of send-mail is tried again.').waitFor()
  await page.getByText('No job has failed.').waitFor()
  await button(page, '1 waiting in send-mail').click()
  await page.getByRole('row', { name: /send-mail.*ML_/ }).waitFor()

  await nav(page, 'Limits').click()
  await heading(page, 'Limits in force')
  await page.getByRole('cell', { name: key.keyId }).waitFor()
  await look(page, 'operator-limits')

  await nav(page, 'Mails').click()
  await heading(page, 'Mails')
  await look(page, 'operator-mails')
  await page.getByRole('link', { name: 'notice' }).click()
  await page.getByRole('link', { name: `${app.url}/console` }).waitFor()
  await look(page, 'operator-mail')
  await button(page, 'As it looks').click()
  const frame = page.locator('iframe')
  assert.equal(await frame.getAttribute('sandbox'), '')
  await page.frameLocator('iframe').getByRole('heading', { name: 'Hello' }).waitFor()
  assert.notEqual(await page.title(), 'taken')
})

test('keys are made, rotated and revoked; secrets are shown once', async (t) => {
  const app = await start(t)
  const { orgId } = await app.given.org()
  const page = await signedIn(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/keys`)
  await heading(page, 'Keys')
  await page.getByText('No test key yet').waitFor()
  await button(page, 'Make a key').click()
  await page.getByLabel('campaigns:write').uncheck()
  await look(page, 'keys-make')
  await button(page, 'Make the key').click()
  const shownOnce = dialog(page).getByRole('heading', { name: 'Keep this secret now' })
  await shownOnce.waitFor()
  const [keyId, secret] = await dialog(page).locator('code').allTextContents()
  await look(page, 'keys-secret')
  await page.keyboard.press('Escape')
  const asMade = app.as({ orgId, mode: 'test', keyId: keyId!, secret: secret! })
  assert.equal((await asMade.get('/shifts')).status, 200)
  assert.equal((await asMade.post('/campaigns', {}, { idempotencyKey: true })).status, 403)

  await page.getByRole('button', { name: 'Limits' }).click()
  await dialog(page).getByRole('listitem').filter({ hasText: 'Reads' }).getByText('1 / 120').waitFor()
  await look(page, 'keys-limits')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Rotate' }).click()
  await button(page, 'Make a new secret').click()
  await shownOnce.waitFor()
  const [, next] = await dialog(page).locator('code').allTextContents()
  assert.notEqual(next, secret)
  await page.keyboard.press('Escape')
  assert.equal((await asMade.get('/shifts')).status, 200, 'the old secret holds for a day')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await button(page, 'Revoke the key').click()
  await page.getByRole('cell', { name: 'revoked' }).waitFor()
  await look(page, 'keys')
  assert.equal((await asMade.get('/shifts')).status, 401)
})

test('an endpoint is added, tested, fails, recovers; events are acknowledged', async (t) => {
  const app = await start(t)
  const { orgId } = await app.given.org()
  const receiver = await startReceiver(t)
  const page = await signedIn(t, app)
  const at = `${app.url}/console/${orgId}/test`
  await page.goto(`${at}/webhooks`)
  await page.getByText('No endpoint yet').waitFor()
  await look(page, 'webhooks-empty')
  await button(page, 'Add an endpoint').click()
  const address = dialog(page).getByLabel('Address')
  await address.fill('http://169.254.169.254/latest')
  await dialog(page).locator('#webhook-url-fault').waitFor() // what the API says, before anything is sent for good
  await look(page, 'webhooks-fault')
  await address.fill(receiver.url)
  await dialog(page).locator('#webhook-url-fault').waitFor({ state: 'detached' })
  await button(page, 'Add the endpoint').last().click()
  await dialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await look(page, 'webhooks')

  await page.getByRole('link', { name: receiver.url }).click()
  await button(page, 'Send a test event').click()
  await page.getByRole('row', { name: /webhook\.test.*delivered/ }).waitFor()
  await receiver.has(1)
  receiver.answer = (_, response) => response.writeHead(500).end('no room')
  await button(page, 'Send a test event').click()
  const waits = page.getByRole('row', { name: /webhook\.test.*pending/ })
  await waits.getByText(/^500/).waitFor()
  await waits.getByRole('button', { name: /attempts? of webhook.test/ }).click()
  await dialog(page).getByText('no room').first().waitFor()
  await look(page, 'webhook-attempts')
  await page.keyboard.press('Escape')
  receiver.answer = () => 204
  await waits.getByRole('button', { name: /^Replay EV/ }).click()
  await page.getByText('1 event is sent again, at once.').waitFor()
  await waits.waitFor({ state: 'detached' })
  await look(page, 'webhook')

  await button(page, 'Disable').click()
  await dialog(page).getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Nothing is sent while it is disabled').waitFor()
  const scope = { orgId, mode: 'test' as const }
  const { context } = app
  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.ready', [{ title: 'Electrician' }]))
  await context.events.settle(scope)
  const before = receiver.received.length
  await button(page, 'Enable').click()
  await button(page, 'Enable, and send what was held').click()
  await page.getByText('What was held is being sent.').waitFor()
  await receiver.has(before + 1)
  assert.equal(receiver.received.at(-1)!.body.type, 'mandate.ready')
  await button(page, 'Rotate the secret').click()
  await button(page, 'Make a new secret').click()
  await dialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await button(page, 'Archive').click()
  await dialog(page).getByRole('button', { name: 'Archive' }).click()
  await page.getByText('archived', { exact: true }).waitFor()

  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.failed', [{ title: 'Welder' }]))
  await context.events.settle(scope)
  await page.goto(`${at}/events`)
  const event = page.getByRole('row', { name: /mandate\.failed/ })
  await look(page, 'events')
  await event.getByRole('button').click()
  await dialog(page).getByText('"title": "Welder"').waitFor()
  await look(page, 'events-json')
  await button(page, 'Acknowledge, and end its retries').click()
  await event.waitFor({ state: 'detached' })
  await page.getByLabel('Show').selectOption('Acknowledged')
  await event.getByText('by pull').waitFor()
})

test('a call that failed is found in the log, with what differed', async (t) => {
  const app = await start(t)
  const { orgId } = await app.given.org()
  const key = await app.given.key(orgId, { mode: 'test' })
  await app.as(key).get('/shifts')
  await app.as(key).get('/workflows', { headers: { 'x-timestamp': String(Math.floor(app.clock.now() / 1000) - 999) } })
  const page = await signedIn(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/requests`)
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor()
  await page.getByLabel('Show').selectOption('Failed calls')
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor({ state: 'detached' })
  await look(page, 'requests')
  await button(page, 'What differed').click()
  await dialog(page)
    .getByText(/differ by 999 seconds/)
    .waitFor()
  await dialog(page).getByText(/VFN1/).waitFor()
  await look(page, 'requests-differed')
})

test('a person comes in by mail; what their role may not do is not there', async (t) => {
  const app = await start(t)
  const { orgId } = await app.given.org('Metro Staffing')
  await app.given.org('Somebody else')
  const owner = await memberOf(app, orgId, 'owner', 'owner@metro.example')
  const operator = await signedIn(t, app)
  const page = await newPage(t)

  await page.goto(`${app.url}/console`)
  await page.getByLabel('Your mail address').fill(owner.email!)
  await button(page, 'Mail me a link').click()
  await page.getByText('a link is on its way').waitFor()
  await operator.goto(`${app.url}/console/operator/mails?kind=sign_in`)
  await operator.getByRole('link', { name: 'sign in', exact: true }).click()
  const link = await operator.getByRole('link', { name: /#token=/ }).getAttribute('href')
  await page.goto(link!)
  await heading(page, 'Metro Staffing')
  assert.ok(!page.url().includes('token'), 'the link does not stay in the address')
  assert.equal(await page.getByText('Somebody else').count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Organisations' }).count(), 0)

  await nav(page, 'People').click()
  await button(page, 'Add a person').click()
  await dialog(page).getByLabel('Mail address').fill('viewer@metro.example')
  await dialog(page).getByLabel('Role').selectOption('recruiter')
  await look(page, 'members-add')
  await button(page, 'Add').click()
  const role = page.getByLabel('Role of viewer@metro.example')
  await role.selectOption('viewer')
  await until(async () =>
    (await owner.get(`/orgs/${orgId}/members`)).body.data.items.some((one: any) => one.role === 'viewer'),
  )
  await page.getByLabel('Role of owner@metro.example').selectOption('viewer')
  await page.getByRole('alert').waitFor() // the last owner cannot step down
  await look(page, 'members')
  await nav(page, 'Audit').click()
  await page.getByRole('cell', { name: 'owner@metro.example' }).first().waitFor()
  await look(page, 'audit')

  const reader = await signedIn(t, app, 'viewer@metro.example')
  await heading(reader, 'Metro Staffing')
  for (const hidden of ['Keys', 'Audit', 'Organisations', 'Jobs', 'Mails'])
    assert.equal(await reader.getByRole('link', { name: hidden, exact: true }).count(), 0, hidden)
  await nav(reader, 'Webhooks').click()
  await reader.getByText('No endpoint yet').waitFor()
  assert.equal(await button(reader, 'Add an endpoint').count(), 0)
  await nav(reader, 'People').click()
  await reader.getByRole('cell', { name: 'owner@metro.example' }).waitFor()
  assert.equal(await button(reader, 'Add a person').count(), 0)
  await reader.goto(`${app.url}/console/${orgId}/test/keys`)
  await reader.getByRole('alert').waitFor()
  await reader.goto(`${app.url}/console/operator/organisations`)
  await reader.getByRole('navigation').waitFor({ state: 'attached' })
  assert.equal(await reader.getByRole('heading', { name: 'Organisations' }).count(), 0)

  await nav(page, 'People').click()
  await page
    .getByRole('row', { name: /viewer@/ })
    .getByRole('button', { name: 'Remove' })
    .click()
  await dialog(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('row', { name: /viewer@/ }).waitFor({ state: 'detached' })
  await reader.reload()
  await reader.getByRole('heading', { name: /Sign in to the console|No organisation/ }).waitFor()
})

test("students' sessions by status, and the reviewer's mail once more", async (t) => {
  const app = await start(t)
  const { orgId } = await requestReview(app)
  const page = await signedIn(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/verifications`)
  await page.getByRole('link', { name: 'Asha Verma' }).waitFor()
  await look(page, 'verifications')
  await page.getByLabel('Status').selectOption('completed')
  await page.getByText('No session').waitFor()
  await page.getByLabel('Status').selectOption('pending_review')
  await page.getByRole('link', { name: 'Asha Verma' }).click()
  await page.getByText('Ravi Kumar').waitFor()
  await page.getByRole('cell', { name: 'Bricklaying' }).waitFor()
  app.clock.advance(120_000)
  await button(page, "Send the reviewer's mail again").click()
  await page.getByText('The mail is on its way again.').waitFor()
  await look(page, 'verification')
  await page.getByRole('link', { name: 'review request' }).first().click()
  await page.getByRole('heading', { level: 1, name: /Asha Verma/ }).waitFor()
})

test('analytics as pictures: the numbers are those of the campaign, and lead to its candidates', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const page = await signedIn(t, app)
  const at = `${app.url}/console/${run.orgId}/test`
  await page.goto(`${at}/analytics`)
  await page.getByText('Nobody was enrolled in this period').waitFor()
  await look(page, 'analytics-empty')

  const { mandate_id, workflow_id } = await run.mandate({
    channels: ['whatsapp', 'voice'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'voice' }],
  })
  const ten = Array.from({ length: 10 }, (_, index) => player(index + 1, index === 3 ? { language: 'hi' } : {}))
  await run.campaign(mandate_id, ten.slice(0, 4), { name: 'A first try' })
  await pass(app, 10_000)
  app.clock.advance(2 * A_DAY)
  const { campaign_id } = (await run.campaign(mandate_id, ten, { name: 'March intake' })).campaign
  await pass(app, 10_000)

  await page.goto(await signInLink(app)) // a session ends when nobody comes for half a day
  await heading(page, 'Acme Staffing')
  await page.goto(`${at}/analytics`)
  const funnel = page.getByRole('region', { name: 'Funnel' })
  await funnel.getByRole('link', { name: 'Enrolled: 14' }).waitFor()
  const { completed } = (await run.get('/analytics/overview')).body.data.funnel
  await funnel.getByRole('link', { name: `Completed: ${completed}` }).waitFor()
  await look(page, 'analytics')
  await page.getByText('The numbers of each day').click()
  await page.getByRole('row', { name: /2026-03-13/ }).waitFor()
  await page.getByLabel('Workflow').selectOption(workflow_id)
  await page.getByLabel('Mandate').selectOption(mandate_id)
  await page.getByLabel('Campaign').selectOption({ label: 'March intake' })
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  await page.getByLabel('From').fill('2026-03-14')
  await page.getByRole('alert').waitFor() // the API's own words: after the last day
  await page.getByLabel('From').fill('2026-03-13')
  await funnel.getByRole('link', { name: 'Completed: 5' }).click()
  await heading(page, 'Completed')
  const address = new URL(page.url())
  assert.equal(address.searchParams.get('campaign_id'), campaign_id)
  assert.equal(address.searchParams.get('counted'), 'funnel.completed')

  const times: number[] = []
  for (const [link, title] of [
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
    ['Request log', 'Request log'],
    ['People', 'People'],
    ['Analytics', 'Analytics'],
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
  ]) {
    times.push(await timeTo(page, link!, title!))
  }
  t.diagnostic(`route changes: ${times.map((time) => Math.round(time)).join(', ')} ms`)

  await page.goto(`${at}/analytics?campaign_id=${campaign_id}`)
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  assert.equal(await page.getByLabel('Workflow').inputValue(), workflow_id)
})

test('on a phone and in the dark', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate()
  await run.campaign(
    mandate_id,
    [1, 2, 5].map((number) => player(number)),
  )
  await pass(app, 5000)
  await app.given.key(run.orgId, { mode: 'test' })
  const receiver = await startReceiver(t)
  const made = await run.post('/webhooks', { url: receiver.url })
  const page = await signedIn(t, app, null, { ...PHONE, colorScheme: 'dark' })
  await button(page, 'Menu').click()
  await page.getByRole('link', { name: 'Organisations' }).waitFor()
  await shot(page, 'phone-menu', false)
  const pages = [
    'analytics',
    'verifications',
    'keys',
    'webhooks',
    `webhooks/${made.body.data.webhook_id}`,
    'events',
    'requests',
    'members',
    'audit',
  ]
  for (const path of pages) {
    await page.goto(`${app.url}/console/${run.orgId}/test/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await look(page, `phone-${path.replace(/\/WH_.*/, '-one')}`)
  }
  for (const path of ['organisations', 'skills', 'jobs', 'limits', 'mails', 'audit']) {
    await page.goto(`${app.url}/console/operator/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await look(page, `phone-operator-${path}`)
  }
})
