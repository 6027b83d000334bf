import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import {
  checkPage,
  openConsolePage,
  saveScreenshotFromTop,
  waitForPhoneAnimations,
} from '../../../test/browser/console-page.ts'
import { startRecruiterConsole } from '../../../test/browser/recruiter-console.ts'
import { createTestSignInLink, signInMember } from '../../../test/support/console.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }

test('a user creates a workflow, a mandate and a campaign, answers on the simulator phone and exports the result', async (t) => {
  const { app, consoleUrl } = await startRecruiterConsole(t)
  const page = await newPage(t)
  await page.goto(await createTestSignInLink(app))
  await page.getByText('Get started').waitFor()

  // A workflow, with validation errors at the fields.
  await page.getByRole('link', { name: 'Workflows', exact: true }).click()
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor()
  await saveScreenshotFromTop(page, 'a-workflows-empty')
  await page.getByRole('link', { name: 'New workflow' }).click()
  await page.getByRole('heading', { name: 'New workflow' }).waitFor()
  await page.getByRole('button', { name: 'Create workflow' }).click()
  await page.locator('#name-error').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Site hiring')
  await page.getByRole('button', { name: 'Add SMS' }).click()
  await page.getByLabel(/Hindi/).check()
  await page.getByRole('button', { name: 'Add follow-up' }).click()
  await page.getByLabel('Hours without an answer').fill('500')
  await page.getByText('Enter 1 to 168 hours').waitFor() // validated before it is submitted
  await checkPage(page, 'a-workflow-edit')
  await page.getByLabel('Hours without an answer').fill('24')
  await page.getByText('No errors found.').waitFor()
  await page.getByRole('button', { name: 'Create workflow' }).click()
  await page.getByRole('heading', { name: /^Site hiring/ }).waitFor()
  await saveScreenshotFromTop(page, 'a-workflow')
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel(/^Description/).fill('For building sites')
  await page.getByText('No errors found.').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('For building sites').waitFor()

  // A mandate for it.
  await page.getByRole('link', { name: 'New job' }).click()
  await page.getByLabel('Job title').fill('Electrician')
  await page.getByLabel('Company', { exact: true }).fill('Metro Ltd')
  await page.getByRole('combobox', { name: 'Find a location' }).fill('pune')
  await page.getByRole('option', { name: /^Pune/ }).first().click()
  assert.equal(await page.getByLabel('State').inputValue(), 'Maharashtra')
  for (const skill of ['House wiring', 'Earthing installation', 'Distribution board wiring', 'Switchboard fitting']) {
    await page.getByRole('combobox', { name: 'Add skill' }).fill(skill.toLowerCase().slice(0, -1))
    await page.getByRole('option', { name: new RegExp(`^${skill}`) }).click()
  }
  const fourth = page.getByRole('checkbox', { name: 'Verify Switchboard fitting' })
  assert.ok(await fourth.isDisabled(), 'at most three skills are verified')
  await page.getByRole('checkbox', { name: 'Verify House wiring' }).uncheck()
  await page.getByRole('checkbox', { name: 'Verify Distribution board wiring' }).uncheck()
  await page.getByRole('button', { name: 'Add question' }).click()
  await page.getByLabel('Question 1, in English').fill('Do you hold a wireman licence?')
  assert.equal(await page.getByLabel('Field name in the API').inputValue(), 'wireman_licence')
  await page.getByLabel('Field name in the API').fill('no spaces')
  await page.locator('#question-0-key-error').waitFor()
  await page.getByLabel('Field name in the API').fill('licence')
  await page.getByLabel('Disqualifying answer').selectOption('no')
  await page.getByText('fewer than 5 skills').waitFor() // the API's warning, before anything is stored
  await checkPage(page, 'a-mandate-edit')
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByRole('heading', { name: /^Electrician ready/ }).waitFor()
  await page.getByRole('heading', { name: 'Questions for candidates' }).waitFor()
  await page.getByRole('button', { name: 'हिन्दी' }).click()
  await page.locator('.question-list [lang="hi"]').first().waitFor()
  await checkPage(page, 'a-mandate')

  // A campaign from pasted rows, one of which is invalid.
  await page.getByRole('link', { name: 'New campaign' }).click()
  const rows =
    'Full name;Mobile;Ref;City\nAsha Rao;+919990000001;c-1;Pune\nRavi Kumar;12;c-2;Nashik\nMeera;98123 45678;c-3;\nMeera J;+919812345678;c-4;'
  await page.getByLabel('Name (optional)').fill('Pune electricians')
  await page.getByLabel(/^Paste rows/).fill(rows)
  await page.getByRole('button', { name: 'Preview rows' }).click()
  await page.getByText('1 row has errors').waitFor()
  await page.getByText('Mobile: not a phone number; enter +91 and ten digits').waitFor()
  await page.getByText('Same phone number as row 4; this person is enrolled only once').waitFor()
  await page.getByText('2 candidates, 2 credits').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Full name, row 3' }).inputValue(), 'Ravi Kumar')
  await checkPage(page, 'a-campaign-new')
  assert.ok(await page.getByRole('button', { name: 'Start campaign' }).isDisabled())
  await page.getByLabel('Mobile, row 3').fill('+919990000005')
  await page.getByText('All rows are valid; 1 row repeats another row').waitFor()
  await page.getByText('3 candidates, 3 credits').waitFor()
  await page.getByText('+919812345678').first().waitFor() // normalised, as it will be sent
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.getByRole('heading', { name: /^Pune electricians/ }).waitFor()
  await page.getByText('3 candidates enrolled. 1 row repeats another row.').waitFor()
  await page.getByRole('img', { name: /1 completed, 1 declined/ }).waitFor({ timeout: 60_000 })
  await saveScreenshotFromTop(page, 'a-campaign')

  // The user answers on the simulator phone for the candidate who does not answer automatically.
  await page.getByRole('link', { name: 'Simulator phones' }).click()
  await page.getByRole('region', { name: 'Phone of Meera' }).waitFor()
  await page.getByRole('region', { name: 'Phone of Meera' }).getByRole('button', { name: 'Yes' }).click()
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('log').getByText('Do you hold a wireman licence?').waitFor()
  await waitForPhoneAnimations(page)
  await checkPage(page, 'a-phone')
  await page.getByRole('region', { name: 'Phone of Meera' }).getByRole('button', { name: 'No', exact: true }).click()
  await page.getByText('The conversation has ended').waitFor()
  const resultRegion = page.getByRole('region', { name: 'Result' })
  await resultRegion.getByText('Not qualified').waitFor()
  await resultRegion.getByText('knockout').waitFor()
  await saveScreenshotFromTop(page, 'a-phone-ended')
  await page.getByRole('link', { name: 'View delivery status' }).click()
  await page
    .getByText(/WhatsApp · .* · delivered/)
    .first()
    .waitFor()
  await saveScreenshotFromTop(page, 'a-candidate')

  // Results, filtered and exported.
  await page.getByRole('link', { name: 'Results', exact: true }).click()
  await page.getByRole('link', { name: 'Asha Rao' }).waitFor()
  await page.getByLabel('Status').selectOption('completed')
  await page.getByRole('link', { name: 'Ravi Kumar' }).waitFor({ state: 'detached' })
  await saveScreenshotFromTop(page, 'a-results')
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const csv = await readFile(await (await download).path(), 'utf8')
  assert.match(csv, /c-3,Meera,\+919812345678,,completed,,false/)
  assert.doesNotMatch(csv, /Ravi/)
  await page.getByRole('link', { name: 'Meera' }).click()
  await page.getByRole('heading', { name: /^Meera/ }).waitFor()
  await saveScreenshotFromTop(page, 'a-result')

  // A workflow with a mandate cannot be archived.
  await page.goto(consoleUrl('/campaigns'))
  await page.getByRole('link', { name: 'Pune electricians' }).waitFor()
  await saveScreenshotFromTop(page, 'a-campaigns')
  await page.goto(consoleUrl('/workflows'))
  await page.getByRole('link', { name: 'Site hiring' }).click()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Archive workflow' }).click()
  await page.getByRole('dialog').getByText('1 job uses this workflow; archive it first.').waitFor()
})

test('a mandate is edited, a file is enrolled in chunks, and the campaign is paused, resumed and archived', async (t) => {
  const { app, consoleUrl, scope } = await startRecruiterConsole(t)
  const { mandate_id } = await app.fixtures.createMandate(scope, {}, 'playground')
  const page = await openConsolePage(t, app)
  await page.goto(consoleUrl(`/mandates/${mandate_id}`))
  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await page.getByLabel('Job title').fill('Site electrician')
  await page.getByText('More about the job').click()
  await page.getByLabel('Experience from (years)').fill('5')
  await page.getByLabel('to (years)').fill('2')
  await page.getByText('must not be greater than max_years').waitFor()
  await page.getByLabel('to (years)').fill('9')
  await page.getByText('must not be greater than max_years').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save and rewrite questions' }).click()
  await page.getByRole('heading', { name: /^Site electrician ready/ }).waitFor()
  await page.getByText('5 to 9 years').waitFor()
  await page.getByRole('link', { name: 'New campaign' }).click()
  const calls: string[] = []
  page.on('request', (request) => {
    const isDryRun = request.headers()['x-dry-run'] === 'true'
    if (request.method() === 'POST' && !isDryRun) calls.push(new URL(request.url()).pathname.replace(/.*\/test/, ''))
  })
  const lines = Array.from({ length: 130 }, (_, index) => `Person ${index},+9198100${String(10_000 + index)}`)
  const buffer = Buffer.from(['name,phone', ...lines].join('\n'))
  await page.locator('input[type=file]').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
  await page.getByText('All rows are valid').waitFor()
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.getByRole('img', { name: /130 pending/ }).waitFor()
  assert.equal(calls.length, 2)
  assert.equal(calls[0], '/campaigns')
  assert.match(calls[1]!, /^\/campaigns\/CP_\w+\/candidates$/)

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused: no messages are sent').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Archive campaign' }).click()
  await page.getByRole('img', { name: /130 failed, 0 pending/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Pause' }).count(), 0)
  await page.getByRole('cell', { name: 'failed' }).first().waitFor() // the list was reloaded, too
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'Person 31', exact: true }).waitFor()
})

test('objects created through the API are read-only, and a viewer cannot change anything', async (t) => {
  const { app, consoleUrl, orgId, scope } = await startRecruiterConsole(t)
  const mandate = await app.fixtures.createMandate(scope)
  const viewer = await signInMember(app, orgId, 'viewer')
  const page = await openConsolePage(t, app)
  await page.goto(consoleUrl(`/mandates/${mandate.mandate_id}`))
  await page.getByText('This job was created through the API.').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Edit' }).count(), 0)
  await page.goto(consoleUrl(`/workflows/${mandate.body.workflow_id}/edit`))
  await page.getByText('This workflow was created through the API.').waitFor()
  const viewerPage = await openConsolePage(t, app, { email: viewer.email })
  await viewerPage.goto(consoleUrl('/mandates'))
  await viewerPage.getByRole('link', { name: 'Electrician' }).waitFor()
  assert.equal(await viewerPage.getByRole('link', { name: 'New job' }).count(), 0)
  await viewerPage.goto(consoleUrl('/first-campaign'))
  await viewerPage.getByText('You need the recruiter role').waitFor()
  assert.ok(await viewerPage.getByRole('button', { name: 'Create workflow' }).isDisabled())
})

test('every page of a recruiter is accessible on a phone in dark mode, with and without data', async (t) => {
  const { app, consoleUrl, scope, orgId } = await startRecruiterConsole(t)
  const page = await openConsolePage(t, app, { ...PHONE, colorScheme: 'dark' })
  const emptyPages = [
    '/workflows',
    '/mandates',
    '/campaigns',
    '/campaigns/new',
    '/results',
    '/phone',
    '/first-campaign',
  ]
  for (const path of emptyPages) {
    await page.goto(consoleUrl(path))
    await page.getByRole('heading', { level: 1 }).or(page.locator('.empty h2')).first().waitFor()
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    await checkPage(page, `a-dark${path.replaceAll('/', '-')}-empty`)
  }
  const { post, get } = await createPartner(app, 'test', orgId)
  const { mandate_id, body } = await app.fixtures.createMandate(scope, {}, 'playground')
  await until(async () => (await get(`/mandates/${mandate_id}`)).body.data.status === 'ready')
  const created = await post(
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
  assert.equal(created.status, 202)
  const { campaign_id } = created.body.data.campaign
  const candidates = (await get(`/campaigns/${campaign_id}/candidates`)).body.data.items
  const meera = candidates.find(({ name }: { name: string }) => name === 'Meera Joshi')
  const filledPages = [
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
  for (const path of filledPages) {
    await page.goto(consoleUrl(path))
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.locator('.waiting').first().waitFor({ state: 'detached' })
    await checkPage(page, `a-dark${path.replaceAll('/', '-').replace(/[A-Z]{2}_[A-Z0-9]+/, 'one')}`)
  }
  await page.goto(consoleUrl(`/campaigns/new?mandate_id=${mandate_id}`))
  await page.getByRole('button', { name: 'Enter manually' }).click()
  await page.getByLabel('name, row 1').fill('Asha Rao')
  await page.getByLabel('phone, row 1').fill('98')
  await page.getByText('1 row has errors').waitFor()
  const { x, width } = (await page.getByText('phone: not a phone number').boundingBox())!
  assert.ok(x >= 0 && x + width <= PHONE.width, 'the error is visible without scrolling the table')
  await checkPage(page, 'a-dark-campaigns-new')
})
