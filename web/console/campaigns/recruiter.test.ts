import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { grantCredits } from '../../../server/campaigns/credits.ts'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage, type PageOptions } from '../../../test/browser/browser.ts'
import { shot as picture } from '../../../test/browser/screenshots.ts'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf, signInLink } from '../../../test/support/console.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }

async function start(t: TestContext, { credits = 200 } = {}) {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  if (credits > 0)
    await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, credits))
  const at = (path: string) => `${app.url}/console/${orgId}/test${path}`
  /** A page on which the operator, or with a mail address a person, is signed in. */
  async function signedIn(options: PageOptions = {}, email: string | null = null): Promise<Page> {
    const page = await newPage(t, options)
    await page.goto(await signInLink(app, email))
    await page
      .getByRole('navigation', { name: 'Console' })
      .or(page.getByRole('button', { name: 'Menu' }))
      .first()
      .waitFor()
    return page
  }
  return { app, orgId, at, signedIn, scope: { orgId, mode: 'test' as const } }
}

/** From the top: what sticks to the window stands in the middle of a long picture otherwise. */
async function shot(page: Page, name: string) {
  await page.evaluate('scrollTo(0, 0)')
  await picture(page, name)
}

async function assertFits(page: Page) {
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${page.url()} sticks out`)
}

/** Until every bubble has arrived: while they move in, they are pale, and hold what is placed in them. */
async function handsetStill(page: Page) {
  const moving = `document.querySelector('.handset').getAnimations({ subtree: true })`
  await page.evaluate(`Promise.all(${moving}.map(({ finished }) => finished)).then(() => {})`)
}

/** Nothing out of sight makes the page longer than what is on it. */
async function assertNoEmptyTail(page: Page) {
  await handsetStill(page)
  const tail = await page.evaluate(
    `document.documentElement.scrollHeight - Math.max(innerHeight, scrollY + document.querySelector('.frame').getBoundingClientRect().bottom)`,
  )
  assert.ok((tail as number) < 50, `${page.url()} is ${tail} pixels longer than its content`)
}

test('from the admin key to an exported result: workflow, mandate, campaign and phone by hand', async (t) => {
  const { app, at } = await start(t)
  const page = await newPage(t)
  await page.goto(`${app.url}/console`)
  await page.getByText('Sign in as the operator').click()
  await page.getByLabel('Admin key').fill(ADMIN_KEY)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Nothing has happened here yet').waitFor()

  // A workflow, with the API's own words where something is wrong.
  await page.getByRole('link', { name: 'Workflows', exact: true }).click()
  await page.getByRole('heading', { name: 'No workflow yet' }).waitFor()
  await shot(page, 'a-workflows-empty')
  await page.getByRole('link', { name: 'New workflow' }).click()
  await page.getByRole('heading', { name: 'New workflow' }).waitFor()
  await page.getByRole('button', { name: 'Make the workflow' }).click()
  await page.locator('#name-fault').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Site hiring')
  await page.getByRole('button', { name: '+ SMS' }).click()
  await page.getByLabel(/Hindi/).check()
  await page.getByRole('button', { name: '+ Follow-up' }).click()
  await page.getByLabel('After, hours').fill('500')
  await page.getByText('after_hours must be').waitFor() // said before anything is sent in earnest
  await shot(page, 'a-workflow-edit')
  await assertAccessible(page)
  await page.getByLabel('After, hours').fill('24')
  await page.getByText('Looks right.').waitFor()
  await page.getByRole('button', { name: 'Make the workflow' }).click()
  await page.getByRole('heading', { name: /^Site hiring/ }).waitFor()
  await shot(page, 'a-workflow')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel(/^Description/).fill('For building sites')
  await page.getByText('Looks right.').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('For building sites').waitFor()

  // A mandate for it.
  await page.getByRole('link', { name: 'New mandate' }).click()
  await page.getByLabel('Job title').fill('Electrician')
  await page.getByLabel('Company', { exact: true }).fill('Metro Ltd')
  await page.getByRole('combobox', { name: 'Find a place' }).fill('pune')
  await page.getByRole('option', { name: /^Pune/ }).first().click()
  assert.equal(await page.getByLabel('State').inputValue(), 'Maharashtra')
  for (const skill of ['House wiring', 'Earthing installation', 'Distribution board wiring', 'Switchboard fitting']) {
    await page.getByRole('combobox', { name: 'Add a skill' }).fill(skill.toLowerCase().slice(0, -1))
    await page.getByRole('option', { name: new RegExp(`^${skill}`) }).click()
  }
  const fourth = page.getByRole('checkbox', { name: 'Verify Switchboard fitting' })
  assert.ok(await fourth.isDisabled(), 'three are verified at most')
  await page.getByRole('checkbox', { name: 'Verify House wiring' }).uncheck()
  await page.getByRole('checkbox', { name: 'Verify Distribution board wiring' }).uncheck()
  await page.getByRole('button', { name: '+ Question' }).click()
  await page.getByLabel('Question 1, in English').fill('Do you hold a wireman licence?')
  assert.equal(await page.getByLabel('Key of the answer').inputValue(), 'wireman_licence')
  await page.getByLabel('Key of the answer').fill('no spaces')
  await page.locator('#question-0-key-fault').waitFor()
  await page.getByLabel('Key of the answer').fill('licence')
  await page.getByLabel('Not qualified if').selectOption('no')
  await page.getByText('fewer than 5 skills').waitFor() // the API's warning, before anything is kept
  await shot(page, 'a-mandate-edit')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Make the mandate' }).click()
  await page.getByRole('heading', { name: /^Electrician ready/ }).waitFor()
  await page.getByRole('heading', { name: 'What candidates are asked' }).waitFor()
  await page.getByRole('button', { name: 'हिन्दी' }).click()
  await page.locator('.asked [lang="hi"]').first().waitFor()
  await shot(page, 'a-mandate')
  await assertAccessible(page)

  // A campaign out of pasted rows, one of which is wrong.
  await page.getByRole('link', { name: 'New campaign' }).click()
  const rows =
    'Full name;Mobile;Ref;City\nAsha Rao;+919990000001;c-1;Pune\nRavi Kumar;12;c-2;Nashik\nMeera;98123 45678;c-3;\nMeera J;+919812345678;c-4;'
  await page.getByLabel('Name (optional)').fill('Pune electricians')
  await page.getByLabel(/^Paste rows/).fill(rows)
  await page.getByRole('button', { name: 'Read the rows' }).click()
  await page.getByText('1 row to put right').waitFor()
  await page.getByText('Mobile: not a phone number; write +91 and ten digits').waitFor()
  await page.getByText('Same number as row 4: sent once').waitFor()
  await page.getByText('2 candidates, 2 credits').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Full name, row 3' }).inputValue(), 'Ravi Kumar')
  await shot(page, 'a-campaign-new')
  await assertAccessible(page)
  assert.ok(await page.getByRole('button', { name: 'Start the campaign' }).isDisabled())
  await page.getByLabel('Mobile, row 3').fill('+919990000005')
  await page.getByText('Every row is right; 1 row repeats another').waitFor()
  await page.getByText('3 candidates, 3 credits').waitFor()
  await page.getByText('+919812345678').first().waitFor() // as it will be sent
  await page.getByRole('button', { name: 'Start the campaign' }).click()
  await page.getByRole('heading', { name: /^Pune electricians/ }).waitFor()
  await page.getByText('3 candidates enrolled. 1 row repeats another.').waitFor()
  await page.getByRole('img', { name: /1 completed, 1 declined/ }).waitFor({ timeout: 25_000 })
  await shot(page, 'a-campaign')

  // The one who has no part of her own is answered for on the phone.
  await page.getByRole('link', { name: 'Their phones' }).click()
  await page.getByRole('region', { name: 'Phone of Meera' }).waitFor()
  await page.getByRole('region', { name: 'Phone of Meera' }).getByRole('button', { name: 'Yes' }).click()
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('log').getByText('Do you hold a wireman licence?').waitFor()
  await handsetStill(page)
  await shot(page, 'a-phone')
  await assertAccessible(page)
  await page.getByRole('region', { name: 'Phone of Meera' }).getByRole('button', { name: 'No', exact: true }).click()
  await page.getByText('The conversation is over').waitFor()
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('Not qualified').waitFor()
  await result.getByText('knockout').waitFor()
  await shot(page, 'a-phone-over')
  await page.getByRole('link', { name: 'Every message with its state' }).click()
  await page
    .getByText(/WhatsApp · .* · delivered/)
    .first()
    .waitFor()
  await shot(page, 'a-candidate')

  // Results, filtered and taken along.
  await page.getByRole('link', { name: 'Results', exact: true }).click()
  await page.getByRole('link', { name: 'Asha Rao' }).waitFor()
  await page.getByLabel('Status').selectOption('completed')
  await page.getByRole('link', { name: 'Ravi Kumar' }).waitFor({ state: 'detached' })
  await shot(page, 'a-results')
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export as CSV' }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  assert.match(csv, /c-3,Meera,\+919812345678,,completed,,false/)
  assert.doesNotMatch(csv, /Ravi/)
  await page.getByRole('link', { name: 'Meera' }).click()
  await page.getByRole('heading', { name: /^Meera/ }).waitFor()
  await shot(page, 'a-result')

  // The workflow stays while its mandate needs it.
  await page.goto(at('/campaigns'))
  await page.getByRole('link', { name: 'Pune electricians' }).waitFor()
  await shot(page, 'a-campaigns')
  await page.goto(at('/workflows'))
  await page.getByRole('link', { name: 'Site hiring' }).click()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Archive the workflow' }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
})

test('the guided first campaign, to the end, by an operator who has to grant the credits first', async (t) => {
  const { at, signedIn } = await start(t, { credits: 0 })
  const page = await signedIn()
  await page.goto(at('/first-campaign'))
  await page.getByRole('heading', { name: 'Your first campaign' }).waitFor()
  await shot(page, 'a-first-1')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Make the workflow' }).click()
  await page.getByRole('button', { name: 'Describe the job' }).click()
  await page.getByLabel(/^And you/).fill('Tara')
  await shot(page, 'a-first-3')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Contact all eleven' }).click()
  const grant = page.getByRole('alert').getByRole('button', { name: 'Grant 100 test credits' })
  await grant.waitFor()
  const { y, height } = (await grant.boundingBox())!
  assert.ok(y > 0 && y + height <= page.viewportSize()!.height, 'what is missing is said in view')
  await grant.click()
  await page.getByText('100 test credits were granted').waitFor()
  await page.getByRole('button', { name: 'Contact all eleven' }).click()
  await page.getByRole('region', { name: 'Phone of Tara' }).getByRole('button', { name: 'Yes' }).waitFor()
  await page.getByText('All ten have reached their end.').waitFor({ timeout: 40_000 })
  const row = (name: string) => page.getByRole('row').filter({ hasText: name }).innerText()
  assert.match(await row('Asha Rao'), /completed\s+yes\s+interested/)
  assert.match(await row('Imran Khan'), /completed\s+no/)
  assert.match(await row('Meena Das'), /declined/)
  assert.match(await row('Gurpreet Gill'), /failed could not be reached/)
  await shot(page, 'a-first-4')
  await assertAccessible(page)
  await page.reload() // goes on where it was left
  await page.getByText('All ten have reached their end.').waitFor()
  await page.setViewportSize({ width: 360, height: 780 })
  const asha = page.getByRole('row').filter({ hasText: 'Asha Rao' })
  for (const name of ['Qualified', 'This job']) assert.ok(await asha.locator(`[data-name="${name}"]`).isVisible(), name)
  await shot(page, 'a-first-4-phone')
  await assertFits(page)
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.getByRole('link', { name: 'All eleven phones' }).click()
  await page.getByRole('region', { name: 'Phone of Tara' }).waitFor() // the one that waits for a person
  await page.getByRole('link', { name: /Asha Rao/ }).click()
  await page.getByRole('region', { name: 'Phone of Asha Rao' }).getByText('The conversation is over').waitFor()
  await assertNoEmptyTail(page)
})

test('a mandate is edited, a file goes in by chunks; the campaign is paused, resumed and archived', async (t) => {
  const { app, at, signedIn, scope } = await start(t)
  const { mandate_id } = await app.given.mandate(scope, {}, 'playground')
  const page = await signedIn()
  await page.goto(at(`/mandates/${mandate_id}`))
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Job title').fill('Site electrician')
  await page.getByText('More about the job').click()
  await page.getByLabel('Experience from, years').fill('5')
  await page.getByLabel('to, years').fill('2')
  await page.getByText('must not be more than max_years').waitFor()
  await page.getByLabel('to, years').fill('9')
  await page.getByText('must not be more than max_years').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save, and write the questions anew' }).click()
  await page.getByRole('heading', { name: /^Site electrician ready/ }).waitFor()
  await page.getByText('5 to 9 years').waitFor()
  await page.getByRole('link', { name: 'New campaign' }).click()
  const calls: string[] = []
  page.on('request', (request) => {
    const dry = request.headers()['x-dry-run'] === 'true'
    if (request.method() === 'POST' && !dry) calls.push(new URL(request.url()).pathname.replace(/.*\/test/, ''))
  })
  const lines = Array.from({ length: 130 }, (_, index) => `Person ${index},+9198100${String(10_000 + index)}`)
  const buffer = Buffer.from(['name,phone', ...lines].join('\n'))
  await page.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
  await page.getByText('Every row is right').waitFor()
  await page.getByRole('button', { name: 'Start the campaign' }).click()
  await page.getByRole('img', { name: /130 pending/ }).waitFor()
  assert.equal(calls.length, 2)
  assert.equal(calls[0], '/campaigns')
  assert.match(calls[1]!, /^\/campaigns\/CP_\w+\/candidates$/)

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused: nobody is approached').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Archive the campaign' }).click()
  await page.getByRole('img', { name: /130 failed, 0 pending/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0)
  await page.getByRole('cell', { name: 'failed' }).first().waitFor() // the list has been read again, too
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'Person 31', exact: true }).waitFor()
})

test('what the API made is read only here, and a viewer changes nothing', async (t) => {
  const { app, at, orgId, signedIn, scope } = await start(t)
  const mandate = await app.given.mandate(scope)
  const viewer = await memberOf(app, orgId, 'viewer')
  const page = await signedIn()
  await page.goto(at(`/mandates/${mandate.mandate_id}`))
  await page.getByText('This mandate was made through the API.').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Edit' }).count(), 0)
  await page.goto(at(`/workflows/${mandate.body.workflow_id}/edit`))
  await page.getByText('This workflow was made through the API.').waitFor()
  const reader = await signedIn({}, viewer.email)
  await reader.goto(at('/mandates'))
  await reader.getByRole('link', { name: 'Electrician' }).waitFor()
  assert.equal(await reader.getByRole('link', { name: 'New mandate' }).count(), 0)
  await reader.goto(at('/first-campaign'))
  await reader.getByText('you need the role recruiter').waitFor()
  assert.ok(await reader.getByRole('button', { name: 'Make the workflow' }).isDisabled())
})

test('every page of a recruiter fits a phone, in the dark, with and without anything in it', async (t) => {
  const { app, at, signedIn, scope, orgId } = await start(t)
  const page = await signedIn({ ...PHONE, colorScheme: 'dark' })
  const empty = ['/workflows', '/mandates', '/campaigns', '/campaigns/new', '/results', '/phone', '/first-campaign']
  for (const path of empty) {
    await page.goto(at(path))
    await page.getByRole('heading', { level: 1 }).or(page.locator('.empty h2')).first().waitFor()
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    await shot(page, `a-dark${path.replaceAll('/', '-')}-empty`)
    await assertFits(page)
    await assertAccessible(page)
  }
  const operator = await app.given.key(orgId, { mode: 'test' })
  const { mandate_id, body } = await app.given.mandate(scope, {}, 'playground')
  const { post, get } = app.as(operator)
  const ready = async () => (await get(`/mandates/${mandate_id}`)).body.data.status === 'ready'
  while (!(await ready())) await new Promise((wake) => setTimeout(wake, 100))
  const made = await post(
    '/campaigns',
    {
      mandate_id,
      name: 'Night shift',
      candidates: [
        { external_candidate_id: 'p-1', name: 'Asha Rao', phone: '+919990000001' },
        { external_candidate_id: 'p-2', name: 'Meera Joshi', phone: '+919812345678' },
      ],
    },
    { idempotencyKey: true },
  )
  assert.equal(made.status, 202)
  const { campaign_id } = made.body.data.campaign
  const people = (await get(`/campaigns/${campaign_id}/candidates`)).body.data.items
  const meera = people.find(({ name }: { name: string }) => name === 'Meera Joshi')
  const filled = [
    '/workflows',
    '/workflows/new',
    `/workflows/${body.workflow_id}`,
    '/mandates',
    `/mandates/${mandate_id}`,
    `/mandates/${mandate_id}/edit`,
    '/campaigns',
    `/campaigns/${campaign_id}`,
    `/candidates/${meera.candidate_id}`,
    '/results',
    `/results/${meera.result_id}`,
    '/phone',
    `/phone/${meera.candidate_id}`,
  ]
  for (const path of filled) {
    await page.goto(at(path))
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    await shot(page, `a-dark${path.replaceAll('/', '-').replace(/[A-Z]{2}_[A-Z0-9]+/, 'one')}`)
    await assertFits(page)
    await assertAccessible(page)
  }
  await page.goto(at(`/campaigns/new?mandate_id=${mandate_id}`))
  await page.getByRole('button', { name: 'Type them instead' }).click()
  await page.getByLabel('name, row 1').fill('Asha Rao')
  await page.getByLabel('phone, row 1').fill('98')
  await page.getByText('1 row to put right').waitFor()
  const { x, width } = (await page.getByText('phone: not a phone number').boundingBox())!
  assert.ok(x >= 0 && x + width <= PHONE.width, 'what is wrong is read without moving the table')
  await shot(page, 'a-dark-campaigns-new')
  await assertFits(page)
  await assertAccessible(page)
})
